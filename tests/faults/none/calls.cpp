#include "tests/faults/calls.h"

namespace texton::test {

void watch_cuda_calls(bool) {}

}  // namespace texton::test
