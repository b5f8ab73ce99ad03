#include <texton/array_info.h>

#include <iostream>

void array_info_example() {
    texton::ArrayInfo info{.extent = {256, 128}, .kind = texton::ArrayKind::layered_2d, .layers = 3};
    info.levels = texton::full_levels(info);
    std::cout << name(info.kind) << ": " << info.levels << " levels, level 3 has "
              << to_string(texton::level_extent(info, 3)) << " texels and " << texton::slice_count(info, 3)
              << " slices, all have " << texton::packed_bytes(info) << " bytes\n";
}

// Prints:
// layered_2d: 9 levels, level 3 has 32 x 16 texels and 3 slices, all have 524292 bytes
