#include "arrays/cpu/rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"

namespace texton::detail {
namespace {

// --- parameters of the vector functions ------------------------------------------------------------------------------

AxisPlan plan_axis(const TextureView& view, const Sampler& sampler, int axis) {
    const std::int32_t size = axis == 0 ? view.levels[0].width : view.levels[0].height;
    const AddressMode mode = sampler.address[axis];
    const AddressRule rule = address_rule(mode);
    AxisPlan plan{};
    plan.size = size;
    plan.mode = mode;
    plan.normalized = sampler.normalized_coordinates;
    plan.clamps = rule.clamps;
    plan.repeats = rule.repeats();
    const int fraction_bits = coordinate_fraction_bits(size, flat_axis_kind(view, Split::fixed_point));
    // Infinite and saturated coordinates of a texture that repeats read as 0. NaN always reads as 0.
    plan.zero_from =
        static_cast<std::int32_t>(plan.repeats ? bits_of(std::ldexp(1.0f, 60 - fraction_bits)) : 0x7f800001u);
    plan.highest = plan.repeats ? 0x1p60f : plan.normalized ? 4.0f : 0x1p20f;
    plan.lowest = -plan.highest;
    if (plan.clamps && !plan.normalized) {
        plan.lowest = 0.5f;
        plan.highest = static_cast<float>(size) - 0.5f;
    }
    plan.steps = std::ldexp(1.0, fraction_bits);
    plan.period = std::ldexp(rule.period, fraction_bits);
    plan.units_of_step = std::ldexp(size, 9 - fraction_bits);
    return plan;
}

// Returns the stored code whose value equals a channel of the border color, if there is such a code.
std::uint32_t stored_border(float value, const TexelFormat& format, int channel) {
    const Lane lane = border_lane(value, format, channel);
    switch (lane_kind(format, channel)) {
        case LaneKind::unorm16:
            return static_cast<std::uint32_t>(format.bits == 8 ? lane.mantissa / 257 : lane.mantissa);
        case LaneKind::srgb: return srgb_code_of(value);
        case LaneKind::float16: return half_toward_zero(value);
        case LaneKind::float32: return bits_of(value);
        case LaneKind::integer:
        case LaneKind::wide_uint:
        case LaneKind::wide_sint:
        case LaneKind::snorm8:
        case LaneKind::snorm16: break;
    }
    return static_cast<std::uint32_t>(lane.mantissa);
}

bool same_lanes(const Lanes& a, const Lanes& b, int channels) {
    for (int c = 0; c < channels; ++c) {
        const Lane& x = a.channel[c];
        const Lane& y = b.channel[c];
        // The exponent of a zero is irrelevant.
        if (x.mantissa != y.mantissa || x.negative != y.negative) return false;
        if (x.mantissa != 0 && x.exponent != y.exponent) return false;
    }
    return true;
}

// Stores the border color as a texel. Returns false if no texel has the same value: in some formats, the border color
// has more bits than the texels.
bool store_border(const Sampler& sampler, const TexelFormat& format, unsigned char* texel) {
    if (format.packing != Packing::plain) return false;
    for (int c = 0; c < format.channels; ++c) {
        const std::uint32_t code = stored_border(sampler.border[c], format, c);
        std::memcpy(texel + c * format.bits / 8, &code, format.bits / 8u);
    }
    return same_lanes(decode_texel(texel, format, 0, 0), border_lanes(sampler, format), format.channels);
}

bool has_border(const Sampler& sampler) {
    return address_rule(sampler.address[0]).border || address_rule(sampler.address[1]).border;
}

// Returns whether fetches depend only on the texels of level 0, and sizes permit the vector functions.
bool is_simple(const TextureView& view, const Sampler& sampler) {
    constexpr std::int32_t kLargestSide = 1 << 18;  // keeps all numbers within 32 bits
    constexpr std::int64_t kMaxTexels = std::int64_t{1} << 31;
    const LevelView& level = view.levels[0];
    if (view.kind != ArrayKind::array_1d && view.kind != ArrayKind::array_2d && view.kind != ArrayKind::layered_2d)
        return false;
    if (level.partial != nullptr || level.width > kLargestSide || level.height > kLargestSide) return false;
    if (level.row_pitch % view.format.bytes != 0) return false;
    if (level.row_pitch / view.format.bytes * level.height > kMaxTexels) return false;
    for (int axis = 0; axis < 2; ++axis) {
        if (!sampler.normalized_coordinates && address_rule(sampler.address[axis]).repeats()) return false;
    }
    if (sampler.filter == Filter::linear) return true;
    // Otherwise, point reads pass through the filter.
    return sampler.max_anisotropy < 2 && (sampler.mip_filter == Filter::point || view.level_count == 1);
}

// Returns whether a copy of a texel is a valid pixel.
bool is_stored_alike(const TexelFormat& texture, const PixelFormat& image) {
    const TexelFormat& stored = image.stored;
    return texture == stored && texture.encoding != Encoding::snorm;
}

// Returns whether a pixel equals a Texel of floats.
bool is_texel(const TexelFormat& image) {
    return image.encoding == Encoding::floating && image.bits == 32 && image.channels == 4;
}

void make_halves_quiet(std::byte* halves, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t half;
        std::memcpy(&half, halves + 2 * i, 2);
        if ((half & 0x7fff) > 0x7c00) half |= 0x200;
        std::memcpy(halves + 2 * i, &half, 2);
    }
}

}  // namespace

