// Device variables for the tests of symbols.
#include "tests/support/symbols.h"

namespace texton::test {
namespace {

__device__ SymbolBytes device_variable;
__constant__ SymbolBytes constant_variable;

const bool used = use_cuda_symbols(device_variable, constant_variable);

}  // namespace
}  // namespace texton::test
