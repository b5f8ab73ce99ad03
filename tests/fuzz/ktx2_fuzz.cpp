// KTX2 files. The input is a file. Accepted images of a few MiB are read, written and read again.
#include "tests/fuzz/container.h"
#include "tests/support/zstd.h"

using namespace texton;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".ktx2"), again("-again.ktx2");
    if (size < 20 || std::memcmp(data, "\xabKTX 20\xbb\r\n\x1a\n", 12) != 0) return 0;
    const auto& path = file.with({data, size});
    // Readers on little-endian machines do not need the bytes from 16 to 19, which select what is tested.
    const auto color = static_cast<ImageColor>(data[16] % 3);
    const SaveOptions options{.compression = data[16] / 3 % 2 == 0 ? "" : test::zstd_if_built()};
    if (const auto image = fuzz::accepted([&] { return open_image(path, {.color = color}); })) {
        // Levels can share bytes, a byte becomes up to 32 KiB, and RGB becomes RGBA.
        fuzz::require(packed_bytes(image->info()) / 32768 / 3 <= size, "the file can contain all texels");
        fuzz::check_round_trip(*image, again, true, options);
    }
    if (data[17] != 0)
        fuzz::check_conversion(path, {.kind = static_cast<ArrayKind>(data[17] % 7),
                                      .format = formats()[data[18] % formats().size()].format,
                                      .cube = CubeLayout::vertical_strip});
    return 0;
}
