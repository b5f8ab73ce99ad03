#include <fmt/format.h>

#include "arrays/files/formats.h"
#include "arrays/files/oiio.h"
#include "arrays/files/stored_texels.h"

// A file of raw planar frames has no header. Each frame consists of all rows of luma, followed by all rows of chroma.
// Values are little-endian.

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";
constexpr const char* kSave = "texton::save";

ImageSourcePtr plane(const std::filesystem::path& path, const FileIdentity& identity, const RawFrames& raw, int index,
                     std::uint64_t first) {
    const PlaneInfo part = plane_info(raw.format, index);
    const Extent extent{raw.extent.width / part.divide_width, raw.extent.height / part.divide_height};
    return stored_file(path, identity, part.format, false, StoredOrder::same,
                       {{extent, first, packed_bytes(part.format, extent)}});
}

}  // namespace

OpenedFrame open_raw_frame(const std::filesystem::path& path, const RawFrames& raw) {
    require_file(kOpen, path);
    const FileIdentity identity = identity_of(path);
    const Extent& extent = raw.extent;
    const bool even = extent.width % 2 == 0 && extent.height % 2 == 0;
    const bool possible = is_possible(extent) && extent.depth == 1;
    if (info(raw.format).layout != FormatLayout::planar || !even || !possible) {
        fail_file(kOpen, path,
                  fmt::format("cannot be read as frames of {} texels of {}", to_string(extent), name(raw.format)),
                  "Use nv12, p010, p016 or nv16. Width and height must be even, not 0, and less than 2^31.",
                  ErrorCode::bad_argument);
    }
    const std::uint64_t bytes = packed_bytes(raw.format, extent);
    const std::uint64_t file_bytes = identity.bytes;
    if (file_bytes % bytes != 0 || file_bytes == 0) {
        fail_file(kOpen, path,
                  fmt::format("has {} bytes, which is not a multiple of the frame size of {} bytes ({} texels of {})",
                              file_bytes, bytes, to_string(extent), name(raw.format)),
                  "Check the format, the width and the height.");
    }
    if (bytes >= kMaxImageBytes) fail_too_large(kOpen, path, extent);
    if (raw.frame >= file_bytes / bytes) {
        fail_file(kOpen, path, fmt::format("has {} frames, but frame {} was requested", file_bytes / bytes, raw.frame),
                  "The first frame is 0.", ErrorCode::out_of_bounds,
                  {{"frame", raw.frame}, {"count", file_bytes / bytes}});
    }
    OpenedFrame opened;
    const std::uint64_t first = raw.frame * bytes;
    opened.luma = plane(path, identity, raw, 0, first);
    opened.chroma = plane(path, identity, raw, 1, first + packed_bytes(opened.luma->format(), opened.luma->level(0)));
    opened.metadata.file_kind = "raw";
    opened.metadata.channels = {"Y", "Cb", "Cr"};
    opened.metadata.frames = file_bytes / bytes;
    opened.metadata.data = opened.metadata.display = frame_of(kOpen, extent);
    return opened;
}

void save_raw_frame(const std::filesystem::path& path, const ImageState& image, const OnImageProgress& progress) {
    if (image.file != nullptr) {
        fail_file(kSave, path,
                  fmt::format("is of a kind that holds planar frames, but the image has the format {}",
                              name(image.info.format)),
                  other_kinds(image.info.format));
    }
    NewFile writer(kSave, path);
    ImageBands bands(image, packed_bytes(image.info.format, image.info.extent), progress);
    for (const ImageFile& plane : image.planes) {
        const ImageSource& file = *plane.state()->file;
        bands.write(file, 0, whole(file.level(0)), writer);
    }
    writer.complete();
}

}  // namespace texton::detail
