#include "viewer/inspect/pitched_map.h"

#include <fmt/format.h>

#include <algorithm>

#include <texton/copy.h>
#include <texton/error.h>

namespace texton::viewer {
namespace {

constexpr const char* kObject = "texton::viewer::PitchedCopy";
constexpr std::size_t kBand = std::size_t{16} << 20;  // bytes of host memory that are used at a time

[[noreturn]] void refuse_outside(std::string problem, std::vector<ErrorNumber> numbers) {
    throw Error({.code = ErrorCode::out_of_bounds,
                 .object = kObject,
                 .problem = std::move(problem),
                 .remedy = "Use texels, slices and bytes inside the memory.",
                 .numbers = std::move(numbers)});
}

}  // namespace

ByteUse PitchedLayout::use_of(std::size_t byte) const {
    const std::size_t in_slice = byte % slice_pitch;
    if (in_slice >= pitch * rows()) return ByteUse::gap;
    return in_slice % pitch < row_bytes() ? ByteUse::payload : ByteUse::padding;
}

std::optional<Offset> PitchedLayout::texel_of(std::size_t byte) const {
    if (byte >= bytes() || use_of(byte) != ByteUse::payload) return std::nullopt;
    const std::size_t in_slice = byte % slice_pitch;
    const std::size_t side = block_side(format);
    return Offset{in_slice % pitch / info(format).bytes * side, in_slice / pitch * side, byte / slice_pitch};
}

std::size_t PitchedLayout::byte_of(Offset texel) const {
    if (!contains(extent, {texel, {1, 1, 1}}))
        refuse_outside(
            fmt::format("texel ({}, {}, {}) is outside the extent {}", texel.x, texel.y, texel.z, to_string(extent)),
            {{"x", texel.x}, {"y", texel.y}, {"z", texel.z}});
    const std::size_t side = block_side(format);
    return texel.z * slice_pitch + texel.y / side * pitch + texel.x / side * info(format).bytes;
}

Region PitchedLayout::texels_with(Offset texel) const {
    const std::size_t side = block_side(format);
    const Offset first{texel.x / side * side, texel.y / side * side, texel.z};
    return {first, {std::min(side, extent.width - first.x), std::min(side, extent.height - first.y), 1}};
}

std::byte canary_at(std::size_t byte) noexcept {
    const std::uint64_t mixed = (byte + 1) * 0x9e3779b97f4a7c15ull;
    return static_cast<std::byte>(mixed >> 56);
}

Subresource slices_at(const ArrayInfo& info, const SubresourceIndex& subresource) {
    Subresource part{.level = subresource.level};
    if (is_layered(info.kind)) part.layer = subresource.layer;
    if (is_cube(info.kind)) part.face = subresource.face;
    return part;
}

PitchedCopy::PitchedCopy(const Array& source, const SubresourceIndex& subresource, const CancellationToken& token) {
    const Subresource part = slices_at(source.info(), subresource);
    const ConstView texels = source.view(part);
    const Device device = source.device();
    if (source.info().kind == ArrayKind::array_3d) {
        deep_ = Pitched3D(device, texels.format(), texels.extent());
        layout_ = {texels.format(), texels.extent(), deep_.pitch(), deep_.slice_pitch()};
    } else {
        flat_ = Pitched2D(device, texels.format(), texels.extent());
        layout_ = {texels.format(), texels.extent(), flat_.pitch(), flat_.view().slice_pitch()};
    }
    write_canaries(token);
    upload(source, part, token);
}

View PitchedCopy::bytes(std::size_t first, std::size_t count) const {
    if (first > layout_.bytes() || count > layout_.bytes() - first || count == 0)
        refuse_outside(fmt::format("{} bytes at offset {} were requested, but the memory has {} bytes", count, first,
                                   layout_.bytes()),
                       {{"first", first}, {"count", count}, {"bytes", layout_.bytes()}});
    return borrowed_view(device(), data() + first, Format::r8_uint, {count});
}

std::vector<std::byte> PitchedCopy::read(std::size_t first, std::size_t count) const {
    std::vector<std::byte> out(count);
    if (count > 0) copy(host_view(std::span(out)), bytes(first, count));
    return out;
}

std::vector<std::byte> PitchedCopy::read_box(std::size_t first, std::size_t count, std::size_t rows) const {
    std::vector<std::byte> out(count * rows);
    if (out.empty()) return out;
    (void)bytes(first, (rows - 1) * layout_.pitch + count);  // throws if the box is not inside the memory
    const Extent box{count, rows};
    copy(host_view(out.data(), Format::r8_uint, box),
         borrowed_view(device(), data() + first, Format::r8_uint, box, layout_.pitch));
    return out;
}

void PitchedCopy::write_canaries(const CancellationToken& token) const {
    std::vector<std::byte> band;
    for (std::size_t first = 0; first < layout_.bytes(); first += kBand) {
        throw_if_canceled(token);
        band.resize(std::min(kBand, layout_.bytes() - first));
        for (std::size_t i = 0; i < band.size(); ++i) band[i] = canary_at(first + i);
        copy(bytes(first, band.size()), host_view(std::span(band)));
    }
}

void PitchedCopy::upload(const Array& source, const Subresource& part, const CancellationToken& token) const {
    const std::size_t side = block_side(layout_.format);
    const std::size_t band_rows = std::max<std::size_t>(1, kBand / layout_.row_bytes()) * side;
    const ConstView from = source.view(part);
    std::vector<std::byte> band;
    for (std::size_t z = 0; z < layout_.extent.depth; ++z) {
        for (std::size_t y = 0; y < layout_.extent.height; y += band_rows) {
            throw_if_canceled(token);
            const Region rows{{0, y, z}, {layout_.extent.width, std::min(band_rows, layout_.extent.height - y), 1}};
            band.resize(packed_bytes(layout_.format, rows.extent));
            const View host = host_view(band.data(), layout_.format, rows.extent);
            copy(host, from.region(rows));
            copy(view().region(rows), host);
        }
    }
}

CanaryReport PitchedCopy::check(const CancellationToken& token) const {
    CanaryReport report;
    const std::size_t row = layout_.row_bytes();
    const auto look = [&](std::size_t byte, std::byte value) {
        ++report.checked;
        if (value == canary_at(byte)) return;
        ++report.overwritten;
        if (report.subresources.size() < CanaryReport::kMaxSubresources) report.subresources.push_back(byte);
    };
    for (std::size_t first = 0; first < layout_.bytes(); first += kBand) {
        throw_if_canceled(token);
        const std::vector<std::byte> band = read(first, std::min(kBand, layout_.bytes() - first));
        for (std::size_t i = 0; i < band.size();) {
            const std::size_t byte = first + i;
            if (layout_.use_of(byte) == ByteUse::payload) {
                i += row - byte % layout_.slice_pitch % layout_.pitch;  // skips the rest of the row's texels
            } else {
                look(byte, band[i++]);
            }
        }
    }
    return report;
}

Array PitchedCopy::read_with_pitch(std::size_t pitch, std::size_t slice, std::size_t max_bytes) const {
    const std::size_t row = layout_.row_bytes();
    if (pitch < row) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kObject,
                     .problem = fmt::format("a pitch of {} bytes is smaller than a row of {} bytes", pitch, row),
                     .remedy = "Use a pitch of at least the bytes of a row.",
                     .numbers = {{"pitch", pitch}, {"row", row}}});
    }
    if (slice >= layout_.extent.depth)
        refuse_outside(fmt::format("slice {} was requested, but the memory has {} slices", slice, layout_.extent.depth),
                       {{"slice", slice}, {"slices", layout_.extent.depth}});
    const std::size_t first = slice * layout_.slice_pitch;
    const std::size_t there = layout_.bytes() - first;
    const std::size_t rows =
        std::min({layout_.rows(), (there - row) / pitch + 1, std::max<std::size_t>(1, max_bytes / pitch)});
    const Extent extent{layout_.extent.width, std::min(layout_.extent.height, rows * block_side(layout_.format))};
    Array out(device(), {.format = layout_.format, .extent = extent});
    copy(out.view(), borrowed_view(device(), data() + first, layout_.format, extent, pitch));
    return out;
}

}  // namespace texton::viewer
