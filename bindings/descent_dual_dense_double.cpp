#include "bindings/dual_descent.hpp"

template std::unique_ptr<southwell::Algorithm>
southwell::dual_descent(const Framed<DenseFibers<double>, Axis::rows>&, const DescentSpec&);
