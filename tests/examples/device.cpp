#include <texton/device.h>

#include <iostream>

void device_example() {
    const texton::DeviceLimits& limits = texton::Device::cpu().limits();  // those of an H200
    std::cout << "rows start at multiples of " << limits.pitch_alignment << " bytes, 2D textures have at most "
              << limits.texture_2d[0] << " x " << limits.texture_2d[1] << " texels\n";
    const texton::Device best = texton::Device::best();  // the first GPU, or else the CPU device
    const bool has_gpu = texton::Device::why_no_cuda().empty();
    std::cout << (has_gpu == (best.kind() == texton::DeviceKind::cuda) ? "a GPU is used if there is one\n" : "");
    std::cout << (best.memory().free <= best.memory().total ? "memory is free\n" : "");
}

// Prints:
// rows start at multiples of 512 bytes, 2D textures have at most 131072 x 65536 texels
// a GPU is used if there is one
// memory is free
