// Losses, penalties, rules and checks as Python sees them.
#pragma once
#include "bindings/arrays.hpp"
#include "core/losses/all.hpp"
#include "core/penalties/all.hpp"
#include <string>

namespace southwell {

bool all_finite(const float* values, Index n);
bool all_finite(const double* values, Index n);
void def_parts(nanobind::module_& m);

} // namespace southwell