// --- fetches ---------------------------------------------------------------------------------------------------------

RowSampler::RowSampler(const TextureView& view, const Sampler& sampler, std::int32_t layer)
    : view_(view), sampler_(sampler), layer_(layer) {
    if (!is_simple(view, sampler)) return;
    if (has_border(sampler) && !store_border(sampler, view.format, plan_.border)) return;
    const LevelView& level = view.levels[0];
    const std::int32_t slice = is_layered(view.kind) ? clamp_layer(layer, level.depth) : 0;
    plan_.texels = level.data + slice * level.slice_pitch;
    plan_.pitch = static_cast<std::int32_t>(level.row_pitch / view.format.bytes);
    plan_.x = plan_axis(view, sampler, 0);
    plan_.y = plan_axis(view, sampler, 1);
    if (sampler.filter == Filter::point) {
        decoder_ = texel_decoder(view.format);
        if (decoder_ == nullptr) return;
        decode_row_ = row_decoder(view.format);
    }
    kernels_ = row_kernels(view.format, sampler.filter);
}

bool RowSampler::has_kernels(std::size_t count) const {
    constexpr std::size_t kMin = 8;  // smaller blocks are not worthwhile
    return kernels_.pixels != nullptr && count >= kMin;
}

void RowSampler::fetch_by_model(const float* x, const float* y, std::size_t count, Texel* texels) const {
    for (std::size_t i = 0; i < count; ++i)
        texels[i] = detail::fetch(view_, sampler_, Coordinates{x[i], y[i], 0, layer_});
}

// Fetches blocks. The last block is padded with the last position.
void RowSampler::fetch_blocks(BlockFetch fetch, std::size_t bytes, const float* x, const float* y, std::size_t count,
                              unsigned char* results) const {
    const std::size_t whole = count / kRowBlock * kRowBlock;
    if (whole != 0) fetch(plan_, x, y, whole / kRowBlock, results);
    if (whole == count) return;
    float last_x[kRowBlock];
    float last_y[kRowBlock];
    for (std::size_t i = 0; i < kRowBlock; ++i) {
        last_x[i] = x[std::min(whole + i, count - 1)];
        last_y[i] = y[std::min(whole + i, count - 1)];
    }
    unsigned char last[kRowBlock * sizeof(Texel)];
    fetch(plan_, last_x, last_y, 1, last);
    std::memcpy(results + whole * bytes, last, (count - whole) * bytes);
}

