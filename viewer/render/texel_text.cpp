#include "viewer/render/texel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "viewer/render/stored_texels.h"
#include "viewer/text/value_text.h"

namespace texton::viewer {
namespace {

std::string decimal_of(float value) { return fmt::format("{:.4g}", value); }

std::string word_of(const FormatInfo& format, std::uint32_t bits, float value, bool hexadecimal) {
    if (hexadecimal) return fmt::format("{:0{}x}", bits, format.bits / 4);
    switch (format.kind) {
        case FormatKind::floating: return decimal_of(value);
        case FormatKind::sint:
        case FormatKind::snorm: {
            const int unused = 32 - format.bits;
            return fmt::format("{}", static_cast<std::int32_t>(bits << unused) >> unused);
        }
        case FormatKind::uint:
        case FormatKind::unorm:
        case FormatKind::srgb: return fmt::format("{}", bits);
    }
    return {};
}

}  // namespace

std::vector<std::vector<std::string>> stored_text(const std::shared_ptr<const Document>& document,
                                                  const SubresourceIndex& subresource, const TexelBox& box,
                                                  bool hexadecimal, const CancellationToken& token) {
    const FormatInfo& format = info(document->info(subresource.plane).format);
    const auto channels = static_cast<std::size_t>(format.channels);
    std::vector<Color> values(box.width * box.height);
    StoredTexels(document, subresource, token).read(box, values);
    std::vector<std::vector<std::string>> out(values.size());
    if (format.layout == FormatLayout::block) {
        for (std::size_t i = 0; i < out.size(); ++i) {
            for (std::size_t c = 0; c < channels; ++c)
                out[i].push_back(hexadecimal ? fmt::format("{:08x}", std::bit_cast<std::uint32_t>(values[i][c]))
                                             : decimal_of(values[i][c]));
        }
        return out;
    }
    const std::vector<std::byte> bytes = document->texels(subresource, box, token);
    const std::size_t channel_bytes = format.bits / 8u;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::byte* const texel = bytes.data() + i * format.bytes;
        if (format.layout == FormatLayout::packed) {
            for (const StoredChannel& channel : stored_channels(format.format, {texel, format.bytes}))
                out[i].push_back(hexadecimal ? fmt::format("{:x}", channel.bits) : channel.decimal);
            continue;
        }
        for (std::size_t c = 0; c < channels; ++c) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, texel + c * channel_bytes, channel_bytes);
            out[i].push_back(word_of(format, bits, values[i][c], hexadecimal));
        }
    }
    return out;
}

}  // namespace texton::viewer
