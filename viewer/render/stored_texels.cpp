#include "viewer/render/stored_texels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

#include <texton/copy.h>
#include <texton/sample.h>

#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"
#include "viewer/render/canvas_fetches.h"

namespace texton::viewer {
namespace {

// Returns the decoded values of all code values of a channel, computed with a texture of the CPU device.
template <class Code>
std::vector<float> table_of(Format one_channel) {
    constexpr std::size_t kCodes = std::size_t{1} << (8 * sizeof(Code));
    std::vector<Code> codes(kCodes);
    std::iota(codes.begin(), codes.end(), Code{});
    const Array array(Device::cpu(), {.format = one_channel, .extent = {256, kCodes / 256}});
    copy(array.view(), host_view(static_cast<const void*>(codes.data()), one_channel, array.info().extent));
    std::vector<FetchPoint> points(kCodes);
    for (std::size_t i = 0; i < kCodes; ++i) {
        points[i].x = static_cast<float>(i % 256) + 0.5f;
        points[i].y = static_cast<float>(i / 256) + 0.5f;
    }
    std::vector<float> out(kCodes);
    const Samples read = sample(Texture(array), points);
    for (std::size_t i = 0; i < kCodes; ++i) out[i] = color_of(read.texels[i], one_channel)[0];
    return out;
}

template <class Code>
const std::vector<float>& table(FormatKind kind) {
    constexpr bool kBytes = sizeof(Code) == 1;
    switch (kind) {
        case FormatKind::uint: {
            static const auto all = table_of<Code>(kBytes ? Format::r8_uint : Format::r16_uint);
            return all;
        }
        case FormatKind::sint: {
            static const auto all = table_of<Code>(kBytes ? Format::r8_sint : Format::r16_sint);
            return all;
        }
        case FormatKind::unorm: {
            static const auto all = table_of<Code>(kBytes ? Format::r8_unorm : Format::r16_unorm);
            return all;
        }
        case FormatKind::snorm: {
            static const auto all = table_of<Code>(kBytes ? Format::r8_snorm : Format::r16_snorm);
            return all;
        }
        case FormatKind::floating: {
            static const auto all = table_of<std::uint16_t>(Format::r16_float);
            return all;
        }
        case FormatKind::srgb: {
            static const auto all = table_of<std::uint8_t>(Format::r8_srgb);
            return all;
        }
    }
    std::abort();
}

template <class Code, std::size_t channels>
void look_up(const FormatInfo& format, std::span<const std::byte> bytes, std::span<Color> out) {
    const float* const color = table<Code>(format.kind).data();
    // The last of two or four channels of an sRGB format is not sRGB-encoded.
    const float* const last = format.kind == FormatKind::srgb ? table<Code>(FormatKind::unorm).data() : color;
    for (std::size_t i = 0; i < out.size(); ++i) {
        Code code[channels];
        std::memcpy(code, bytes.data() + i * sizeof code, sizeof code);
        Color value{};
        for (std::size_t c = 0; c < channels; ++c)
            value[c] = (channels % 2 == 0 && c + 1 == channels ? last : color)[code[c]];
        out[i] = value;
    }
}

template <class Code>
void look_up(const FormatInfo& format, std::span<const std::byte> bytes, std::span<Color> out) {
    if (format.channels == 1) return look_up<Code, 1>(format, bytes, out);
    if (format.channels == 2) return look_up<Code, 2>(format, bytes, out);
    look_up<Code, 4>(format, bytes, out);
}

template <std::size_t channels>
void copy_floats(std::span<const std::byte> bytes, std::span<Color> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        Color value{};
        std::memcpy(value.data(), bytes.data() + i * channels * sizeof(float), channels * sizeof(float));
        out[i] = value;
    }
}

void copy_floats(int channels, std::span<const std::byte> bytes, std::span<Color> out) {
    if (channels == 1) return copy_floats<1>(bytes, out);
    if (channels == 2) return copy_floats<2>(bytes, out);
    std::memcpy(out.data(), bytes.data(), out.size_bytes());
}

void decode_text(const FormatInfo& format, std::span<const std::byte> bytes, std::span<Color> out) {
    const auto channels = static_cast<std::size_t>(format.channels);
    for (std::size_t i = 0; i < out.size(); ++i) {
        Texel texel{};
        std::memcpy(texel.channel, bytes.data() + i * channels * 4, channels * 4);
        out[i] = color_of(texel, format.format);
    }
}

void decode_packed(Format format, std::span<const std::byte> bytes, std::span<Color> out) {
    const detail::TexelFormat stored = detail::texel_format(format);
    const auto* texel = reinterpret_cast<const unsigned char*>(bytes.data());
    for (std::size_t i = 0; i < out.size(); ++i, texel += stored.bytes)
        out[i] = color_of(detail::unfiltered_texel(detail::decode_texel(texel, stored, 0, 0), stored), format);
}

}  // namespace

