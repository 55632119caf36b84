#include "core/design/kernel_loops.hpp"
