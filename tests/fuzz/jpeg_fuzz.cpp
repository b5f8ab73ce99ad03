// JPEG files: their markers, and texels at a part of the size. libjpeg is not instrumented, but its errors leave through
// functions that are.
#include "arrays/files/jpeg_header.h"
#include "arrays/files/reduced_jpeg.h"
#include "tests/fuzz/fuzz.h"

using namespace texton;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".jpg");
    std::vector<std::uint8_t> bytes(data, data + size);
    const bool is_plain = detail::is_plain_jpeg(std::as_bytes(std::span(bytes)));
    fuzz::require(!is_plain || (bytes[0] == 0xff && bytes.back() == 0xd9),
                  "a plain file begins and ends with a marker");
    // Other files are opened as what their first bytes say.
    if (!detail::has_libjpeg() || size < 4 || bytes[0] != 0xff || bytes[1] != 0xd8 || bytes[2] != 0xff) return 0;
    // Width and height below 256, so that no input takes much memory.
    for (std::size_t at = 0; at + 8 < bytes.size(); ++at) {
        if (bytes[at] == 0xff && bytes[at + 1] >= 0xc0 && bytes[at + 1] <= 0xcf) bytes[at + 5] = bytes[at + 7] = 0;
    }
    const auto reduced = fuzz::accepted([&] { return detail::open_reduced(file.with(bytes), {}, {4, 4}); });
    if (!reduced) return 0;
    const ArrayInfo& info = reduced->image.info();
    fuzz::require(info.extent.width >= 1 && info.extent.width < 256 && info.extent.height < 256,
                  "the size is that of the file");
    if (reduced->region) {
        fuzz::require((*reduced->region)[0] + (*reduced->region)[2] <= static_cast<double>(info.extent.width),
                      "the region is inside the image");
    }
    std::vector<std::byte> texels(packed_bytes(info));
    (void)fuzz::accepted([&] {
        reduced->image.read({}, texels);
        return true;
    });
    return 0;
}
