#include "core/sample_losses.hpp"
