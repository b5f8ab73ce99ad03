#include <texton/view.h>

#include <array>
#include <iostream>

#include <texton/fill.h>

void view_example() {
    std::array<std::uint8_t, 8 * 4> gray{};  // 8 x 4 texels of your own
    const texton::View image = texton::host_view(gray.data(), texton::Format::r8_unorm, {8, 4});
    const texton::View part = image.region({.offset = {2, 1}, .extent = {4, 2}});
    texton::fill(part, 255);  // writes to the array `gray`
    std::cout << to_string(part.extent()) << " of " << to_string(image.extent()) << " in " << name(part.kind())
              << " memory, " << part.pitch() << " bytes from row to row\n";
    for (std::size_t x = 0; x < 8; ++x) std::cout << int{gray[8 + x]} << (x < 7 ? " " : "\n");
}

// Prints:
// 4 x 2 of 8 x 4 in host memory, 8 bytes from row to row
// 0 0 255 255 255 255 0 0
