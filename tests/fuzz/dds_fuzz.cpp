// DDS files. The input is a file. Accepted images of a few MiB are read, written and read again.
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "tests/fuzz/fuzz.h"

using namespace texton;

namespace {

constexpr std::size_t kLargest = std::size_t{4} << 20;  // bytes of texels

std::vector<std::vector<std::byte>> levels_of(const ImageFile& image) {
    std::vector<std::vector<std::byte>> levels;
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
    fuzz::require(packed_bytes(info) <= size / 3 * 4 + 4, "the file contains all texels");  // RGB becomes RGBA
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

void check_conversion(const std::filesystem::path& path, ArrayKind kind, Format format) {
    const auto image = fuzz::accepted(
        [&] { return open_image(path, {.kind = kind, .format = format, .cube = CubeLayout::vertical_strip}); });
    if (image && packed_bytes(image->info()) <= kLargest) (void)fuzz::accepted([&] { return levels_of(*image); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".dds");
    if (size < 36 || std::memcmp(data, "DDS ", 4) != 0) return 0;
    const auto& path = file.with({data, size});
    // The header has unused bytes from 32 on, which select what is tested.
    check_round_trip(path, size, static_cast<ImageColor>(data[32] % 3));
    if (data[33] != 0)
        check_conversion(path, static_cast<ArrayKind>(data[33] % 7), formats()[data[34] % formats().size()].format);
    return 0;
}
