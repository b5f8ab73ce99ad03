// Files of raw planar frames. The input is the description of a frame (format, width, height, index), then the file.
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "tests/fuzz/fuzz.h"

using namespace texton;

namespace {

std::vector<std::byte> texels_of(const ImageFile& plane) {
    std::vector<std::byte> texels(packed_bytes(plane.info()));
    plane.read({}, texels);
    return texels;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".yuv"), again("-again.yuv");
    fuzz::Numbers numbers({data, size});
    RawFrames raw;
    constexpr Format kPlanar[] = {Format::nv12, Format::p010, Format::p016, Format::nv16};
    const std::size_t format = numbers.below(5);
    raw.format = format < 4 ? kPlanar[format] : numbers.format();
    raw.extent.width = numbers.hostile_as<std::size_t>();
    raw.extent.height = numbers.hostile_as<std::size_t>();
    if (numbers.below(8) == 7) raw.extent.depth = numbers.hostile_as<std::size_t>();
    raw.frame = numbers.hostile_as<std::size_t>();
    raw.layout = numbers.below(2) == 1 ? RawLayout::planes : RawLayout::interleaved;
    const auto& path = file.with(numbers.rest());
    const auto image = fuzz::accepted([&] { return open_image(path, {.raw = raw}); });
    if (!image) return 0;
    const std::size_t frame = packed_bytes(raw.format, raw.extent);
    fuzz::require(frame * image->metadata().frames == numbers.rest().size(), "the file consists of whole frames");
    fuzz::require(raw.frame < image->metadata().frames, "the frame is in the file");
    const auto luma = texels_of(image->plane(0)), chroma = texels_of(image->plane(1));
    fuzz::require(luma.size() + chroma.size() == frame, "the planes are the frame");
    const bool shifted = raw.format == Format::p010 && raw.layout == RawLayout::planes;
    fuzz::require(shifted || std::memcmp(luma.data(), numbers.rest().data() + raw.frame * frame, luma.size()) == 0,
                  "luma is the first part of the frame");
    save(again.path(), *image);
    const ImageFile read = open_image(again.path(), {.raw = RawFrames{.format = raw.format, .extent = raw.extent}});
    fuzz::require(texels_of(read.plane(0)) == luma && texels_of(read.plane(1)) == chroma,
                  "a written frame is the same");
    return 0;
}
