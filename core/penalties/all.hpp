// The list of penalties. A new penalty is a file beside this one and a line here.
#pragma once
#include "core/penalties/elastic_net.hpp"
