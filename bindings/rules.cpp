#include "core/rules/all.hpp"
