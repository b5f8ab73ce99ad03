// A pattern is a functor without textures, which launch() runs on the CPU device. Its values are therefore converted to
// the texel format in the same way as the values of all other kernels.
#include "viewer/verify/pattern.h"

#include <algorithm>
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

constexpr std::pair<const char*, PatternKind> kPatterns[] = {{"noise", PatternKind::noise},
                                                             {"gradient", PatternKind::gradient},
                                                             {"zone_plate", PatternKind::zone_plate},
                                                             {"checker", PatternKind::checker},
                                                             {"special", PatternKind::special},
                                                             {"ties", PatternKind::ties},
                                                             {"transparent", PatternKind::transparent},
                                                             {"steps", PatternKind::steps},
                                                             {"smooth", PatternKind::smooth}};

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

// The pattern smooth: plane waves, three in each channel. A texel adds sin(x + y) = sin x cos y + cos x sin y of each
// wave, so sines are computed only once for each column and each row of the part.
class Waves {
public:
    static constexpr std::size_t kPerChannel = 3;
    static constexpr std::size_t kCount = 4 * kPerChannel;
    using Sines = std::array<SineCosine, kCount>;

    Waves(std::uint32_t seed, const Region& part) {
        for (std::uint32_t wave = 0; wave < kCount; ++wave) {
            const auto bits = [&](std::uint32_t which) {
                return mixed(mixed(seed + 0x9e3779b9U) ^ (4 * wave + which));
            };
            const double share = bits(0) / 4294967296.0;
            const std::size_t range = wave % kPerChannel;
            const double period = kPeriods[range] + share * (kPeriods[range + 1] - kPeriods[range]);
            const SineCosine direction = sine_cosine_of(static_cast<float>(bits(1) >> 8) / 16777216.0f);
            const std::uint32_t phase = bits(2);
            const std::uint32_t across = steps(static_cast<double>(direction.cosine) / period);
            const std::uint32_t down = steps(static_cast<double>(direction.sine) / period);
            fill(columns_, wave, part.offset.x, part.extent.width, across, phase);
            fill(rows_, wave, part.offset.y, part.extent.height, down, 0);
            fill(slices_, wave, part.offset.z, part.extent.depth, steps(1 / period), 0);
        }
    }

    Float4 at(std::size_t column, std::size_t row, std::size_t slice) const {
        float sums[4];
        for (std::size_t c = 0; c < 4; ++c) {
            float sum = 0;
            for (std::size_t i = 0; i < kPerChannel; ++i) {
                const std::size_t wave = c * kPerChannel + i;
                const SineCosine x = sum_of(columns_[column][wave], slices_[slice][wave]), y = rows_[row][wave];
                sum += kAmplitudes[i] * (x.sine * y.cosine + x.cosine * y.sine);
            }
            sums[c] = 0.5f + sum;
        }
        return {sums[0], sums[1], sums[2], sums[3]};
    }

private:
    static constexpr double kPeriods[] = {40, 186, 862, 4000};       // texels; each wave of a channel has its own range
    static constexpr float kAmplitudes[] = {0.006f, 0.044f, 0.45f};  // of short waves to long ones; their sum is 1/2

    // Angles are counted in steps of 2^-32 turns, so that they are exact at any position.
    static std::uint32_t steps(double turns) {
        return static_cast<std::uint32_t>(static_cast<std::int64_t>(std::llround(turns * 4294967296.0)));
    }
    static SineCosine sum_of(const SineCosine& a, const SineCosine& b) {
        return {a.sine * b.cosine + a.cosine * b.sine, a.cosine * b.cosine - a.sine * b.sine};
    }
    static void fill(std::vector<Sines>& all, std::uint32_t wave, std::size_t first, std::size_t count,
                     std::uint32_t step, std::uint32_t phase) {
        all.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t angle = phase + static_cast<std::uint32_t>(first + i) * step;
            all[i][wave] = sine_cosine_of(static_cast<float>(angle >> 8) / 8388608.0f);
        }
    }

    std::vector<Sines> columns_, rows_, slices_;
};

struct Drawing {
    PatternKind kind;
    std::uint32_t seed;
    float low;
    float high;
    Extent extent;
    Offset first;                    // texel of the image at the first pixel
    std::span<const float> special;  // values of the pattern special
    std::uint32_t interval;          // one of so many texels of the pattern special has special values
    const Waves* waves;              // of the pattern smooth

    Float4 operator()(PixelPosition pixel) const {
        if (kind == PatternKind::smooth) {
            return scaled(waves->at(static_cast<std::size_t>(pixel.x), static_cast<std::size_t>(pixel.y),
                                    static_cast<std::size_t>(pixel.z)));
        }
        const PixelPosition at{pixel.x + static_cast<std::int32_t>(first.x),
                               pixel.y + static_cast<std::int32_t>(first.y),
                               pixel.z + static_cast<std::int32_t>(first.z)};
        const Float4 drawn = scaled(color_of(at));
        return kind == PatternKind::special ? with_special(at, drawn) : drawn;
    }

private:
    Float4 scaled(Float4 color) const {
        const float span = high - low;
        return {low + color.x * span, low + color.y * span, low + color.z * span, low + color.w * span};
    }
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
            case PatternKind::smooth: break;
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

std::optional<PatternKind> pattern_named(std::string_view name) noexcept {
    const auto* found = std::ranges::find(kPatterns, name, [](const auto& row) { return std::string_view(row.first); });
    return found != std::end(kPatterns) ? std::optional(found->second) : std::nullopt;
}

void draw_part(const Pattern& pattern, Format format, Extent image, const Region& part, std::byte* packed) {
    const FormatLayout layout = info(format).layout;
    if (layout == FormatLayout::planar || layout == FormatLayout::block) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = "texton::verify::draw_part",
                     .problem = fmt::format("the pattern cannot be drawn in {}", name(format)),
                     .remedy = "Use a format without blocks and planes."});
    }
    const Device device = Device::cpu();
    const Stream stream(device);
    const auto [low, high] = pattern.range.value_or(full_range(format));
    const std::vector<float> special = special_values(format, low, high);
    const std::uint32_t interval = info(format).kind == FormatKind::floating ? 24 : 3;
    std::optional<Waves> waves;
    if (pattern.kind == PatternKind::smooth) waves.emplace(pattern.seed, part);
    const Linear memory(device, format, part.extent);
    const View view = memory.view(format, part.extent);
    launch(stream, view,
           Drawing{pattern.kind, pattern.seed, low, high, image, part.offset, special, interval,
                   waves ? &*waves : nullptr});
    stream.synchronize();
    copy(host_view(packed, format, part.extent), view);
}

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
    for (std::size_t level = 0; level < array.levels.size(); ++level) {
        HostImage& image = array.levels[level];
        Pattern of_level = pattern;
        of_level.seed += static_cast<std::uint32_t>(level);
        if (blocks) {
            fill_with_noise(image.texels, of_level.seed);
        } else {
            draw_part(of_level, info.format, image.extent, {{}, image.extent}, image.texels.data());
        }
    }
    return array;
}

}  // namespace texton::verify
