// Strips and tiles of TIFF files with deflate. The input is a box, then the file. What the first directories describe is
// read as they describe it, which OpenImageIO would check first.
#include <array>

#include "arrays/files/compressed_part.h"
#include "arrays/files/tiff_chunks.h"
#include "arrays/files/tiff_directory.h"
#include "tests/fuzz/fuzz.h"

using namespace texton;

namespace {

constexpr std::uint64_t kLargestSide = 4096;
constexpr std::size_t kLargestImage = std::size_t{1} << 20;  // bytes of texels

// Returns the image of the current directory as it describes itself. Sides are bounded.
detail::TiffImage image_of(const detail::TiffNumbers& directory) {
    const auto value = [&](unsigned tag, std::uint64_t absent) {
        return static_cast<std::size_t>(std::min(directory.value(tag, absent).value_or(0), kLargestSide));
    };
    detail::TiffImage image;
    image.extent = {value(256, 0), value(257, 0)};
    image.channels = static_cast<unsigned>(value(277, 1));
    image.channel_bytes = static_cast<unsigned>(value(258, 8) / 8);
    image.is_float = value(339, 1) == 3;
    return image;
}

struct Read {
    bool complete = false;
    std::vector<std::byte> texels;
};

// Reads a box. The result is incomplete if OpenImageIO must read it, or if a part is damaged.
Read read_box(const detail::TiffChunks& chunks, const detail::TiffNumbers& numbers, const std::filesystem::path& path,
              const Region& box) {
    const std::size_t texel = chunks.image().channels * chunks.image().channel_bytes;
    Read read{.texels = std::vector<std::byte>(box.extent.width * box.extent.height * texel)};
    const auto store = [texel](const std::byte* stored, std::size_t count, std::byte* packed) {
        std::memcpy(packed, stored, count * texel);
    };
    try {
        read.complete = chunks.read(path, numbers.file().identity(), box, texel, read.texels.data(), store);
    } catch (const detail::DamagedPart& damaged) {
        fuzz::require(*damaged.what() != '\0', "a damaged part is named");
    }
    return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".tif");
    fuzz::Numbers random({data, size});
    const auto choices = random.take<std::array<std::uint16_t, 4>>();
    const auto& path = file.with(random.rest());
    detail::TiffNumbers numbers(path);
    for (int directory = 0; directory < 4 && numbers.next_directory(); ++directory) {
        const detail::TiffImage image = image_of(numbers);
        const auto chunks = detail::TiffChunks::of(numbers, image);
        const Extent extent = image.extent;
        if (!chunks || extent.width == 0 || extent.height == 0) continue;
        const std::size_t texel = image.channels * image.channel_bytes;
        if (extent.width * extent.height * texel > kLargestImage) continue;
        const Read whole = read_box(*chunks, numbers, path, {{}, extent});
        const std::size_t x = choices[0] % extent.width, y = choices[1] % extent.height;
        const Extent part{1 + choices[2] % (extent.width - x), 1 + choices[3] % (extent.height - y)};
        const Read box = read_box(*chunks, numbers, path, {{x, y}, part});
        fuzz::require(box.complete || !whole.complete, "parts of a complete image are complete");
        if (!whole.complete) continue;
        for (std::size_t row = 0; row < part.height; ++row) {
            const auto* const expected = whole.texels.data() + ((y + row) * extent.width + x) * texel;
            fuzz::require(std::memcmp(expected, box.texels.data() + row * part.width * texel, part.width * texel) == 0,
                          "a box has the texels of the image");
        }
    }
    return 0;
}
