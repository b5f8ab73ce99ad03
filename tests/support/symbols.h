#pragma once
#include <cstddef>

#include <texton/symbol.h>

namespace texton::test {

inline constexpr std::size_t kSymbolBytes = 8192;

struct SymbolBytes {
    unsigned char bytes[kSymbolBytes];
};

/// Returns device variable 0 or 1. On CUDA 0 is __device__ memory and 1 is __constant__ memory.
[[nodiscard]] Symbol<SymbolBytes> symbol_of(const Device& device, int which);

/// Registers the host symbols of the CUDA variables. device_symbols.cu calls it once, if it is built.
bool use_cuda_symbols(const SymbolBytes& first, const SymbolBytes& second);

}  // namespace texton::test
