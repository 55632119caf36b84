#include "bindings/primal_descent.hpp"

template std::unique_ptr<southwell::Algorithm>
southwell::primal_descent(const Framed<SparseFibers, Axis::columns>&, const DescentSpec&);
