#pragma once
// Checks that the texels of an image's files are unchanged after an upload to the device and a download.
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <texton/array.h>
#include <texton/image_file.h>

#include "viewer/model/cancellation.h"
#include "viewer/model/session.h"

namespace texton::viewer {

/// One level of a layer, face or plane. For a volume, all its slices.
struct TripPart {
    SubresourceIndex subresource;
    Extent extent;
    bool operator==(const TripPart&) const = default;
};

/// The first byte of a part that differs.
struct TripMismatch {
    SubresourceIndex subresource;  ///< including the slice
    Offset texel;                  ///< the texel, or the first texel of its block; only x and y
    std::size_t byte = 0;          ///< offset in the packed texels of the part
    std::byte expected{};          ///< value in the files
    std::byte found{};             ///< value from the device
    bool operator==(const TripMismatch&) const = default;
};

/// Result of the comparison of a part.
struct TripResult {
    TripPart part;
    std::size_t bytes = 0;      ///< number of compared bytes
    std::size_t different = 0;  ///< number of bytes that differ
    std::optional<TripMismatch> first{};
};

/// Returns all parts of an array, level by level.
[[nodiscard]] std::vector<TripPart> trip_parts(const ArrayInfo& info);

/// Reads a part from the files and from the array, and compares the bytes. Blocks. Throws Error{bad_argument} if
/// format, kind, size, layers or levels of image and array differ, the errors of ImageFile::read() and copy(), and
/// Canceled.
[[nodiscard]] TripResult compare_part(const ImageFile& image, const Array& array, const TripPart& part,
                                      const CancellationToken& token = {});

/// Uploads the image to a new array on the device, part by part. Then compares each part with the files and calls
/// `each` with the result. Blocks. Throws the errors of Array and compare_part().
///
/// `damage` is the offset of a byte of the first part that is changed on the device before the comparison, to test that
/// the comparison finds it.
void round_trip(const Device& device, const ImageFile& image, const std::function<void(const TripResult&)>& each,
                const CancellationToken& token = {}, std::optional<std::size_t> damage = {});

}  // namespace texton::viewer
