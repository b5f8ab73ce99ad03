#include "viewer/verify/report_images.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include <texton/format.h>
#include <texton/image.h>
#include <texton/metrics.h>

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

float shown(float value, const FormatInfo& format) {
    if (!(value == value)) return 0;
    switch (format.kind) {
        case FormatKind::unorm:
        case FormatKind::srgb: return value;
        case FormatKind::snorm: return value * 0.5f + 0.5f;
        case FormatKind::uint: return value / std::ldexp(1.0f, format.bits);
        case FormatKind::sint: return value / std::ldexp(1.0f, format.bits) + 0.5f;
        case FormatKind::floating: break;
    }
    if (value <= 0.0031308f) return 12.92f * value;  // floats are linear light
    return 1.055f * std::pow(std::min(value, 1.0f), 1 / 2.4f) - 0.055f;
}

std::byte code_of(float value) { return static_cast<std::byte>(std::lround(255 * std::clamp(value, 0.0f, 1.0f))); }

unsigned brightness(const std::byte* texel) {
    return std::to_integer<unsigned>(texel[0]) + std::to_integer<unsigned>(texel[1]) +
           std::to_integer<unsigned>(texel[2]);
}

using Texel = std::array<std::byte, 4>;

// Combines the texels of a box that is inside of the image.
Texel combined(const ShownImage& image, const Region& box, Reduction reduction) {
    std::array<unsigned, 4> sums{};
    const std::byte* brightest = nullptr;
    for (std::size_t y = box.offset.y; y < box.offset.y + box.extent.height; ++y)
        for (std::size_t x = box.offset.x; x < box.offset.x + box.extent.width; ++x) {
            const std::byte* texel = &image.texels[(y * image.extent.width + x) * 4];
            if (brightest == nullptr || brightness(texel) > brightness(brightest)) brightest = texel;
            for (std::size_t c = 0; c < 4; ++c) sums[c] += std::to_integer<unsigned>(texel[c]);
        }
    Texel out{};
    if (reduction == Reduction::brightest) {
        std::memcpy(out.data(), brightest, out.size());
        return out;
    }
    const auto count = static_cast<unsigned>(box.extent.width * box.extent.height);
    for (std::size_t c = 0; c < 4; ++c) out[c] = static_cast<std::byte>((sums[c] + count / 2) / count);
    return out;
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t word = 0;
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t b = 0; b < 3; ++b) {
            const std::uint32_t byte = b < count ? static_cast<unsigned char>(bytes[i + b]) : 0U;
            word = word << 8 | byte;
        }
        for (std::size_t letter = 0; letter < 4; ++letter)
            out += letter <= count ? kLetters[word >> (18 - 6 * letter) & 63] : '=';
    }
    return out;
}

}  // namespace

std::vector<float> shown_values(const HostImage& image) {
    const FormatInfo& format = info(image.format);
    std::vector<float> values = read_channels(image.view());
    for (std::size_t i = 0; i < values.size(); i += 4) {
        for (std::size_t c = 0; c < 4; ++c) values[i + c] = c < format.channels ? shown(values[i + c], format) : 0;
        if (format.channels == 1) values[i + 1] = values[i + 2] = values[i];
    }
    return values;
}

Extent flat(const Extent& extent) noexcept { return {extent.width, extent.height * extent.depth}; }

ShownImage opaque(Extent extent, const std::vector<float>& values) {
    ShownImage out{extent, std::vector<std::byte>(values.size())};
    for (std::size_t i = 0; i < values.size(); ++i) out.texels[i] = i % 4 == 3 ? std::byte{255} : code_of(values[i]);
    return out;
}

AmplifiedDifference amplified_difference(Extent extent, const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> difference(a.size());
    float largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const float each = std::abs(std::clamp(a[i], 0.0f, 1.0f) - std::clamp(b[i], 0.0f, 1.0f));
        difference[i] = each;
        largest = std::max(largest, each);
    }
    const float factor = largest > 0 ? 1 / largest : 1;
    for (std::size_t i = 0; i < a.size(); i += 4)
        for (std::size_t c = 0; c < 3; ++c) difference[i + c] = std::max(difference[i + c], difference[i + 3]) * factor;
    return {opaque(extent, difference), factor};
}

ShownImage reduced(const ShownImage& image, std::size_t factor, Reduction reduction) {
    const Extent& from = image.extent;
    ShownImage out{{(from.width + factor - 1) / factor, (from.height + factor - 1) / factor}, {}};
    out.texels.resize(out.extent.width * out.extent.height * 4);
    std::byte* to = out.texels.data();
    for (std::size_t y = 0; y < from.height; y += factor)
        for (std::size_t x = 0; x < from.width; x += factor, to += 4) {
            const Extent box{std::min(factor, from.width - x), std::min(factor, from.height - y)};
            const Texel texel = combined(image, {{x, y}, box}, reduction);
            std::memcpy(to, texel.data(), texel.size());
        }
    return out;
}

ShownImage cropped(const ShownImage& image, const Region& region) {
    ShownImage out{{region.extent.width, region.extent.height}, {}};
    out.texels.resize(region.extent.width * region.extent.height * 4);
    for (std::size_t y = 0; y < region.extent.height; ++y) {
        const std::size_t from = (region.offset.y + y) * image.extent.width + region.offset.x;
        std::memcpy(&out.texels[y * region.extent.width * 4], &image.texels[from * 4], region.extent.width * 4);
    }
    return out;
}

void write_png(const fs::path& path, const ShownImage& image) {
    write_image(path, Format::rgba8_unorm, image.extent, image.texels);
}

std::string data_url(const fs::path& png) {
    std::ifstream file(png, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    return "data:image/png;base64," + base64(bytes);
}

}  // namespace texton::verify
