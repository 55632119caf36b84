#pragma once
#include <nanobind/nanobind.h>

namespace southwell {

void def_files(nanobind::module_& m);

} // namespace southwell