void RowSampler::fetch(const float* x, const float* y, std::size_t count, Texel* texels) const {
    if (!has_kernels(count)) return fetch_by_model(x, y, count, texels);
    if (sampler_.filter == Filter::linear)
        return fetch_blocks(kernels_.texels, sizeof(Texel), x, y, count, reinterpret_cast<unsigned char*>(texels));
    const std::size_t bytes = view_.format.bytes;
    for (std::size_t begin = 0; begin < count; begin += kRowBlock) {
        unsigned char stored[kRowBlock * sizeof(Texel)];
        const std::size_t length = std::min(kRowBlock, count - begin);
        fetch_blocks(kernels_.pixels, bytes, x + begin, y + begin, length, stored);
        if (decode_row_ != nullptr) {
            decode_row_(stored, length, reinterpret_cast<float*>(texels + begin));
        } else {
            for (std::size_t i = 0; i < length; ++i) texels[begin + i] = decoder_(stored + i * bytes);
        }
    }
}

void RowSampler::fetch_stored(const float* x, const float* y, std::size_t count, std::byte* pixels) const {
    const TexelFormat& format = view_.format;
    fetch_blocks(kernels_.pixels, format.bytes, x, y, count, reinterpret_cast<unsigned char*>(pixels));
    const bool halves = format.encoding == Encoding::floating && format.bits == 16;
    if (halves && sampler_.filter == Filter::point) make_halves_quiet(pixels, count * format.channels);
}

void RowSampler::fetch(const float* x, const float* y, std::size_t count, const PixelFormat& image,
                       std::byte* pixels) const {
    if (has_kernels(count) && is_stored_alike(view_.format, image)) return fetch_stored(x, y, count, pixels);
    const bool aligned = reinterpret_cast<std::uintptr_t>(pixels) % alignof(Texel) == 0;
    if (aligned && is_texel(image.stored)) return fetch(x, y, count, reinterpret_cast<Texel*>(pixels));
    const std::size_t bytes = image.stored.bytes;
    for (std::size_t begin = 0; begin < count; begin += kRowBlock) {
        Texel texels[kRowBlock];
        const std::size_t length = std::min(kRowBlock, count - begin);
        fetch(x + begin, y + begin, length, texels);
        for (std::size_t i = 0; i < length; ++i)
            std::memcpy(pixels + (begin + i) * bytes, encode_pixel(texels[i], image).word, bytes);
    }
}

std::vector<AxisTaps> RowSampler::taps(int axis, std::span<const float> positions) const {
    std::vector<AxisTaps> taps(positions.size());
    const LatticeKernels& kernels = lattice_kernels();
    if (kernels_.texels == nullptr || sampler_.filter != Filter::linear || kernels.find == nullptr) {
        const std::int32_t size = axis == 0 ? view_.levels[0].width : view_.levels[0].height;
        const AxisKind kind = flat_axis_kind(view_, Split::fixed_point);
        std::ranges::transform(positions, taps.begin(), [&](float position) {
            return axis_taps(position, size, kind, sampler_, axis, Split::fixed_point, 0);
        });
        return taps;
    }
    for (std::size_t begin = 0; begin < positions.size(); begin += kLatticeStep) {
        const std::size_t count = std::min(kLatticeStep, positions.size() - begin);
        float some[kLatticeStep] = {};
        std::copy_n(&positions[begin], count, some);
        std::int32_t first[kLatticeStep], second[kLatticeStep], share[kLatticeStep];
        kernels.find(axis == 0 ? plan_.x : plan_.y, some, kLatticeStep, {first, second, share});
        for (std::size_t i = 0; i < count; ++i) taps[begin + i] = {{first[i], second[i]}, share[i]};
    }
    return taps;
}

