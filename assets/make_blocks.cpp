// Simple encoders of block-compressed texels and the files that contain them. The end points of a block are the two
// texels that lie farthest apart along the principal direction of the block's colors. Each texel gets the nearest color
// of the palette. BC6H uses mode 11 and BC7 mode 6, which have one color line per block.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "assets/make.h"

namespace assets {
namespace {

using Color = std::array<int, 4>;

class BitWriter {
public:
    explicit BitWriter(std::size_t bytes) : bytes_(bytes) {}
    void put(std::uint32_t value, int bits) {
        for (int i = 0; i < bits; ++i, ++position_) {
            if ((value >> i & 1) != 0) bytes_[position_ / 8] |= static_cast<std::uint8_t>(1 << position_ % 8);
        }
    }
    const Bytes& bytes() const { return bytes_; }

private:
    Bytes bytes_;
    std::size_t position_ = 0;
};

long squared_distance(const Color& a, const Color& b, std::size_t channels) {
    long sum = 0;
    for (std::size_t c = 0; c < channels; ++c) sum += static_cast<long>(a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

// Returns the two texels that lie farthest apart along the principal direction.
std::pair<Color, Color> ends_of(const BlockTexels& texels, std::size_t channels) {
    std::array<double, 4> mean{}, direction{};
    for (const Color& texel : texels) {
        for (std::size_t c = 0; c < channels; ++c) mean[c] += texel[c] / 16.0;
    }
    for (std::size_t c = 0; c < channels; ++c) direction[c] = 1 + 0.1 * static_cast<double>(c);
    const auto along = [&](const Color& texel) {
        double sum = 0;
        for (std::size_t c = 0; c < channels; ++c) sum += (texel[c] - mean[c]) * direction[c];
        return sum;
    };
    for (int step = 0; step < 8; ++step) {  // power iteration on the covariance
        std::array<double, 4> next{};
        double length = 0;
        for (const Color& texel : texels) {
            const double weight = along(texel);
            for (std::size_t c = 0; c < channels; ++c) next[c] += weight * (texel[c] - mean[c]);
        }
        for (const double each : next) length += each * each;
        if (length == 0) break;
        for (std::size_t c = 0; c < channels; ++c) direction[c] = next[c] / std::sqrt(length);
    }
    const auto [low, high] = std::minmax_element(texels.begin(), texels.end(),
                                                 [&](const Color& a, const Color& b) { return along(a) < along(b); });
    return {*low, *high};
}

std::size_t nearest(const std::vector<Color>& palette, const Color& texel, std::size_t channels) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < palette.size(); ++i) {
        if (squared_distance(palette[i], texel, channels) < squared_distance(palette[best], texel, channels)) best = i;
    }
    return best;
}

// --- BC1, BC2, BC3 --------------------------------------------------------------------------------------------------

std::uint32_t to_565(const Color& color) {
    const auto bits = [&](std::size_t c, int maximum) {
        return static_cast<std::uint32_t>((color[c] * maximum + 127) / 255);
    };
    return bits(0, 31) << 11 | bits(1, 63) << 5 | bits(2, 31);
}

Color from_565(std::uint32_t code) {
    const auto widened = [](std::uint32_t value, int maximum) {
        return (static_cast<int>(value) * 255 + maximum / 2) / maximum;
    };
    return {widened(code >> 11, 31), widened(code >> 5 & 63, 63), widened(code & 31, 31), 255};
}

// Writes a color block: four colors if the first code is larger, or, with `cut_out`, three colors and transparent
// black.
void put_colors(BitWriter& out, const BlockTexels& texels, bool cut_out) {
    BlockTexels solid = texels;
    for (Color& texel : solid) {
        if (cut_out && texel[3] < 128)
            texel = *std::max_element(texels.begin(), texels.end(), [](auto& a, auto& b) { return a[3] < b[3]; });
    }
    const auto [low, high] = ends_of(solid, 3);
    std::uint32_t end0 = to_565(high), end1 = to_565(low);
    if ((end0 < end1) != cut_out) std::swap(end0, end1);
    const Color first = from_565(end0), second = from_565(end1);
    const bool three = end0 <= end1;  // also if both end points are equal
    std::vector<Color> palette{first, second};
    for (int i = 1; i <= (three ? 1 : 2); ++i) {
        Color between{};
        for (std::size_t c = 0; c < 3; ++c)
            between[c] = three ? (first[c] + second[c]) / 2 : ((3 - i) * first[c] + i * second[c]) / 3;
        palette.push_back(between);
    }
    out.put(end0, 16);
    out.put(end1, 16);
    for (const Color& texel : texels) {
        const bool hole = cut_out && texel[3] < 128;
        out.put(hole ? 3 : static_cast<std::uint32_t>(nearest(palette, texel, 3)), 2);
    }
}

// --- BC3 alpha, BC4, BC5 --------------------------------------------------------------------------------------------

// Writes eight values from the maximum to the minimum.
void put_channel(BitWriter& out, const BlockTexels& texels, std::size_t channel) {
    const auto [low, high] = std::minmax_element(
        texels.begin(), texels.end(), [&](const Color& a, const Color& b) { return a[channel] < b[channel]; });
    const int first = (*high)[channel], last = (*low)[channel];
    std::vector<Color> palette{{first}, {last}};
    for (int i = 1; i < 7; ++i) {
        const double value = ((7 - i) * first + i * last) / 7.0;
        palette.push_back({static_cast<int>(std::lround(value))});
    }
    if (first == last) palette.resize(1);
    out.put(static_cast<std::uint8_t>(first), 8);
    out.put(static_cast<std::uint8_t>(last), 8);
    for (const Color& texel : texels) out.put(static_cast<std::uint32_t>(nearest(palette, {texel[channel]}, 1)), 3);
}

// --- BC6H, BC7 ------------------------------------------------------------------------------------------------------

constexpr std::array<int, 16> kWeights{0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64};

// Returns the indices of the texels in a palette of 16 colors between the end points. The format does not store the
// highest bit of the first texel's index, so that bit must be 0: if it is 1, the end points are swapped.
std::array<std::uint32_t, 16> line_codes(const BlockTexels& texels, Color& end0, Color& end1, std::size_t channels,
                                         const std::function<Color(const Color&)>& decoded) {
    for (;;) {
        const Color first = decoded(end0), last = decoded(end1);
        std::vector<Color> palette;
        for (const int weight : kWeights) {
            Color between{};
            for (std::size_t c = 0; c < channels; ++c)
                between[c] = (first[c] * (64 - weight) + last[c] * weight + 32) >> 6;
            palette.push_back(between);
        }
        std::array<std::uint32_t, 16> codes;
        for (std::size_t i = 0; i < 16; ++i)
            codes[i] = static_cast<std::uint32_t>(nearest(palette, texels[i], channels));
        if (codes[0] < 8) return codes;
        std::swap(end0, end1);
    }
}

void put_codes(BitWriter& out, const std::array<std::uint32_t, 16>& codes) {
    for (std::size_t i = 0; i < 16; ++i) out.put(codes[i], i == 0 ? 3 : 4);
}

// --- block-compressed images -----------------------------------------------------------------------------------------

// Returns a texel of a level; x and y range from 0 to 1.
using Shader = Color (*)(float x, float y);
using Encoder = Bytes (*)(const BlockTexels&);

std::vector<Bytes> levels_of(int side, Shader shader, Encoder encoder) {
    std::vector<Bytes> levels;
    for (; side > 0; side /= 2) {
        Bytes& level = levels.emplace_back();
        for (int y = 0; y < side; y += 4) {
            for (int x = 0; x < side; x += 4) {
                BlockTexels texels;
                for (int i = 0; i < 16; ++i) {
                    const auto center = [&](int at) {
                        return (static_cast<float>(std::min(at, side - 1)) + 0.5f) / static_cast<float>(side);
                    };
                    texels[static_cast<std::size_t>(i)] = shader(center(x + i % 4), center(y + i / 4));
                }
                const Bytes block = encoder(texels);
                level.insert(level.end(), block.begin(), block.end());
            }
        }
    }
    return levels;
}

// A ball in front of a colored background, transparent at its rim.
Color ball(float x, float y) {
    const float dx = 2 * x - 1, dy = 2 * y - 1, r = std::sqrt(dx * dx + dy * dy);
    const Rgb ground = hue(0.6f * x + 0.3f * y);
    const float light = std::max(0.0f, 1 - std::hypot(dx + 0.3f, dy + 0.35f));
    const float inside = std::clamp((0.85f - r) * 12, 0.0f, 1.0f);
    Color out;
    for (std::size_t c = 0; c < 3; ++c) out[c] = byte_of(ground[c] * (0.35f + 0.65f * light));
    out[3] = byte_of(inside);
    return out;
}

// Surface slopes of the ball, -127 to 127.
Color ball_normal(float x, float y) {
    const float dx = 2 * x - 1, dy = 2 * y - 1, r = std::sqrt(dx * dx + dy * dy);
    if (r > 0.85f) return {0, 0, 0, 0};
    return {static_cast<int>(std::lround(127 * dx / 0.85f)), static_cast<int>(std::lround(127 * dy / 0.85f)), 0, 0};
}

// Returns the bits of the half float nearest to a positive value.
int half_bits(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value * 0x1p-112f);
    return static_cast<int>(std::min<std::uint32_t>((bits + 0x1000) >> 13, 0x7bff));
}

// The ball with lighting: up to 16 times brighter.
Color ball_light(float x, float y) {
    const Color color = ball(x, y);
    const float light = 1 + 15 * std::max(0.0f, 1 - 2 * std::hypot(2 * x - 0.7f, 2 * y - 0.65f));
    Color out{};
    for (std::size_t c = 0; c < 3; ++c) out[c] = half_bits(static_cast<float>(color[c]) / 255 * light);
    return out;
}

}  // namespace

