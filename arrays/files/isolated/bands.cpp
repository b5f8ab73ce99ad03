#include "arrays/files/isolated/bands.h"

#include <algorithm>

#include "arrays/files/isolated/protocol.h"
#include "arrays/files/stored_texels.h"

namespace texton::detail {
namespace {

// Small enough for the caches of a processor. Bands of large strips are larger, so that several strips are decoded at
// the same time.
constexpr std::size_t kLargestBand = std::size_t{4} << 20;
constexpr std::size_t kLargestBandOfStrips = kBandBytes;
constexpr std::size_t kStripsTogether = 8;

// Decoders without strips can decode so many rows together, which the header of the file does not say: OpenEXR 16 or 32.
constexpr std::size_t kRowsTogether = 32;

struct Part {
    std::size_t offset, length;
};

// Cuts a range into parts that end at multiples of `granule`. A part has as many granules as fit in `maximum` bytes,
// but at least one.
std::vector<Part> parts_of(Part range, std::size_t granule, std::size_t granule_bytes, std::size_t maximum) {
    const std::size_t step = granule * std::max<std::size_t>(1, maximum / std::max<std::size_t>(1, granule_bytes));
    std::vector<Part> parts;
    const std::size_t end = range.offset + range.length;
    for (std::size_t at = range.offset; at < end;) {
        const std::size_t next = std::min(end, (at + step) / granule * granule);
        parts.push_back({at, next - at});
        at = next;
    }
    return parts;
}

}  // namespace

std::vector<Region> bands_of(Format format, const Region& box, const Extent& granule) {
    const Extent& all = box.extent;
    const std::size_t slice = packed_bytes(format, {all.width, all.height, 1});
    std::vector<Region> bands;
    if (slice <= kLargestBand || granule.depth > 1) {
        const std::size_t layer = slice * std::min(granule.depth, all.depth);
        for (const Part& z : parts_of({box.offset.z, all.depth}, granule.depth, layer, kLargestBand)) {
            bands.push_back({{box.offset.x, box.offset.y, z.offset}, {all.width, all.height, z.length}});
        }
        return bands;
    }
    const auto bytes_of = [&](std::size_t rows) {
        return packed_bytes(format, {all.width, std::min(rows, all.height), 1});
    };
    const bool fits = granule.height == 1 && bytes_of(kRowsTogether) <= kLargestBand;
    const std::size_t rows = fits ? kRowsTogether : granule.height;
    const bool has_strips = granule.height > 1 && granule.width >= all.width;
    const std::size_t maximum =
        has_strips ? std::clamp(kStripsTogether * bytes_of(rows), kLargestBand, kLargestBandOfStrips) : kLargestBand;
    const std::vector<Part> parts = parts_of({box.offset.y, all.height}, rows, bytes_of(rows), maximum);
    for (std::size_t z = 0; z < all.depth; ++z) {
        for (const Part& y : parts) {
            bands.push_back({{box.offset.x, y.offset, box.offset.z + z}, {all.width, y.length, 1}});
        }
    }
    return bands;
}

std::uint64_t band_offset(std::size_t index, std::uint64_t largest) noexcept {
    constexpr std::uint64_t kPage = 4096;
    return kHeaderBytes + index % kBandsInMemory * ((largest + kPage - 1) / kPage * kPage);
}

}  // namespace texton::detail
