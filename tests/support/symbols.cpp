#include "tests/support/symbols.h"

#include <array>
#include <stdexcept>

namespace texton::test {
namespace {

std::array<const SymbolBytes*, 2> cuda_symbols{};

}  // namespace

bool use_cuda_symbols(const SymbolBytes& first, const SymbolBytes& second) {
    cuda_symbols = {&first, &second};
    return true;
}

Symbol<SymbolBytes> symbol_of(const Device& device, int which) {
    const auto index = static_cast<std::size_t>(which);
    if (device.kind() == DeviceKind::cuda) {
        if (cuda_symbols[index] == nullptr) throw std::logic_error("the tests were built without device_symbols.cu");
        return {device, *cuda_symbols[index]};
    }
    static std::array<SymbolBytes, 2> variables{};
    static const CpuSymbol first(variables[0]);
    static const CpuSymbol second(variables[1]);
    return {device, variables[index]};
}

}  // namespace texton::test
