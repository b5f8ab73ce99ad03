// A pattern is a functor without textures, which launch() runs on the CPU device. Its values are therefore converted to
// the texel format in the same way as the values of all other kernels.
#include "viewer/verify/pattern.h"

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/float_math.h>
#include <texton/launch.h>
#include <texton/linear.h>

namespace texton::verify {
namespace {

// Mixes 32 bits: each input bit changes about half of the output bits.
std::uint32_t mixed(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    x ^= x >> 16;
    return x;
}

// The special values of a format.
std::vector<float> special_values(Format format, float low, float high) {
    const FormatInfo& row = info(format);
    if (row.kind != FormatKind::floating) {
        const float step =
            row.kind == FormatKind::uint || row.kind == FormatKind::sint ? 1 : 1 / std::ldexp(1.0f, row.bits);
        return {low, high, low + step, high - step, (low + high) / 2, 0};
    }
    using Limits = std::numeric_limits<float>;
    const bool is_half = row.bits < 32;
    const float largest = is_half ? 65504.0f : Limits::max();
    return {Limits::quiet_NaN(),
            Limits::infinity(),
            -Limits::infinity(),
            -0.0f,
            0,
            largest,
            -largest,
            is_half ? 0x1p-24f : Limits::denorm_min(),
            is_half ? 0x1p-14f : Limits::min(),
            -1};
}

struct Drawing {
    PatternKind kind;
    std::uint32_t seed;
    float low;
    float high;
    Extent extent;
    std::span<const float> special;  // values of the pattern special
    std::uint32_t interval;          // one of so many texels of the pattern special has special values

    Float4 operator()(PixelPosition at) const {
        const Float4 color = color_of(at);
        const float span = high - low;
        const Float4 drawn{low + color.x * span, low + color.y * span, low + color.z * span, low + color.w * span};
        return kind == PatternKind::special ? with_special(at, drawn) : drawn;
    }

private:
    Float4 color_of(PixelPosition at) const {
        switch (kind) {
            case PatternKind::noise:
            case PatternKind::special: return {random(at, 0), random(at, 1), random(at, 2), random(at, 3)};
            case PatternKind::gradient: return gradient(at);
            case PatternKind::zone_plate: return zone_plate(at);
            case PatternKind::checker: return checker(at);
            case PatternKind::ties: return {tie(at, 0), tie(at, 1), tie(at, 2), tie(at, 3)};
            case PatternKind::transparent: return transparent(at);
            case PatternKind::steps: return {step(at, 0), step(at, 1), step(at, 2), step(at, 3)};
        }
        return {};
    }