RowColumns RowSampler::columns(const float* x, std::size_t count) const {
    RowColumns columns(x, count);
    const LatticeKernels& kernels = lattice_kernels();
    if (kernels_.texels == nullptr || sampler_.filter != Filter::linear || kernels.find == nullptr || count == 0)
        return columns;
    const bool four_floats = is_four_floats(view_.format);
    const std::size_t step = four_floats ? kLatticeStep : kRowBlock;
    const std::size_t padded = (count + step - 1) / step * step;
    std::vector<float> positions(padded, x[count - 1]);
    std::copy_n(x, count, positions.begin());
    std::vector<std::int32_t> first(padded);
    columns.second_.resize(padded);
    constexpr std::size_t kLanes = 16;  // vectors are loaded from any position
    columns.share_.assign(padded + kLanes, 0);
    kernels.find(plan_.x, positions.data(), padded, {first.data(), columns.second_.data(), columns.share_.data()});
    if (!four_floats) {
        for (std::size_t i = 0; i < padded; i += kRowBlock)
            columns.neighbors_.push_back(
                find_neighbors(&first[i], &columns.second_[i], view_.levels[0].width, kernels_.near_texels));
        columns.left_ = std::move(first);
        return columns;
    }
    columns.between_ = std::ranges::any_of(columns.share_, [](std::int32_t share) { return share != 0; });
    const auto is_inside = [](std::int32_t texel) { return texel >= 0; };
    if (!std::ranges::all_of(first, is_inside)) return columns;
    if (columns.between_ && !std::ranges::all_of(columns.second_, is_inside)) return columns;
    first.resize(count);
    columns.first_.emplace(std::move(first), view_.levels[0].width,
                           columns.between_ ? columns.second_.data() : nullptr);
    return columns;
}

std::vector<FetchedRow> RowSampler::rows(std::span<const float> y) const {
    std::vector<FetchedRow> rows;
    for (const float at : y) rows.push_back({at, kBorderTexel, kBorderTexel, 0});
    const LatticeKernels& kernels = lattice_kernels();
    if (kernels.find == nullptr) return rows;
    for (std::size_t begin = 0; begin < y.size(); begin += kLatticeStep) {
        const std::size_t count = std::min(kLatticeStep, y.size() - begin);
        float positions[kLatticeStep] = {};
        std::copy_n(&y[begin], count, positions);
        std::int32_t top[kLatticeStep], bottom[kLatticeStep], share[kLatticeStep];
        kernels.find(plan_.y, positions, kLatticeStep, {top, bottom, share});
        for (std::size_t i = 0; i < count; ++i) {
            const bool between = share[i] != 0;
            if (top[i] < 0 || (between && bottom[i] < 0)) continue;
            rows[begin + i] = {positions[i], top[i], between ? bottom[i] : top[i], share[i]};
        }
    }
    return rows;
}

const unsigned char* RowSampler::row_at(std::int32_t y) const {
    return plan_.texels + std::ptrdiff_t{view_.format.bytes} * plan_.pitch * y;
}

const unsigned char* RowSampler::staged_row(RowColumns& columns, const unsigned char* texels,
                                            const unsigned char* other) const {
    auto& [first, second] = columns.staged_;
    if (first.texels != texels && second.texels != texels) {
        RowColumns::StagedRow& row = first.texels == other ? second : first;
        row.pairs.resize(columns.left_.size() * kernels_.staged_bytes);
        kernels_.stage(plan_, texels, columns.pairs(0, columns.neighbors_.size()), row.pairs.data());
        row.texels = texels;
    }
    return (first.texels == texels ? first : second).pairs.data();
}

