// Y4M files. The input is a frame number, then the file. Accepted frames are read, written and read again.
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "tests/fuzz/fuzz.h"

using namespace texton;

namespace {

constexpr std::size_t kLargest = std::size_t{4} << 20;  // bytes of a frame

std::vector<std::byte> texels_of(const ImageFile& plane) {
    std::vector<std::byte> texels(packed_bytes(plane.info()));
    plane.read({}, texels);
    return texels;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".y4m"), again("-again.y4m");
    fuzz::Numbers numbers({data, size});
    const auto frame = numbers.hostile_as<std::size_t>();
    const auto& path = file.with(numbers.rest());
    const auto image = fuzz::accepted([&] { return open_image(path, {.frame = frame}); });
    if (!image) return 0;
    fuzz::require(frame < image->metadata().frames, "the frame is in the file");
    const std::size_t bytes = packed_bytes(image->info().format, image->info().extent);
    fuzz::require(bytes < numbers.rest().size() / image->metadata().frames, "the file contains all frames");
    if (bytes > kLargest) return 0;
    const auto luma = texels_of(image->plane(0)), chroma = texels_of(image->plane(1));
    fuzz::require(luma.size() + chroma.size() == bytes, "the planes are the frame");
    save(again.path(), *image);
    const ImageFile read = open_image(again.path());
    fuzz::require(read.info() == image->info(), "a written frame has the same description");
    fuzz::require(texels_of(read.plane(0)) == luma && texels_of(read.plane(1)) == chroma,
                  "a written frame is the same");
    return 0;
}
