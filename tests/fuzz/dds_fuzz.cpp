// DDS files. The input is a file. Accepted images of a few MiB are read, written and read again.
#include "tests/fuzz/container.h"

using namespace texton;

namespace {

// Returns the options that the unused bytes of a header select.
ImageOptions options_of(fuzz::Bytes unused) {
    fuzz::Numbers numbers(unused);
    ImageOptions options;
    const std::size_t kind = numbers.take<std::uint8_t>();
    if (kind != 0) options.kind = static_cast<ArrayKind>(kind % 7);
    options.format = numbers.format();
    options.cube = CubeLayout::vertical_strip;
    if (numbers.flag()) options.bc = BlockDecoding::exact;
    if (numbers.flag()) options.layer = numbers.take<std::uint8_t>();
    if (numbers.flag()) options.face = numbers.take<std::int8_t>();
    return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".dds"), again("-again.dds");
    if (size < 36 || std::memcmp(data, "DDS ", 4) != 0) return 0;
    const auto& path = file.with({data, size});
    // The header has 44 unused bytes from 32 on, which select what is tested.
    const auto color = static_cast<ImageColor>(data[32] % 3);
    if (const auto image = fuzz::accepted([&] { return open_image(path, {.color = color}); })) {
        const ArrayInfo& info = image->info();
        fuzz::require(packed_bytes(info) <= size * 4, "the file contains all texels");  // alpha of 8 bits becomes RGBA
        const bool writable = info.format != Format::r8_srgb && info.format != Format::rg8_srgb;
        fuzz::check_round_trip(*image, again, writable);
    }
    fuzz::check_conversion(path,
                           options_of(fuzz::Bytes(data, size).subspan(33).first(std::min<std::size_t>(size - 33, 43))));
    return 0;
}
