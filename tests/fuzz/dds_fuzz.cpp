// DDS files. The input is a file. Accepted images of a few MiB are read, written and read again.
#include "tests/fuzz/container.h"

using namespace texton;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".dds"), again("-again.dds");
    if (size < 36 || std::memcmp(data, "DDS ", 4) != 0) return 0;
    const auto& path = file.with({data, size});
    // The header has unused bytes from 32 on, which select what is tested.
    const auto color = static_cast<ImageColor>(data[32] % 3);
    if (const auto image = fuzz::accepted([&] { return open_image(path, {.color = color}); })) {
        const ArrayInfo& info = image->info();
        fuzz::require(packed_bytes(info) <= size / 3 * 4 + 4, "the file contains all texels");  // RGB becomes RGBA
        const bool writable = info.format != Format::r8_srgb && info.format != Format::rg8_srgb;
        fuzz::check_round_trip(*image, again, writable);
    }
    if (data[33] != 0)
        fuzz::check_conversion(path, static_cast<ArrayKind>(data[33] % 7),
                               formats()[data[34] % formats().size()].format);
    return 0;
}