Bytes encode_bc1(const BlockTexels& texels) {
    BitWriter out(8);
    put_colors(out, texels, std::any_of(texels.begin(), texels.end(), [](const Color& t) { return t[3] < 128; }));
    return out.bytes();
}

Bytes encode_bc2(const BlockTexels& texels) {
    BitWriter out(16);
    for (const Color& texel : texels) out.put(static_cast<std::uint32_t>((texel[3] * 15 + 127) / 255), 4);
    put_colors(out, texels, false);
    return out.bytes();
}

Bytes encode_bc3(const BlockTexels& texels) {
    BitWriter out(16);
    put_channel(out, texels, 3);
    put_colors(out, texels, false);
    return out.bytes();
}

Bytes encode_bc4(const BlockTexels& texels) {
    BitWriter out(8);
    put_channel(out, texels, 0);
    return out.bytes();
}

Bytes encode_bc5_snorm(const BlockTexels& texels) {
    BitWriter out(16);
    put_channel(out, texels, 0);
    put_channel(out, texels, 1);
    return out.bytes();
}

Bytes encode_bc6h(const BlockTexels& texels) {
    // The decoder scales interpolated values by 31/64 to the bits of half floats. End points store the upper 10 of 16
    // bits.
    const auto stretched = [](const Color& color) {
        Color out{};
        for (std::size_t c = 0; c < 3; ++c) out[c] = std::min(color[c] * 64 / 31, 65535);
        return out;
    };
    const auto decoded = [](const Color& code) {
        Color out{};
        for (std::size_t c = 0; c < 3; ++c) out[c] = code[c] == 0 ? 0 : code[c] == 1023 ? 65535 : (code[c] << 6) + 32;
        return out;
    };
    BlockTexels wide;
    std::transform(texels.begin(), texels.end(), wide.begin(), stretched);
    auto [end0, end1] = ends_of(wide, 3);
    for (Color* end : {&end0, &end1}) {
        for (std::size_t c = 0; c < 3; ++c) (*end)[c] >>= 6;
    }
    const auto codes = line_codes(wide, end0, end1, 3, decoded);
    BitWriter out(16);
    out.put(0b00011, 5);
    for (const Color* end : {&end0, &end1}) {
        for (std::size_t c = 0; c < 3; ++c) out.put(static_cast<std::uint32_t>((*end)[c]), 10);
    }
    put_codes(out, codes);
    return out.bytes();
}

