#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/recording.h>

#include "arrays/unit/texture_address.h"
#include "core/request.h"

// Random values are computed from the integers of the generator. The distributions of the standard library are not used
// because their results differ between implementations.

namespace texton {
namespace {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}

    /// Returns 0 to count - 1.
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
    std::size_t between(std::size_t lowest, std::size_t highest) { return lowest + below(highest - lowest + 1); }
    bool one_in(std::size_t count) { return below(count) == 0; }
    std::uint32_t bits() { return static_cast<std::uint32_t>(engine_() >> 32); }
    float uniform(float low, float high) { return low + (high - low) * static_cast<float>(bits() >> 8) * 0x1p-24F; }
    template <class T>
    T of(std::initializer_list<T> values) {
        return values.begin()[below(values.size())];
    }

private:
    std::mt19937_64 engine_;
};

bool is_block(Format format) { return info(format).layout == FormatLayout::block; }
bool is_integer(Format format) {
    return info(format).kind == FormatKind::uint || info(format).kind == FormatKind::sint;
}

bool fits(Format format, ArrayKind kind) {
    if (info(format).layout == FormatLayout::planar) return false;
    return !is_block(format) || !(is_flat(kind) || kind == ArrayKind::array_3d);
}

bool fits(FetchOperation operation, ArrayKind kind) {
    switch (operation) {
        case FetchOperation::plain:
        case FetchOperation::lod:
        case FetchOperation::gradients: return true;
        case FetchOperation::gather: return kind == ArrayKind::array_2d;
        case FetchOperation::texel: break;
    }
    return false;
}

ArrayKind draw_kind(Dice& dice, const RecordingChoice& choice) {
    if (choice.kind) return *choice.kind;
    if (choice.operation == FetchOperation::gather) return ArrayKind::array_2d;
    for (;;) {
        const auto kind = static_cast<ArrayKind>(dice.below(7));
        if (!choice.format || fits(*choice.format, kind)) return kind;
    }
}

Format draw_format(Dice& dice, ArrayKind kind) {
    for (;;) {
        const Format format = formats()[dice.below(formats().size())].format;
        if (fits(format, kind)) return format;
    }
}

FetchOperation draw_operation(Dice& dice, ArrayKind kind) {
    for (;;) {
        const auto operation =
            dice.of({FetchOperation::plain, FetchOperation::lod, FetchOperation::gradients, FetchOperation::gather});
        if (fits(operation, kind)) return operation;
    }
}

std::size_t draw_side(Dice& dice, std::size_t longest) {
    return dice.one_in(3)   ? dice.between(1, 5)
           : dice.one_in(3) ? std::size_t{1} << dice.below(6)
                            : dice.between(1, longest);
}

ArrayInfo draw_array(Dice& dice, ArrayKind kind, Format format) {
    ArrayInfo array{.format = format, .extent = {draw_side(dice, 70)}, .kind = kind};
    if (kind == ArrayKind::array_3d) {
        array.extent = {draw_side(dice, 24), draw_side(dice, 24), draw_side(dice, 24)};
    } else if (is_cube(kind)) {
        array.extent.height = array.extent.width;
    } else if (!is_flat(kind)) {
        array.extent.height = draw_side(dice, 70);
    }
    if (is_layered(kind)) array.layers = dice.between(1, 4);
    return array;
}

AddressMode draw_address(Dice& dice, bool normalized) {
    std::vector<AddressMode> modes;
    for (int i = 0; i < detail::kAddressModeCount; ++i) {
        const auto mode = static_cast<AddressMode>(i);
        if (normalized || !detail::address_rule(mode).repeats()) modes.push_back(mode);
    }
    return modes[dice.below(modes.size())];
}

Sampler draw_sampler(Dice& dice, const ArrayInfo& array, FetchOperation operation) {
    Sampler sampler;
    const bool mips = array.levels > 1 || operation == FetchOperation::lod || operation == FetchOperation::gradients;
    sampler.normalized_coordinates = mips || is_cube(array.kind) || dice.one_in(2);
    for (AddressMode& mode : sampler.address) mode = draw_address(dice, sampler.normalized_coordinates);
    const bool filters = !is_integer(array.format);
    sampler.filter = filters && !dice.one_in(3) ? Filter::linear : Filter::point;
    sampler.mip_filter = filters && mips && dice.one_in(2) ? Filter::linear : Filter::point;
    sampler.seamless_cubemap = is_cube(array.kind) && dice.one_in(2);
    sampler.trilinear_optimization = !dice.one_in(3);
    if (operation == FetchOperation::gradients)
        sampler.max_anisotropy = dice.of<std::uint8_t>({1, 1, 1, 2, 3, 4, 8, 16});
    if (mips && dice.one_in(2)) sampler.mip_bias = dice.uniform(-3, 3);
    if (mips && dice.one_in(3)) {
        sampler.mip_min = dice.uniform(0, 4);
        sampler.mip_max = sampler.mip_min + dice.uniform(0, 4);
    }
    for (float& value : sampler.border) value = dice.one_in(4) ? dice.uniform(-3, 3) : dice.uniform(0, 1);
    return sampler;
}

