// Numbers (numbers.hpp) on samples in parts.
#pragma once
#include "core/newton/model_by_questions.hpp"
#include "core/newton/numbers.hpp"
#include "core/problem_in_parts.hpp"

namespace southwell {

struct InParts {
  using Set = WorkingSet<ProblemInParts>;
  using Quadratic = ModelByQuestions;
  struct Products { // the parts have the columns
    const FeatureNames& names;
    Products(const ProblemInParts&, const Set& set) : names(set.columns()) {}
  };
  struct Source : SamplesInParts {
    Source(const ProblemInParts& problem, const Products& products, CVec, Real softness, const Policy& policy)
        : SamplesInParts(problem.in_memory(policy, softness, &products.names)) {}
  };
};

using NumbersInParts = NumbersOn<InParts>;

} // namespace southwell