void decode(Format format, std::span<const std::byte> bytes, std::span<Color> out) {
    const FormatInfo& row = info(format);
    if (row.layout == FormatLayout::packed) return decode_packed(format, bytes, out);
    if (row.bits == 8) return look_up<std::uint8_t>(row, bytes, out);
    if (row.bits == 16) return look_up<std::uint16_t>(row, bytes, out);
    if (row.kind == FormatKind::floating) return copy_floats(row.channels, bytes, out);
    decode_text(row, bytes, out);
}

bool StoredTexels::is_fetched() const {
    return info(document_->info(subresource_.plane).format).layout == FormatLayout::block &&
           !document_->is_finer_in_files(subresource_);
}

TexelBox whole_blocks(Format format, const TexelBox& box, Extent subresource) {
    const std::size_t side = block_side(format);
    const auto end = [side](std::size_t last, std::size_t limit) {
        return std::min((last + side - 1) / side * side, limit);
    };
    const std::size_t x = box.x / side * side, y = box.y / side * side;
    return {x, y, end(box.x + box.width, subresource.width) - x, end(box.y + box.height, subresource.height) - y};
}

void decode_box(Format format, std::span<const std::byte> bytes, const TexelBox& blocks, const TexelBox& box,
                std::span<Color> out) {
    if (info(format).layout != FormatLayout::block) return decode(format, bytes, out);
    Array array(Device::cpu(), {.format = format, .extent = {blocks.width, blocks.height}});
    copy(array.view(), host_view(bytes.data(), format, array.info().extent));
    const auto by_itself = Document::of(std::move(array), {});
    StoredTexels(by_itself, {}).read({box.x - blocks.x, box.y - blocks.y, box.width, box.height}, out);
}

TexelBox StoredTexels::blocks_of(const TexelBox& box) const {
    return whole_blocks(document_->info(subresource_.plane).format, box, document_->extent(subresource_));
}

void StoredTexels::read(const TexelBox& box, std::span<Color> out) const {
    if (is_fetched()) return fetch(box, out);
    const TexelBox blocks = blocks_of(box);
    decode_box(document_->info(subresource_.plane).format, document_->texels(subresource_, blocks, token_), blocks, box,
               out);
}

bool StoredTexels::read_at_hand(const TexelBox& box, std::span<Color> out) const {
    if (is_fetched()) {
        fetch(box, out);
        return true;
    }
    const TexelBox blocks = blocks_of(box);
    const std::optional<std::vector<std::byte>> bytes = document_->texels_at_hand(subresource_, blocks);
    if (bytes) decode_box(document_->info(subresource_.plane).format, *bytes, blocks, box, out);
    return bytes.has_value();
}

void StoredTexels::fetch(const TexelBox& box, std::span<Color> out) const {
    const SubresourceIndex subresource = document_->in_array(subresource_);
    const ArrayInfo& array = document_->info(subresource.plane);
    Sampler point;  // exact at the centers of texels
    point.normalized_coordinates = array.kind != ArrayKind::array_2d;
    const SubresourceTexture texture(*document_, subresource, point);
    const double left = static_cast<double>(box.x) + 0.5, top = static_cast<double>(box.y) + 0.5;
    if (array.kind == ArrayKind::array_2d) {
        const std::vector<Color> all = texture.fetch_rows(left, top, 1, 1, box.width, box.height);
        std::copy(all.begin(), all.end(), out.begin());
        return;
    }
    std::vector<FetchPoint> points;
    points.reserve(out.size());
    for (std::size_t y = 0; y < box.height; ++y) {
        for (std::size_t x = 0; x < box.width; ++x)
            points.push_back(texture.at(left + static_cast<double>(x), top + static_cast<double>(y), 0, 0));
    }
    const std::vector<Color> all = texture.fetch_level(points);
    std::copy(all.begin(), all.end(), out.begin());
}

RepeatedTexels::RepeatedTexels(const Document& document, const SubresourceIndex& subresource, int doublings)
    : texels_(document.as_loaded(), document.in_array(subresource)),
      extent_(document.as_loaded()->extent(document.in_array(subresource))),
      doublings_(doublings) {}

void RepeatedTexels::read(const TexelBox& box, std::span<Color> out) const {
    if (doublings_ == 0) return texels_.read(box, out);
    const auto column = [&](std::size_t x) { return std::min(x >> doublings_, extent_.width - 1); };
    const auto row = [&](std::size_t y) { return std::min(y >> doublings_, extent_.height - 1); };
    const std::size_t left = column(box.x), top = row(box.y);
    const TexelBox squares{left, top, column(box.x + box.width - 1) - left + 1, row(box.y + box.height - 1) - top + 1};
    std::vector<Color> texels(squares.width * squares.height);
    texels_.read(squares, texels);
    for (std::size_t y = 0; y < box.height; ++y) {
        const Color* const from = texels.data() + (row(box.y + y) - top) * squares.width;
        for (std::size_t x = 0; x < box.width; ++x) out[y * box.width + x] = from[column(box.x + x) - left];
    }
}

}  // namespace texton::viewer
