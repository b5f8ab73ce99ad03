#pragma once
#include <cstddef>

#include <texton/symbol.h>

namespace texton::test {

inline constexpr std::size_t kSymbolBytes = 8192;

struct SymbolBytes {
    unsigned char bytes[kSymbolBytes];
};

/// Variable 0 or 1 of the device's program: on CUDA 0 is __device__ and 1 is __constant__.
[[nodiscard]] Symbol<SymbolBytes> symbol_of(const Device& device, int which);

/// Called once by the CUDA source, where there is one, with the host's names of its variables.
bool use_cuda_symbols(const SymbolBytes& first, const SymbolBytes& second);

}  // namespace texton::test