    std::uint32_t random_bits(std::int32_t x, std::int32_t y, std::int32_t z, std::uint32_t channel) const {
        std::uint32_t value = mixed(seed + 0x9e3779b9U);
        for (const auto part : {x, y, z}) value = mixed(value ^ static_cast<std::uint32_t>(part));
        return mixed(value ^ channel);
    }
    float random(PixelPosition at, std::uint32_t channel) const {
        return static_cast<float>(random_bits(at.x, at.y, at.z, channel) >> 8) / 16777215.0f;
    }
    // All channels, or one of them, are special.
    Float4 with_special(PixelPosition at, Float4 color) const {
        const std::uint32_t bits = random_bits(at.x, at.y, at.z, 4);
        if (bits % interval != 0) return color;
        const std::uint32_t which = bits / interval % 5;
        float* const channels[4] = {&color.x, &color.y, &color.z, &color.w};
        for (std::uint32_t c = 0; c < 4; ++c)
            if (which == c || which == 4) *channels[c] = special[random_bits(at.x, at.y, at.z, 5 + c) % special.size()];
        return color;
    }
    float tie(PixelPosition at, std::uint32_t channel) const {
        return (static_cast<float>(random_bits(at.x, at.y, at.z, channel) % 255) + 0.5f) / 255.0f;
    }
    Float4 transparent(PixelPosition at) const {
        Float4 color{random(at, 0), random(at, 1), random(at, 2), random(at, 3)};
        switch (random_bits(at.x / 4, at.y / 3, at.z, 4) % 4) {
            case 0:
            case 1: color.w = 0; break;
            case 2: color.w = 1; break;
            default: break;
        }
        return color;
    }
    float step(PixelPosition at, std::uint32_t channel) const {
        const std::uint32_t bits = random_bits(at.x / 4, at.y / 3, at.z, channel);
        switch (bits % 4) {
            case 0: return 0;
            case 1: return 1;
            default: return static_cast<float>(bits >> 8) / 16777215.0f;
        }
    }
    static float share(float center, std::size_t side) { return center / static_cast<float>(side); }
    Float4 gradient(PixelPosition at) const {
        const float x = share(at.center_x(), extent.width);
        const float y = share(at.center_y(), extent.height);
        const float z = share(at.center_z(), extent.depth);
        return {x, y, (x + y + z) / 3.0f, 1.0f - y * 0.5f};
    }
    Float4 zone_plate(PixelPosition at) const {
        const float x = at.center_x() - static_cast<float>(extent.width) * 0.5f;
        const float y = at.center_y() - static_cast<float>(extent.height) * 0.5f;
        const float half_turns = (x * x + y * y) / static_cast<float>(extent.width) + static_cast<float>(at.z) * 0.25f;
        const float gray = 0.5f + 0.5f * sine_cosine_of(half_turns).cosine;
        return {gray, gray, gray, 1.0f};
    }
    static Float4 checker(PixelPosition at) {
        constexpr std::int32_t kSide = 4;
        const bool bright = (at.x / kSide + at.y / kSide + at.z) % 2 != 0;
        return bright ? Float4{1.0f, 0.875f, 0.25f, 1.0f} : Float4{0.0f, 0.125f, 0.5f, 0.75f};
    }
};

std::array<float, 2> full_range(Format format) {
    const FormatInfo& row = info(format);
    switch (row.kind) {
        case FormatKind::uint: return {0, std::ldexp(1.0f, row.bits) - 1};
        case FormatKind::sint: return {-std::ldexp(1.0f, row.bits - 1), std::ldexp(1.0f, row.bits - 1) - 1};
        case FormatKind::snorm: return {-1, 1};
        case FormatKind::floating:
        case FormatKind::unorm:
        case FormatKind::srgb: return {0, 1};
    }
    return {};
}

void fill_with_noise(std::vector<std::byte>& bytes, std::uint32_t seed) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(mixed(mixed(seed + 0x9e3779b9U) ^ static_cast<std::uint32_t>(i)));
}

}  // namespace

HostArray draw(const Pattern& pattern, const ArrayInfo& info) {
    const FormatLayout layout = texton::info(info.format).layout;
    const bool blocks = layout == FormatLayout::block;
    if (layout == FormatLayout::planar || (blocks && pattern.kind != PatternKind::noise)) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = "texton::verify::draw",
                     .problem = fmt::format("the pattern cannot be drawn in {}", name(info.format)),
                     .remedy = blocks ? "Use the pattern noise." : "Draw each plane as an image of its own."});
    }
    HostArray array(info);
    const Device device = Device::cpu();
    const Stream stream(device);
    const auto [low, high] = pattern.range.value_or(full_range(info.format));
    const std::vector<float> special = special_values(info.format, low, high);
    const std::uint32_t interval = texton::info(info.format).kind == FormatKind::floating ? 24 : 3;
    for (std::size_t level = 0; level < array.levels.size(); ++level) {
        HostImage& image = array.levels[level];
        const std::uint32_t seed = pattern.seed + static_cast<std::uint32_t>(level);
        if (blocks) {
            fill_with_noise(image.texels, seed);
            continue;
        }
        const Linear memory(device, info.format, image.extent);
        const View view = memory.view(info.format, image.extent);
        launch(stream, view, Drawing{pattern.kind, seed, low, high, image.extent, special, interval});
        stream.synchronize();
        copy(image.view(), view);
    }
    return array;
}

}  // namespace texton::verify
