#include <texton/symbol.h>

#include <array>
#include <iostream>

#include <texton/copy.h>

// In code that nvcc compiles, `__constant__ std::array<float, 3> weights;` is the symbol of CUDA devices.
static std::array<float, 3> weights{0.25f, 0.5f, 0.25f};

void symbol_example() {
    const texton::Device device = texton::Device::cpu();
    const texton::CpuSymbol registered(weights);
    const texton::Symbol symbol(device, weights);
    const float middle = 1;
    texton::copy(symbol.view(sizeof(float), sizeof(float)), texton::host_view(std::span(&middle, 1)));
    std::cout << symbol.bytes() << " bytes: " << weights[0] << ' ' << weights[1] << ' ' << weights[2] << '\n';
}

// Prints:
// 12 bytes: 0.25 1 0.25
