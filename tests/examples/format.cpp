#include <texton/format.h>

#include <iostream>

void format_example() {
    for (const auto format : {texton::Format::rgba8_srgb, texton::Format::rgb10a2_unorm, texton::Format::bc7_unorm}) {
        const texton::FormatInfo& facts = texton::info(format);
        std::cout << facts.name << ": " << int{facts.channels} << " channels, " << int{facts.bytes} << " bytes for "
                  << texton::block_side(format) << " x " << texton::block_side(format) << " texels\n";
    }
    std::cout << texton::packed_bytes(texton::Format::bc7_unorm, {30, 30}) << " bytes for 30 x 30 texels of bc7_unorm\n"
              << name(texton::with_channels(texton::Format::rgba16_float, 1)) << '\n'
              << texton::format_named("rgb8_unorm").has_value() << '\n';  // CUDA has no arrays with 3 channels
}

// Prints:
// rgba8_srgb: 4 channels, 4 bytes for 1 x 1 texels
// rgb10a2_unorm: 4 channels, 4 bytes for 1 x 1 texels
// bc7_unorm: 4 channels, 16 bytes for 4 x 4 texels
// 1024 bytes for 30 x 30 texels of bc7_unorm
// r16_float
// 0
