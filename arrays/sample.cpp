#include <texton/sample.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/texture_state.h"
#include "arrays/unit/affine_map.h"
#include "arrays/written_image.h"
#include "core/backing.h"
#include "core/request.h"
#include "core/transfer.h"

namespace texton {
namespace {

using detail::TextureState;

constexpr const char* kSample = "texton::sample";

[[noreturn]] void refuse(std::string problem, std::string remedy, std::vector<ErrorNumber> numbers = {}) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = kSample,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

const char* source_name(TextureSource source) noexcept {
    switch (source) {
        case TextureSource::array: return "an array";
        case TextureSource::linear: return "a row of memory";
        case TextureSource::pitched: return "rows of memory";
    }
    return "";
}

void check_gather(const TextureState& texture, int component) {
    if (component < 0 || component > 3) {
        refuse(fmt::format("component {} was requested", component), "Use a component from 0 to 3.");
    }
    if (texture.source != TextureSource::array || texture.kind != ArrayKind::array_2d) {
        refuse(fmt::format("gather was requested from {} of kind {}", source_name(texture.source), name(texture.kind)),
               "Use a texture of a 2D array.");
    }
    if (!texture.gathers) {
        refuse("gather was requested, but the array was created without ArrayUsage::gather",
               "Create the array with ArrayUsage::gather.");
    }
}

void check_operation(const TextureState& texture, const SampleOptions& options) {
    const bool row = texture.source == TextureSource::linear;
    switch (options.operation) {
        case FetchOperation::texel:
            if (!row) {
                refuse(fmt::format("texel fetches were requested from {}", source_name(texture.source)),
                       "Create a texture of a row of memory, or use FetchOperation::plain at the center of the texel.");
            }
            return;
        case FetchOperation::plain:
            if (row) refuse("plain fetches were requested from a row of memory", "Use FetchOperation::texel.");
            return;
        case FetchOperation::lod:
        case FetchOperation::gradients:
            if (texture.source != TextureSource::array) {
                refuse(fmt::format("{} was requested from {}, which has no levels",
                                   options.operation == FetchOperation::lod ? "a level of detail" : "gradients",
                                   source_name(texture.source)),
                       row ? "Use FetchOperation::texel." : "Use FetchOperation::plain.");
            }
            return;
        case FetchOperation::gather: check_gather(texture, options.component); return;
    }
    refuse("the operation is not a value of FetchOperation", "Use an enumerator of FetchOperation.");
}

void check_residency(const TextureState& texture) {
    if (texture.source != TextureSource::array) {
        refuse(fmt::format("residency was requested from {}, which is always resident", source_name(texture.source)),
               "Turn SampleOptions::residency off.");
    }
    const bool has_flag = texture.kind == ArrayKind::array_2d || texture.kind == ArrayKind::array_3d ||
                          texture.kind == ArrayKind::layered_2d;
    if (has_flag) return;
    refuse(fmt::format("residency was requested from a texture of kind {}", name(texture.kind)),
           "Turn SampleOptions::residency off, or use a texture of kind array_2d, array_3d or layered_2d.");
}

// Checks the source of the texture, and locks its mapping until the fetches are complete.
detail::BackingUse use_source(const Texture& texture) {
    detail::refuse_while_recording(kSample, "sampling without a stream");
    detail::check_source(kSample, texture);
    return {kSample, detail::source_of(texture.state())};
}

void fetch(const TextureState& texture, std::span<const FetchPoint> points, const SampleOptions& options,
           std::span<Texel> texels, std::span<std::uint8_t> resident) {
    if (points.empty()) return;
    detail::request(texture.backend, kSample, {{"points", points.size()}},
                    [&] { texture.sampling->sample(texture.handle, points, options, texels, resident); });
}

// --- images ----------------------------------------------------------------------------------------------------------

bool has_integers(Format format) noexcept {
    const FormatKind kind = info(format).kind;
    return kind == FormatKind::uint || kind == FormatKind::sint;
}

void check_map(const AffineMap& map) {
    struct Field {
        const char* name;
        float value;
    };
    const Field fields[] = {{"xx", map.xx}, {"xy", map.xy}, {"x0", map.x0},
                            {"yx", map.yx}, {"yy", map.yy}, {"y0", map.y0}};
    for (const Field& field : fields) {
        if (std::isfinite(field.value)) continue;
        refuse(fmt::format("{} of the map is {}", field.name, field.value), "Use finite numbers.");
    }
}

void check_image_shape(const detail::MemoryLocation& image) {
    if (image.kind == MemoryKind::array) {
        refuse("the image is an array", "Sample into memory of the device, then copy() the image to the array.");
    }
    const Extent& extent = image.extent;
    if (extent.depth == 1) return;
    refuse(fmt::format("the image has {} pixels, but only one slice is supported", to_string(extent)),
           "Select a slice with region().",
           {{"width", extent.width}, {"height", extent.height}, {"depth", extent.depth}});
}

void check_image_format(const TextureState& texture, Format image) {
    if (has_integers(texture.format) == has_integers(image)) return;
    const auto numbers = [](Format format) { return has_integers(format) ? "integers" : "floats"; };
    refuse(fmt::format("a texture of {} returns {}, but an image of {} stores {}", name(texture.format),
                       numbers(texture.format), name(image), numbers(image)),
           has_integers(image) ? "Use an image of a format with unorm, snorm, srgb or float channels."
                               : "Use an image of a format with uint or sint channels.");
}

void sample_grid(const Texture& texture, const AffineMap& map, const View& image, const Stream* stream) try {
    const TextureState& state = *texture.state();
    check_operation(state, {});
    if (state.kind != ArrayKind::array_2d && state.kind != ArrayKind::layered_2d) {
        refuse(fmt::format("an image was requested from a texture of kind {}", name(state.kind)),
               "Use sample() with a FetchPoint for each fetch.");
    }
    check_map(map);
    detail::check_source(kSample, texture);
    const detail::MemoryLocation location = detail::written_image(kSample, image, *state.backend);
    check_image_shape(location);
    check_image_format(state, location.format);
    detail::check_apart(kSample, texture, location);
    const detail::GridRequest request{&location, map, info(state.format).kind == FormatKind::sint};
    const std::initializer_list<detail::Number> numbers = {{"width", location.extent.width},
                                                           {"height", location.extent.height}};
    if (stream == nullptr) {
        detail::refuse_while_recording(kSample, "sampling without a stream");
        const detail::BackingUse use(kSample, detail::source_of(texture.state()));
        detail::request(state.backend, kSample, numbers,
                        [&] { state.sampling->sample_grid(state.handle, request, nullptr); });
        return;
    }
    detail::check_stream(*stream, state.backend, state.backend, kSample);
    detail::keep_if_recorded(*texture.state());
    const detail::StreamHandle handle = stream->state()->handle;
    detail::BackingUse use(kSample, *stream, detail::source_of(texture.state()));
    detail::request(state.backend, kSample, numbers,
                    [&] { state.sampling->sample_grid(state.handle, request, &handle); });
    use.enqueued();
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kSample);
}

// --- texels as floats ------------------------------------------------------------------------------------------------

float to_float(std::uint32_t bits, FormatKind kind) noexcept {
    switch (kind) {
        case FormatKind::uint: return static_cast<float>(bits);
        case FormatKind::sint: return static_cast<float>(static_cast<std::int32_t>(bits));
        case FormatKind::floating:
        case FormatKind::unorm:
        case FormatKind::snorm:
        case FormatKind::srgb: break;
    }
    return std::bit_cast<float>(bits);
}

std::array<float, 4> to_floats(const Texel& texel, const FormatInfo& format) noexcept {
    std::array<float, 4> floats{0, 0, 0, 1};
    for (std::size_t c = 0; c < format.channels; ++c) floats[c] = to_float(texel.channel[c], format.kind);
    return floats;
}

}  // namespace

