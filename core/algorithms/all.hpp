// The list of algorithms.
#pragma once
#include "core/algorithms/accelerated.hpp"
#include "core/algorithms/coordinate_descent.hpp"
