// libFuzzer harness of the check of compressed sparse matrices (core/support/sparse_structure.hpp).
//
// The bytes become indptr and indices in blocks of exactly their size, so that the address sanitizer sees
// every read beyond them. Two oracles: a slow check that looks at every number, and a walk through the core's
// own fibers over whatever was declared sound.
#include "core/support/sparse_structure.hpp"
#include "core/design/stored.hpp"
#include <cstdlib>
#include <fuzzer/FuzzedDataProvider.h>
#include <iostream>
#include <vector>

namespace {

using namespace southwell;

enum class Verdict { sound, unsorted, broken };

template <class Position>
Verdict obvious(const std::vector<Position>& indices, const std::vector<Position>& indptr, Index length) {
  if (indptr.empty() || indptr.front() != 0) return Verdict::broken;
  for (std::size_t k = 1; k < indptr.size(); ++k)
    if (indptr[k] < indptr[k - 1]) return Verdict::broken;
  if (Index(indptr.back()) > Index(indices.size())) return Verdict::broken;
  Verdict verdict = Verdict::sound;
  for (std::size_t k = 0; k + 1 < indptr.size(); ++k) {
    Index last = -1;
    for (Position e = indptr[k]; e < indptr[k + 1]; ++e) {
      const Index index = indices.at(std::size_t(e));
      if (index < 0 || index >= length) return Verdict::broken;
      if (index <= last) verdict = Verdict::unsorted;
      last = index;
    }
  }
  return verdict;
}

// Numbers near the truth, with rare outliers: what is sound but for one place is what a check could miss.
template <class Position> Position number(FuzzedDataProvider& bytes, Index near) {
  switch (bytes.ConsumeIntegralInRange(0, 7)) {
  case 0:
    return bytes.ConsumeIntegral<Position>();
  case 1:
    return Position(near + 1);
  case 2:
    return Position(near - 1);
  default:
    return Position(near);
  }
}

template <class Position> void check(FuzzedDataProvider& bytes) {
  const Index length = bytes.ConsumeBool() ? bytes.ConsumeIntegralInRange<Index>(0, 40)
                                           : bytes.ConsumeIntegralInRange<Index>(0, Index{1} << 62);
  const Index fibers = bytes.ConsumeIntegralInRange<Index>(-1, 12);
  std::vector<Position> indptr, indices;
  Index end = 0;
  for (Index k = 0; k <= fibers; ++k) {
    indptr.push_back(number<Position>(bytes, end));
    const Index size = bytes.ConsumeIntegralInRange<Index>(0, 5);
    Index at = bytes.ConsumeIntegralInRange<Index>(0, 8);
    for (Index e = 0; k < fibers && e < size; ++e, at += bytes.ConsumeIntegralInRange<Index>(1, 6))
      indices.push_back(number<Position>(bytes, at));
    end = Index(indices.size());
  }
  const Index spare = bytes.ConsumeIntegralInRange<Index>(0, 2);
  for (Index e = 0; e < spare; ++e) indices.push_back(bytes.ConsumeIntegral<Position>());
  indices.shrink_to_fit();
  indptr.shrink_to_fit();

  const std::string said =
      sparse_problem(indices.data(), Index(indices.size()), indptr.data(), Index(indptr.size()), length);
  const Verdict verdict = said.empty()         ? Verdict::sound
                          : said == "unsorted" ? Verdict::unsorted
                                               : Verdict::broken;
  if (verdict != obvious(indices, indptr, length)) {
    std::cerr << "the check said '" << said << "', which is not so\n";
    std::abort();
  }
  if (verdict == Verdict::broken || length > 4096) return;
  const std::vector<float> values(indices.size(), 1.0F);
  const SparseFibers matrix(values.data(), indices.data(), indptr.data(), Index(indptr.size()) - 1, length);
  std::vector<Real> vector(std::size_t(length), 1.0);
  Real total = 0;
  for (Index k = 0; k < matrix.count(); ++k) {
    total += matrix[k].dot(vector);
    matrix[k].add_to(vector, 0.0);
  }
  if (total != Real(indptr.back())) {
    std::cerr << "a walk met " << total << " entries of " << indptr.back() << "\n";
    std::abort();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  bytes.ConsumeBool() ? check<std::int32_t>(bytes) : check<std::int64_t>(bytes);
  return 0;
}
