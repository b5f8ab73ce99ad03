// Headers of image files that OpenImageIO reads (TIFF, OpenEXR, PNG, ...). The input is a file, whose first bytes select
// the extension. Texels are not read: OpenImageIO is not instrumented, and image_spec_fuzz.cpp tests what Texton does with
// the claims of a header.
#include <texton/image_file.h>

#include "tests/fuzz/fuzz.h"

using namespace texton;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile tiff(".tif"), exr(".exr"), png(".png"), hdr(".hdr");
    if (size < 4) return 0;
    const std::string_view text = fuzz::text_of({data, size});
    const fuzz::ScratchFile* file = nullptr;
    if (text.starts_with("II") || text.starts_with("MM")) file = &tiff;
    if (text.starts_with("v/1\x01")) file = &exr;
    if (text.starts_with("\x89PNG")) file = &png;
    if (text.starts_with("#?")) file = &hdr;
    if (file == nullptr) return 0;
    const auto image = fuzz::accepted([&] { return open_image(file->with({data, size})); });
    if (!image) return 0;
    const ArrayInfo& info = image->info();
    fuzz::require(info.levels >= 1 && info.levels <= full_levels(info), "the image has possible levels");
    fuzz::require(packed_bytes(info) > 0, "the image has texels");
    (void)fuzz::accepted([&] { return open_image(file->path(), {.kind = ArrayKind::cubemap}); });
    (void)fuzz::accepted([&] { return open_image(file->path(), {.window = ImageWindow::display, .part = 1}); });
    return 0;
}
