// DDS files. The input is a file. Accepted images of a few MiB are read, written and read again.
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "tests/fuzz/fuzz.h"

using namespace texton;

namespace {

constexpr std::size_t kLargest = std::size_t{4} << 20;  // bytes of texels

std::vector<std::vector<std::byte>> levels_of(const ImageFile& image) {
    std::vector<std::vector<std::byte>> levels;
    if (plane_count(image.info().format) > 1) {
        for (int plane = 0; plane < 2; ++plane) levels.push_back(levels_of(image.plane(plane)).front());
        return levels;
    }
    for (int level = 0; level < image.info().levels; ++level) {
        Extent extent = level_extent(image.info(), level);
        extent.depth = slice_count(image.info(), level);
        levels.emplace_back(packed_bytes(image.info().format, extent));
        image.read({.level = level}, levels.back());
        (void)image.access(level);
    }
    return levels;
}

// Reads the image as the file says, writes it and reads it again.
void check_round_trip(const std::filesystem::path& path, std::size_t size, ImageColor color) {
    static const fuzz::ScratchFile again("-again.dds");
    const auto image = fuzz::accepted([&] { return open_image(path, {.color = color}); });
    if (!image) return;
    const ArrayInfo& info = image->info();
    fuzz::require(packed_bytes(info) <= size * 4, "the file contains all texels");  // alpha of 8 bits becomes RGBA
    if (packed_bytes(info) > kLargest) return;
    const auto levels = levels_of(*image);
    const bool written = fuzz::accepted([&] { return save(again.path(), *image), true; }).value_or(false);
    const bool writable = info.format != Format::r8_srgb && info.format != Format::rg8_srgb;
    fuzz::require(written == writable, "DDS holds all formats except two");
    if (!written) return;
    const ImageFile read = open_image(again.path());
    fuzz::require(read.info() == info, "a written image has the same description");
    fuzz::require(levels_of(read) == levels, "a written image has the same texels");
}

void check_conversion(const std::filesystem::path& path, const ImageOptions& options) {
    const auto image = fuzz::accepted([&] { return open_image(path, options); });
    if (image && packed_bytes(image->info()) <= kLargest) (void)fuzz::accepted([&] { return levels_of(*image); });
}

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
    static const fuzz::ScratchFile file(".dds");
    if (size < 36 || std::memcmp(data, "DDS ", 4) != 0) return 0;
    const auto& path = file.with({data, size});
    // The header has 44 unused bytes from 32 on, which select what is tested.
    check_round_trip(path, size, static_cast<ImageColor>(data[32] % 3));
    check_conversion(path, options_of(fuzz::Bytes(data, size).subspan(33).first(std::min<std::size_t>(size - 33, 43))));
    return 0;
}