Bytes encode_bc7(const BlockTexels& texels) {
    // Seven bits per channel, and one bit that all channels of an end point share. The shared bit is that of alpha, so
    // 255 stays 255.
    const auto rounded = [](Color end) {
        const int shared = end[3] & 1;
        for (int& channel : end) channel = std::clamp((channel - shared + 1) & ~1, 0, 254) | shared;
        return end;
    };
    auto [end0, end1] = ends_of(texels, 4);
    end0 = rounded(end0);
    end1 = rounded(end1);
    const auto codes = line_codes(texels, end0, end1, 4, [](const Color& end) { return end; });
    BitWriter out(16);
    out.put(1 << 6, 7);
    for (std::size_t c = 0; c < 4; ++c) {
        for (const Color* end : {&end0, &end1}) out.put(static_cast<std::uint32_t>((*end)[c] >> 1), 7);
    }
    for (const Color* end : {&end0, &end1}) out.put(static_cast<std::uint32_t>((*end)[3] & 1), 1);
    put_codes(out, codes);
    return out.bytes();
}

void make_blocks(const std::string& folder) {
    constexpr int kSide = 64;
    Bytes texels;
    for (int y = 0; y < kSide; ++y) {
        for (int x = 0; x < kSide; ++x) {
            const Color texel = ball((static_cast<float>(x) + 0.5f) / kSide, (static_cast<float>(y) + 0.5f) / kSide);
            for (const int channel : texel) texels.push_back(static_cast<std::uint8_t>(channel));
        }
    }
    OIIO::ImageSpec spec(kSide, kSide, 4, OIIO::TypeDesc::UINT8);
    spec.attribute("oiio:UnassociatedAlpha", 1);
    write(folder + "/ball.png", spec, OIIO::TypeDesc::UINT8, texels.data());

    struct File {
        const char* name;
        Dxgi format;
        Shader shader;
        Encoder encoder;
    };
    for (const File& file : {File{"bc1", Dxgi::bc1_unorm, ball, encode_bc1},
                             {"bc2", Dxgi::bc2_unorm, ball, encode_bc2},
                             {"bc3", Dxgi::bc3_unorm, ball, encode_bc3},
                             {"bc4", Dxgi::bc4_unorm, ball, encode_bc4},
                             {"bc5_snorm", Dxgi::bc5_snorm, ball_normal, encode_bc5_snorm},
                             {"bc6h", Dxgi::bc6h_ufloat, ball_light, encode_bc6h},
                             {"bc7", Dxgi::bc7_unorm, ball, encode_bc7}}) {
        write_dds(folder + "/" + file.name + ".dds", {.format = file.format,
                                                      .width = kSide,
                                                      .height = kSide,
                                                      .parts = {levels_of(kSide, file.shader, file.encoder)}});
    }
}

}  // namespace assets
