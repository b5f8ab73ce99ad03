#include "viewer/inspect/round_trip.h"

#include <algorithm>

#include <texton/copy.h>
#include <texton/error.h>

#include "viewer/inspect/pitched_map.h"

// Parts are transferred in bands of rows, so that a large image needs little host memory.

namespace texton::viewer {
namespace {

constexpr std::size_t kBand = std::size_t{16} << 20;  // bytes

// Calls `visit(subresource, offset of its first byte in the part)` for each band of the part.
template <class Visit>
void each_band(const ArrayInfo& info, const TripPart& part, const CancellationToken& token, Visit visit) {
    const std::size_t side = block_side(info.format);
    const std::size_t row = row_bytes(info.format, part.extent.width);
    const std::size_t band = std::max<std::size_t>(1, kBand / row) * side;
    std::size_t first = 0;
    for (std::size_t z = 0; z < part.extent.depth; ++z) {
        for (std::size_t y = 0; y < part.extent.height; y += band) {
            throw_if_canceled(token);
            Subresource box = slices_at(info, part.subresource);
            box.region = Region{{0, y, z}, {part.extent.width, std::min(band, part.extent.height - y), 1}};
            visit(box, first);
            first += packed_bytes(info.format, box.region->extent);
        }
    }
}

TripMismatch mismatch_at(Format format, const TripPart& part, std::size_t byte) {
    const std::size_t side = block_side(format);
    const std::size_t row = row_bytes(format, part.extent.width);
    const std::size_t rows = row_count(format, part.extent.height);
    TripMismatch out{.subresource = part.subresource, .texel = {}, .byte = byte};
    out.subresource.slice = byte / (row * rows);
    out.texel = {byte % row / info(format).bytes * side, byte / row % rows * side, 0};
    return out;
}

void upload(const ImageFile& image, const Array& array, const TripPart& part, const CancellationToken& token) {
    std::vector<std::byte> texels;
    each_band(array.info(), part, token, [&](const Subresource& box, std::size_t) {
        texels.resize(packed_bytes(array.info().format, box.region->extent));
        image.read(box, texels);
        copy(array.view(box), host_view(texels.data(), array.info().format, box.region->extent));
    });
}

void damage_byte(const Array& array, const TripPart& part, std::size_t byte) {
    const Format format = array.info().format;
    const TripMismatch where = mismatch_at(format, part, byte);
    const std::size_t side = block_side(format);
    Subresource box = slices_at(array.info(), part.subresource);
    box.region = Region{
        {where.texel.x, where.texel.y, where.subresource.slice},
        {std::min(side, part.extent.width - where.texel.x), std::min(side, part.extent.height - where.texel.y), 1}};
    std::vector<std::byte> texel(info(format).bytes);
    const View host = host_view(texel.data(), format, box.region->extent);
    copy(host, array.view(box));
    texel[byte % row_bytes(format, part.extent.width) % texel.size()] ^= std::byte{1};
    copy(array.view(box), host);
}

}  // namespace

std::vector<TripPart> trip_parts(const ArrayInfo& info) {
    std::vector<TripPart> parts;
    const std::size_t layers = is_layered(info.kind) ? info.layers : 1;
    for (int level = 0; level < info.levels; ++level) {
        for (std::size_t layer = 0; layer < layers; ++layer) {
            for (int face = 0; face < (is_cube(info.kind) ? 6 : 1); ++face)
                parts.push_back({{.level = level, .layer = layer, .face = face}, level_extent(info, level)});
        }
    }
    return parts;
}

TripResult compare_part(const ImageFile& image, const Array& array, const TripPart& part,
                        const CancellationToken& token) {
    const ArrayInfo& have = array.info();
    const ArrayInfo& want = image.info();
    if (have.format != want.format || have.kind != want.kind || have.extent != want.extent ||
        have.layers != want.layers || have.levels != want.levels) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton::viewer::compare_part",
                     .problem = "format, kind, size, layers or levels of the array differ from those of the image",
                     .remedy = "Create the array with the info() of the image."});
    }
    TripResult result{.part = part};
    std::vector<std::byte> expected;
    std::vector<std::byte> found;
    each_band(have, part, token, [&](const Subresource& box, std::size_t first) {
        const std::size_t bytes = packed_bytes(have.format, box.region->extent);
        expected.resize(bytes);
        found.resize(bytes);
        image.read(box, expected);
        copy(host_view(found.data(), have.format, box.region->extent), array.view(box));
        result.bytes += bytes;
        if (expected == found) return;
        for (std::size_t i = 0; i < bytes; ++i) {
            if (expected[i] == found[i]) continue;
            ++result.different;
            if (result.first) continue;
            result.first = mismatch_at(have.format, part, first + i);
            result.first->expected = expected[i];
            result.first->found = found[i];
        }
    });
    return result;
}

void round_trip(const Device& device, const ImageFile& image, const std::function<void(const TripResult&)>& each,
                const CancellationToken& token, std::optional<std::size_t> damage) {
    const Array array(device, image.info());
    const std::vector<TripPart> parts = trip_parts(image.info());
    // All parts are uploaded before the first comparison, so that parts that overlap in memory are detected.
    for (const TripPart& part : parts) upload(image, array, part, token);
    if (damage) damage_byte(array, parts.front(), *damage);
    for (const TripPart& part : parts) each(compare_part(image, array, part, token));
}

}  // namespace texton::viewer
