#include "kernels/cpu/texel_rows.h"

#include <algorithm>

#include <hwy/cache_control.h>

#include "arrays/unit/footprint.h"

namespace texton::detail {
namespace {

// Returns true if a fetch at a texel's center returns the decoded texel. This holds for the point filter, and for unorm
// texels with the linear filter if rounding cannot move the coordinate off the center.
bool reads_as_stored(const CpuTexture& texture) {
    const Sampler& sampler = texture.sampler;
    if (sampler.filter == Filter::linear)
        return texture.format.encoding == Encoding::unorm && !sampler.normalized_coordinates;
    return sampler.max_anisotropy < 2 && (sampler.mip_filter == Filter::point || texture.levels == 1);
}

constexpr std::int32_t kLargestSide = 1 << 18;  // up to here no coordinate is rounded to another texel

}  // namespace

TexelRows::TexelRows(const CpuTexture& texture, const SourceShape& shape, std::int32_t layer)
    : shape_(shape), reader_(texture), rows_(reader_.rows(layer)), channels_(channels_of(texture.format)) {
    const LevelView& level = reader_.view().levels[0];
    if (level.partial != nullptr || std::max(level.width, level.height) > kLargestSide) return;
    if (texture.format.packing != Packing::plain || !reads_as_stored(texture)) return;
    const std::int32_t slice = is_layered(texture.kind) ? clamp_layer(layer, level.depth) : 0;
    decode_ = row_decoder(texture.format);
    are_codes_ = texture.format.encoding == Encoding::unorm || texture.format.encoding == Encoding::srgb;
    has_values_ = has_floats(texture.format);
    has_floats_ = is_four_floats(texture.format);
    decode_planes_ = plane_decoder(texture.format);
    decode_values_ = value_decoder(texture.format);
    clamps_ = clamps_rows(texture.sampler);
    first_ = level.data + slice * level.slice_pitch;
    pitch_ = static_cast<std::size_t>(level.row_pitch);
    bytes_ = texture.format.bytes;
}

void TexelRows::fetch(const float* x, float y, std::size_t count, Float4* texels) const {
    static_assert(sizeof(Texel) == sizeof(Float4));
    fetch_blocks(x, y, count, [&](const float* xs, const float* ys, std::size_t first, std::size_t length) {
        Texel words[kBlock];
        rows_.fetch(xs, ys, length, words);
        std::transform(words, words + length, texels + first,
                       [&](const Texel& texel) { return floats_of(shape_, texel); });
    });
}

void TexelRows::centers(std::int32_t x, std::int32_t y, std::size_t count, Float4* texels) const {
    const bool inside_y = y >= 0 && y < shape_.height;
    if (decode_ == nullptr || !(inside_y || clamps_)) return centers_outside(x, y, count, texels);
    const auto length = static_cast<std::int32_t>(count);
    const std::int32_t before = std::clamp(-x, 0, length);
    const std::int32_t inside = std::clamp(shape_.width - (x + before), 0, length - before);
    const std::int32_t rest = before + inside;
    const std::int32_t row = std::clamp(y, 0, shape_.height - 1);
    if (inside > 0) decode_(stored(x + before, row), static_cast<std::size_t>(inside), &texels[before].x);
    if (clamps_) {
        if (before > 0) repeat(0, row, before, texels);
        if (rest < length) repeat(shape_.width - 1, row, length - rest, texels + rest);
        return;
    }
    if (before > 0) centers_outside(x, y, static_cast<std::size_t>(before), texels);
    if (rest < length) centers_outside(x + rest, y, static_cast<std::size_t>(length - rest), texels + rest);
}

void TexelRows::repeat(std::int32_t x, std::int32_t y, std::int32_t count, Float4* texels) const {
    Float4 texel;
    decode_(stored(x, y), 1, &texel.x);
    std::fill_n(texels, count, texel);
}

const float* TexelRows::in_place(std::int32_t x, std::int32_t y, std::size_t count) const {
    const bool inside = y >= 0 && y < shape_.height && x >= 0 && x + static_cast<std::int64_t>(count) <= shape_.width;
    return has_floats_ && inside ? reinterpret_cast<const float*>(stored(x, y)) : nullptr;
}

const float* TexelRows::centers_in_place(std::int32_t x, std::int32_t y, std::size_t count, Float4* room) const {
    if (const float* texels = in_place(x, y, count)) return texels;
    centers(x, y, count, room);
    return reinterpret_cast<const float*>(room);
}

void TexelRows::prefetch(std::int32_t x, std::int32_t y, std::size_t count) const {
    constexpr std::size_t kLine = 64;
    const std::int32_t first = std::max(x, 0);
    const auto end =
        static_cast<std::int32_t>(std::min<std::int64_t>(x + static_cast<std::int64_t>(count), shape_.width));
    if (!are_stored() || y < 0 || y >= shape_.height || first >= end) return;
    const std::size_t bytes = static_cast<std::size_t>(end - first) * bytes_;
    for (std::size_t i = 0; i < bytes; i += kLine) hwy::Prefetch(stored(first, y) + i);
}

void TexelRows::centers(std::int32_t x, std::int32_t y, std::size_t count, float* values, ChannelLayout layout) const {
    const std::size_t step = layout.step;
    const auto length = static_cast<std::int32_t>(count);
    const bool inside_y = y >= 0 && y < shape_.height;
    const bool decodes = (step == 1 ? decode_planes_ : decode_values_) != nullptr && (inside_y || clamps_);
    const std::int32_t before = decodes ? std::clamp(-x, 0, length) : length;
    const std::int32_t inside = decodes ? std::clamp(shape_.width - (x + before), 0, length - before) : 0;
    const std::int32_t rest = before + inside;
    const std::int32_t row = std::clamp(y, 0, shape_.height - 1);
    float* const first = values + static_cast<std::size_t>(before) * step;
    float* const after = values + static_cast<std::size_t>(rest) * step;
    if (inside > 0) {
        const unsigned char* const texels = stored(x + before, row);
        if (step == 1) {
            decode_planes_(texels, static_cast<std::size_t>(inside), first, layout.apart);
        } else {
            decode_values_(texels, static_cast<std::size_t>(inside) * step, first, 0);
        }
    }
    if (inside > 0 && clamps_) {
        for (std::size_t c = 0; c < channels_; ++c) {
            const std::size_t channel = c * layout.apart;
            for (std::size_t i = 0; i < static_cast<std::size_t>(before); ++i)
                values[channel + i * step] = first[channel];
            for (std::size_t i = 0; i < static_cast<std::size_t>(length - rest); ++i)
                after[channel + i * step] = (after - step)[channel];
        }
        return;
    }
    fetch_channels(x, y, before, values, layout);
    fetch_channels(x + rest, y, length - rest, after, layout);
}

void TexelRows::fetch_channels(std::int32_t x, std::int32_t y, std::int32_t count, float* values,
                               ChannelLayout layout) const {
    constexpr std::int32_t kTurn = 256;  // texels
    for (std::int32_t begin = 0; begin < count; begin += kTurn) {
        Float4 texels[kTurn];
        const std::int32_t turn = std::min(kTurn, count - begin);
        centers(x + begin, y, static_cast<std::size_t>(turn), texels);
        float* to = values + static_cast<std::size_t>(begin) * layout.step;
        for (std::int32_t i = 0; i < turn; ++i, to += layout.step) {
            const float all[] = {texels[i].x, texels[i].y, texels[i].z, texels[i].w};
            for (std::size_t c = 0; c < channels_; ++c) to[c * layout.apart] = all[c];
        }
    }
}

void TexelRows::centers(std::int32_t x, std::int32_t y, std::size_t count, TexelPlanes& texels) const {
    centers(x, y, count, texels.channel[0], {TexelPlanes::kMax, 1});
    for (std::size_t c = channels_; c < 4; ++c) std::fill_n(texels.channel[c], count, 0.0f);
}

void TexelRows::centers_outside(std::int32_t x, std::int32_t y, std::size_t count, Float4* texels) const {
    const float center_y = static_cast<float>(y) + 0.5f;
    float positions[kBlock];
    for (std::size_t first = 0; first < count; first += kBlock) {
        const std::size_t length = std::min(kBlock, count - first);
        for (std::size_t i = 0; i < length; ++i) {
            const auto column = static_cast<float>(x + static_cast<std::int32_t>(first + i));
            positions[i] = (column + 0.5f) * shape_.x_unit;
        }
        fetch(positions, center_y * shape_.y_unit, length, texels + first);
    }
}

}  // namespace texton::detail