bool RowSampler::fetch_staged(RowColumns& columns, const FetchedRow& at, StagedBlend blend, std::size_t bytes,
                              unsigned char* results) const {
    if (columns.left_.empty() || at.top < 0) return false;
    const unsigned char* const top = row_at(at.top);
    const unsigned char* const bottom = row_at(at.bottom);
    StagedRows rows{{top, bottom}, {staged_row(columns, top, bottom), staged_row(columns, bottom, top)}, at.share};
    const std::size_t whole = columns.count_ / kRowBlock;
    blend(rows, columns.pairs(0, whole), results);
    const std::size_t rest = columns.count_ % kRowBlock;
    if (rest == 0) return true;
    for (const unsigned char*& staged : rows.staged) staged += whole * kRowBlock * kernels_.staged_bytes;
    unsigned char last[kRowBlock * sizeof(Texel)];
    blend(rows, columns.pairs(whole, 1), last);
    std::memcpy(results + whole * kRowBlock * bytes, last, rest * bytes);
    return true;
}

bool RowSampler::fetch(RowColumns& columns, const FetchedRow& at, Texel* texels, bool past_caches) const {
    if (is_four_floats(view_.format)) return fetch_four_floats(columns, at, texels, past_caches);
    return fetch_staged(columns, at, kernels_.blend_texels, sizeof(Texel), reinterpret_cast<unsigned char*>(texels));
}

bool RowSampler::fetch(RowColumns& columns, const FetchedRow& at, const PixelFormat& image, std::byte* pixels,
                       bool past_caches) const {
    auto* const stored = reinterpret_cast<unsigned char*>(pixels);
    if (is_texel(image.stored)) return fetch(columns, at, reinterpret_cast<Texel*>(pixels), past_caches);
    if (!is_stored_alike(view_.format, image)) return false;
    return fetch_staged(columns, at, kernels_.blend_pixels, image.stored.bytes, stored);
}

bool RowSampler::fetch_four_floats(RowColumns& columns, const FetchedRow& at, Texel* texels, bool past_caches) const {
    if (!columns.is_prepared() || at.top < 0) return false;
    const auto floats_of_row = [this](std::int32_t y) { return reinterpret_cast<const float*>(row_at(y)); };
    LatticeRow row{floats_of_row(at.top), floats_of_row(at.bottom), at.share, past_caches};
    const std::int32_t last_row = std::exchange(columns.last_row_, std::max(columns.last_row_, at.bottom));
    // Prefetches. If both rows are new, further texels of these rows are prefetched. If only the lower row is new, the
    // row below is prefetched. More than two long rows do not fit the first-level cache.
    constexpr std::ptrdiff_t kAhead = 512;  // floats
    if (at.top > last_row) {
        row.soon[0] = row.top + kAhead;
        row.soon[1] = row.bottom + kAhead;
    } else if (at.bottom > last_row && at.bottom + 1 < view_.levels[0].height) {
        row.soon[0] = floats_of_row(at.bottom + 1);
    }
    const LatticeKernels::Fetch fetch = lattice_kernels().fetch[columns.between_][at.share != 0];
    const std::size_t whole = columns.count_ / kLatticeStep * kLatticeStep;
    fetch(row, columns.prepared(0), whole, reinterpret_cast<float*>(texels));
    if (whole == columns.count_) return true;
    Texel last[kLatticeStep];
    row.past_caches = false;
    fetch(row, columns.prepared(whole), kLatticeStep, reinterpret_cast<float*>(last));
    std::copy_n(last, columns.count_ - whole, texels + whole);
    return true;
}

void RowSampler::fetch_row(const AffineMap& map, std::uint32_t i, std::uint32_t j, std::size_t count,
                           const PixelFormat& image, std::byte* pixels) const {
    constexpr std::size_t kPositions = 512;  // positions on the stack
    float x[kPositions];
    float y[kPositions];
    for (std::size_t begin = 0; begin < count; begin += kPositions) {
        const std::size_t length = std::min(kPositions, count - begin);
        find_row_positions(map, i + static_cast<std::uint32_t>(begin), j, length, x, y);
        fetch(x, y, length, image, pixels + begin * image.stored.bytes);
    }
}

}  // namespace texton::detail