// Random bits give floats of all magnitudes and NaNs. One texture in four (`wild`) has them; the others have floats of
// moderate magnitude.
std::vector<std::byte> draw_texels(Dice& dice, Format format, std::size_t bytes, bool wild) {
    std::vector<std::byte> texels(bytes);
    const FormatInfo& row = info(format);
    const bool tame = !wild && row.layout == FormatLayout::plain && row.kind == FormatKind::floating;
    for (std::size_t at = 0; at < bytes; at += 4) {
        std::uint32_t word = dice.bits();
        if (tame && row.bits == 32) {  // -4 to 4
            const float value = dice.uniform(-4, 4);
            std::memcpy(&word, &value, 4);
        } else if (tame) {  // exponents of -14 to 3
            word = (word & 0x83ff83ffU) | static_cast<std::uint32_t>(dice.between(1, 18)) << 10 |
                   static_cast<std::uint32_t>(dice.between(1, 18)) << 26;
        }
        std::memcpy(&texels[at], &word, std::min<std::size_t>(4, bytes - at));
    }
    return texels;
}

// Returns a coordinate in texels for a dimension of `size` texels.
float draw_coordinate(Dice& dice, std::size_t size) {
    const auto side = static_cast<float>(size);
    if (dice.one_in(40)) {
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        return dice.of({0.0F, -0.0F, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e-40F, -1e-40F,
                        1e30F, -1e30F, 1e9F, -1e9F, 65536.5F});
    }
    if (dice.one_in(4))
        return static_cast<float>(dice.below(4 * size + 4)) / 2 - side / 2;  // edges and centers of texels
    if (dice.one_in(6)) {                                                    // half steps of the filter weights
        const auto steps = static_cast<float>(dice.below(size * 512 + 1));
        return steps / 512;
    }
    return dice.uniform(-0.75F * side, 1.75F * side);
}

float draw_gradient(Dice& dice) {
    if (dice.one_in(30)) return 0;
    const float magnitude = std::ldexp(dice.uniform(1, 2), static_cast<int>(dice.below(10)) - 9);
    return dice.one_in(2) ? magnitude : -magnitude;
}

FetchPoint draw_point(Dice& dice, const ArrayInfo& array, const Sampler& sampler) {
    FetchPoint point;
    const std::size_t sides[3] = {array.extent.width, array.extent.height, array.extent.depth};
    float* const to[3] = {&point.x, &point.y, &point.z};
    for (int i = 0; i < 3; ++i) {
        if (is_cube(array.kind)) {
            *to[i] = dice.one_in(8) ? dice.of({-1.0F, 0.0F, 1.0F, 0.5F}) : dice.uniform(-1, 1);
        } else {
            const float texels = draw_coordinate(dice, sides[i]);
            *to[i] = sampler.normalized_coordinates ? texels / static_cast<float>(sides[i]) : texels;
        }
    }
    if (is_flat(array.kind)) point.y = 0;
    if (!is_cube(array.kind) && array.kind != ArrayKind::array_3d) point.z = 0;
    if (is_layered(array.kind)) point.layer = static_cast<std::int32_t>(dice.below(array.layers + 2)) - 1;
    point.lod = dice.uniform(-2, 8);
    for (int i = 0; i < 3; ++i) {
        point.dx[i] = draw_gradient(dice);
        point.dy[i] = draw_gradient(dice);
    }
    return point;
}

constexpr const char* kObject = "texton::random_recording";

[[noreturn]] void refuse(std::string problem) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = kObject,
                 .problem = std::move(problem),
                 .remedy = "Use another kind, format or operation, or leave one of them unset."});
}

}  // namespace

Recording random_recording(std::uint64_t seed, const RecordingChoice& choice) try {
    if (choice.operation && choice.kind && !fits(*choice.operation, *choice.kind))
        refuse(fmt::format("the operation was requested for {}, which does not support it", name(*choice.kind)));
    if (choice.operation == FetchOperation::texel)
        refuse("texel fetches were requested, which recordings do not support");
    if (choice.format && choice.kind && !fits(*choice.format, *choice.kind))
        refuse(fmt::format("the format {} was requested for {}, which does not support it", name(*choice.format),
                           name(*choice.kind)));
    if (choice.format && !fits(*choice.format, ArrayKind::array_2d))
        refuse(fmt::format("{} was requested, which is a planar format", name(*choice.format)));
    Dice dice(seed);
    const ArrayKind kind = draw_kind(dice, choice);
    const Format format = choice.format ? *choice.format : draw_format(dice, kind);
    Recording recording;
    recording.operation = choice.operation ? *choice.operation : draw_operation(dice, kind);
    recording.array = draw_array(dice, kind, format);
    const bool mipped = recording.operation == FetchOperation::lod || recording.operation == FetchOperation::gradients;
    if (mipped && !dice.one_in(5))
        recording.array.levels =
            static_cast<int>(dice.between(1, static_cast<std::size_t>(full_levels(recording.array))));
    recording.sampler = draw_sampler(dice, recording.array, recording.operation);
    if (recording.operation == FetchOperation::gather) {
        recording.array.usage.gather = true;
        recording.component = static_cast<int>(dice.below(info(format).channels == 3 ? 3 : info(format).channels));
    }
    // A texture of a single row of memory would be linear instead of pitched.
    const bool plain_rows = info(format).layout == FormatLayout::plain && recording.array.extent.height > 1;
    if (kind == ArrayKind::array_2d && recording.operation == FetchOperation::plain && plain_rows && dice.one_in(5))
        recording.source = TextureSource::pitched;
    const bool wild = dice.one_in(4);
    for (int level = 0; level < recording.array.levels; ++level) {
        Extent extent = level_extent(recording.array, level);
        extent.depth = slice_count(recording.array, level);
        recording.levels.push_back(draw_texels(dice, format, packed_bytes(format, extent), wild));
    }
    for (std::size_t i = 0; i < choice.points; ++i)
        recording.points.push_back(draw_point(dice, recording.array, recording.sampler));
    return recording;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kObject);
}

}  // namespace texton
