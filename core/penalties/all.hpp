// The lists of penalties: of numbers, and of norms of blocks. A new norm is a file in norms/ and two lines
// here.
#pragma once
#include "core/penalties/elastic_net.hpp"
#include "core/penalties/norms/euclidean.hpp"
#include "core/penalties/norms/maximum.hpp"
#include "core/support/parts.hpp"

namespace southwell {

using AnyNorm = std::variant<Euclidean, Maximum>;

} // namespace southwell