Samples sample(const Texture& texture, std::span<const FetchPoint> points, const SampleOptions& options) try {
    const TextureState& state = *texture.state();
    check_operation(state, options);
    if (options.residency) check_residency(state);
    const detail::BackingUse use = use_source(texture);
    Samples samples;
    samples.texels.resize(points.size());
    if (options.residency) samples.resident.resize(points.size());
    fetch(state, points, options, samples.texels, samples.resident);
    return samples;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kSample);
}

std::vector<std::array<float, 4>> sample(const Texture& texture, std::span<const Point2> points) try {
    const TextureState& state = *texture.state();
    check_operation(state, {});
    if (state.kind != ArrayKind::array_2d) {
        refuse(fmt::format("points with two coordinates were given for a texture of kind {}", name(state.kind)),
               "Use sample() with a FetchPoint for each fetch.");
    }
    const detail::BackingUse use = use_source(texture);
    constexpr std::size_t kPiece = std::size_t{1} << 18;  // points that are converted at a time
    std::vector<FetchPoint> wide(std::min(points.size(), kPiece));
    std::vector<Texel> texels(wide.size());
    std::vector<std::array<float, 4>> results(points.size());
    const FormatInfo& format = info(state.format);
    for (std::size_t begin = 0; begin < points.size(); begin += kPiece) {
        const std::size_t count = std::min(kPiece, points.size() - begin);
        for (std::size_t i = 0; i < count; ++i) {
            wide[i].x = points[begin + i].x;
            wide[i].y = points[begin + i].y;
        }
        fetch(state, std::span(wide).first(count), {}, std::span(texels).first(count), {});
        for (std::size_t i = 0; i < count; ++i) results[begin + i] = to_floats(texels[i], format);
    }
    return results;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kSample);
}

void sample(const Texture& texture, const AffineMap& map, const View& image) {
    sample_grid(texture, map, image, nullptr);
}

void sample(const Texture& texture, const AffineMap& map, const View& image, const Stream& stream) {
    sample_grid(texture, map, image, &stream);
}

}  // namespace texton
