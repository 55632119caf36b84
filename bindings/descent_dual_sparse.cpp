#include "bindings/dual_descent.hpp"

template std::unique_ptr<southwell::Algorithm>
southwell::dual_descent(const Framed<SparseFibers, Axis::rows>&, const DescentSpec&);
