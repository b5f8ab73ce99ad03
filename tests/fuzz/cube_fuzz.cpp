// Color lookup tables (.cube). The input is the text of a file.
#include <texton/cube_file.h>

#include "tests/fuzz/fuzz.h"

using namespace texton;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".cube");
    const auto lut = fuzz::accepted([&] { return parse_cube(fuzz::text_of({data, size}), "input"); });
    if (!lut) return 0;
    const std::size_t axis = lut->size;
    fuzz::require(lut->entries.size() == 3 * (lut->dimensions == 1 ? axis : axis * axis * axis),
                  "the number of entries matches the size");
    fuzz::require(lut->entries.size() <= size, "each entry is in the text");
    write_cube_file(file.path(), *lut);
    fuzz::require(read_cube_file(file.path()) == *lut, "a written table is read again");
    if (axis > 16) return 0;
    for (const Format format : {Format::rgba32_float, Format::rgba16_unorm, Format::rgba16_float})
        (void)cube_array(Device::cpu(), *lut, format);
    return 0;
}
