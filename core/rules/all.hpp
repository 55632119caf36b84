// The list of rules, by the name Python uses.
#pragma once
#include "core/rules/cyclic.hpp"
#include "core/rules/shuffled.hpp"
#include "core/rules/uniform.hpp"
#include <memory>
#include <stdexcept>
#include <string>

namespace southwell {

inline std::unique_ptr<Rule> make_rule(std::string_view name, Index n, std::uint64_t seed) {
  if (name == "cyclic") return std::make_unique<Cyclic>(n, Random(seed));
  if (name == "shuffled") return std::make_unique<Shuffled>(n, Random(seed));
  if (name == "uniform") return std::make_unique<Uniform>(n, Random(seed));
  throw std::invalid_argument("unknown rule '" + std::string(name) + "'");
}

} // namespace southwell
