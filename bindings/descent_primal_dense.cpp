#include "bindings/primal_descent.hpp"

template std::unique_ptr<southwell::Algorithm>
southwell::primal_descent(const Framed<DenseFibers, Axis::columns>&, const DescentSpec&);
