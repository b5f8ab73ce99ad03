// Slices, projections and ray marching of volumes.
#include <texton/volume.h>

#include <texton/float_math.h>
#include <texton/launch.h>

#include "kernels/launch/checks.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

constexpr const char* kSlice = "texton::volume_slice";
constexpr const char* kProjection = "texton::volume_projection";
constexpr const char* kMarch = "texton::volume_march";

// --- coordinates -----------------------------------------------------------------------------------------------------

TEXTON_HD inline Vector3 operator+(const Vector3& a, const Vector3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
TEXTON_HD inline Vector3 operator*(const Vector3& a, float scale) { return {a.x * scale, a.y * scale, a.z * scale}; }
TEXTON_HD inline float dot(const Vector3& a, const Vector3& b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }

template <class Source>
TEXTON_HD Float4 fetch_at(const Source& source, const Vector3& position) {
    return source.at_texel(position.x, position.y, position.z);
}

/// The plane of the image, with the steps from a pixel to its right neighbor and to the neighbor below, in texels.
struct Plane {
    Vector3 origin;
    Vector3 right;
    Vector3 below;

    TEXTON_HD Vector3 position(PixelPosition at) const {
        return (right * at.center_x() + below * at.center_y()) + origin;
    }
};

/// The steps of the rays that start at the pixels of a plane.
struct Rays {
    Plane plane;
    Vector3 step;
    std::int32_t steps;

    TEXTON_HD Vector3 position(const Vector3& start, std::int32_t index) const {
        return step * (static_cast<float>(index) + 0.5f) + start;
    }
};

TEXTON_HD inline bool is_inside(const SourceShape& volume, const Vector3& at) {
    return at.x >= 0 && at.y >= 0 && at.z >= 0 && at.x < static_cast<float>(volume.width) &&
           at.y < static_cast<float>(volume.height) && at.z < static_cast<float>(volume.depth);
}

// --- functors --------------------------------------------------------------------------------------------------------

struct Slice {
    static constexpr bool kMayBeCalledWithZeros = false;  // the fetches of volumes would only be repeated
    Plane plane;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return fetch_at(source, plane.position(at));
    }
};

template <Projection projection>
struct Projected {
    static constexpr bool kMayBeCalledWithZeros = false;  // the fetches of volumes would only be repeated
    static constexpr unsigned kPixels = 1;
    Rays rays;
    Float4 background;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Vector3 start = rays.plane.position(at);
        Float4 result{};
        std::int32_t count = 0;
        for (std::int32_t i = 0; i < rays.steps; ++i) {
            const Vector3 position = rays.position(start, i);
            if (!is_inside(source, position)) continue;
            const Float4 value = fetch_at(source, position);
            result = count == 0 ? value : combine(result, value);
            ++count;
        }
        if (count == 0) return background;
        if constexpr (projection != Projection::mean) return result;
        const auto all = static_cast<float>(count);
        return {result.x / all, result.y / all, result.z / all, result.w / all};
    }

private:
    TEXTON_HD static Float4 combine(const Float4& a, const Float4& b) {
        if constexpr (projection == Projection::maximum) return max(a, b);
        if constexpr (projection == Projection::minimum) return min(a, b);
        return a + b;
    }
};

struct March {
    static constexpr bool kMayBeCalledWithZeros = false;  // the fetches of volumes would only be repeated
    static constexpr unsigned kPixels = 1;
    static constexpr float kOpaque = 0.999f;
    Rays rays;
    float low;
    float scale;     // texels of the transfer function per unit of value
    float last;      // index of its last texel
    float exponent;  // exponent of the transparency: length of a step / opaque_length
    bool shading;
    Vector3 light;  // unit vector
    float ambient;
    Float4 background;

    template <class Source, class Transfer>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source, const Transfer& transfer) const {
        const Vector3 start = rays.plane.position(at);
        Float4 sum{};
        for (std::int32_t i = 0; i < rays.steps && sum.w < kOpaque; ++i) {
            const Vector3 position = rays.position(start, i);
            if (!is_inside(source, position)) continue;
            const Float4 color = transfer.at_texel(texel_of(fetch_at(source, position).x) + 0.5f);
            if (!(color.w > 0)) continue;
            const float alpha = 1.0f - pow_of(1.0f - color.w, exponent);
            const float share = (1.0f - sum.w) * alpha;
            const float lit = shading ? share * reflected(source, position) : share;
            sum += Float4{color.x * lit, color.y * lit, color.z * lit, share};
        }
        return sum + background * (1.0f - sum.w);
    }

private:
    /// Returns the coordinate of a value in the transfer function, in texels from the center of the first one; 0 for
    /// NaN.
    TEXTON_HD float texel_of(float value) const {
        const float texel = (value - low) * scale;
        if (!(texel > 0)) return 0;
        return texel < last ? texel : last;
    }
    /// Returns the part of the light that the surface of equal values reflects, or 1 where the gradient is 0.
    template <class Source>
    TEXTON_HD float reflected(const Source& source, const Vector3& at) const {
        const Vector3 slope{source.at_texel(at.x + 1.0f, at.y, at.z).x - source.at_texel(at.x - 1.0f, at.y, at.z).x,
                            source.at_texel(at.x, at.y + 1.0f, at.z).x - source.at_texel(at.x, at.y - 1.0f, at.z).x,
                            source.at_texel(at.x, at.y, at.z + 1.0f).x - source.at_texel(at.x, at.y, at.z - 1.0f).x};
        const float length = sqrtf(dot(slope, slope));
        if (!(length > 0)) return 1.0f;
        return ambient + (1.0f - ambient) * (fabsf(dot(slope, light)) / length);
    }
};

// --- checks ----------------------------------------------------------------------------------------------------------

void check_vector(const char* object, const std::string& name, const Vector3& vector) {
    detail::check_finite(object, (name + ".x").c_str(), vector.x);
    detail::check_finite(object, (name + ".y").c_str(), vector.y);
    detail::check_finite(object, (name + ".z").c_str(), vector.z);
}

Float4 color_of(const std::array<float, 4>& color) { return {color[0], color[1], color[2], color[3]}; }

Plane plane_of(const char* object, const View& image, const Texture& texture, const VolumePlane& plane) {
    detail::check_kind(object, "texture", texture, {ArrayKind::array_3d});
    detail::check_slices(object, image, texture);
    check_vector(object, "origin", plane.origin);
    check_vector(object, "across", plane.across);
    check_vector(object, "down", plane.down);
    const auto divided = [](const Vector3& edge, std::size_t pixels) {
        const auto count = static_cast<float>(pixels);
        return Vector3{edge.x / count, edge.y / count, edge.z / count};
    };
    return {plane.origin, divided(plane.across, image.extent().width), divided(plane.down, image.extent().height)};
}

Rays rays_of(const char* object, const View& image, const Texture& texture, const VolumeView& view) {
    const Plane plane = plane_of(object, image, texture, view.plane);
    check_vector(object, "along", view.along);
    detail::check_range(object, "steps", view.steps, 1, 65536);
    const auto count = static_cast<float>(view.steps);
    return {plane, {view.along.x / count, view.along.y / count, view.along.z / count}, view.steps};
}

void check_transfer(const Texture& transfer) {
    detail::check_kind(kMarch, "transfer", transfer, {ArrayKind::array_1d});
    detail::check_floats(kMarch, "transfer", transfer);
    if (transfer.source() == TextureSource::linear)
        detail::refuse_argument(kMarch, "transfer is a texture of a row of memory, which cannot be filtered",
                                "Create the texture from a 1D array.");
    if (info(transfer.format()).channels < 4)
        detail::refuse_argument(kMarch, "transfer has no alpha", "Use a texture with four channels.");
}

}  // namespace

void volume_slice(const Stream& stream, const View& image, const Texture& texture, const VolumePlane& plane) try {
    const Slice slice{plane_of(kSlice, image, texture, plane)};
    detail::launch_as(kSlice, stream, image, slice, texture);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::volume_slice");
}

void volume_projection(const Stream& stream, const View& image, const Texture& texture, const VolumeView& view,
                       Projection projection, const std::array<float, 4>& background) try {
    const Rays rays = rays_of(kProjection, image, texture, view);
    const Float4 color = color_of(background);
    const auto enqueue = [&](const auto& functor) { detail::launch_as(kProjection, stream, image, functor, texture); };
    switch (projection) {
        case Projection::maximum: return enqueue(Projected<Projection::maximum>{rays, color});
        case Projection::minimum: return enqueue(Projected<Projection::minimum>{rays, color});
        case Projection::mean: return enqueue(Projected<Projection::mean>{rays, color});
    }
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::volume_projection");
}

void volume_march(const Stream& stream, const View& image, const Texture& texture, const Texture& transfer,
                  const VolumeView& view, const MarchOptions& options) try {
    const Rays rays = rays_of(kMarch, image, texture, view);
    check_transfer(transfer);
    detail::check_finite(kMarch, "low", options.low);
    detail::check_finite(kMarch, "high", options.high);
    detail::check_positive(kMarch, "high - low", options.high - options.low);
    detail::check_positive(kMarch, "opaque_length", options.opaque_length);
    detail::check_range(kMarch, "ambient", options.ambient, 0, 1);
    check_vector(kMarch, "light", options.light);
    const float brightness = sqrtf(dot(options.light, options.light));
    detail::check_positive(kMarch, "the length of the vector light", brightness);
    const float length = sqrtf(dot(rays.step, rays.step));
    detail::check_positive(kMarch, "the length of a step", length);
    const auto last = static_cast<float>(transfer.extent().width - 1);
    const March march{rays,
                      options.low,
                      last / (options.high - options.low),
                      last,
                      length / options.opaque_length,
                      options.shading,
                      options.light * (1.0f / brightness),
                      options.ambient,
                      color_of(options.background)};
    detail::launch_as(kMarch, stream, image, march, texture, transfer);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::volume_march");
}

// --- named kernels ---------------------------------------------------------------------------------------------------

namespace {

Vector3 vector_at(const std::vector<double>& numbers, std::size_t first) {
    return {static_cast<float>(numbers[first]), static_cast<float>(numbers[first + 1]),
            static_cast<float>(numbers[first + 2])};
}

std::array<float, 4> background_of(const Arguments& arguments) {
    const std::vector<double>& numbers = arguments.numbers("background");
    std::array<float, 4> color{};
    for (std::size_t i = 0; i < color.size(); ++i) color[i] = static_cast<float>(numbers[i]);
    return color;
}

/// Returns the plane of a whole slice at depth z, in texels.
VolumePlane whole_slice(Extent volume, float z) {
    return {{0, 0, z}, {static_cast<float>(volume.width), 0, 0}, {0, static_cast<float>(volume.height), 0}};
}

VolumePlane plane_of(const Arguments& arguments, Extent volume) {
    const std::vector<double>& plane = arguments.numbers("plane");
    if (plane == std::vector<double>(9)) return whole_slice(volume, 0.5f * static_cast<float>(volume.depth));
    return {vector_at(plane, 0), vector_at(plane, 3), vector_at(plane, 6)};
}

VolumeView view_of(const Arguments& arguments, Extent volume) {
    const std::vector<double>& numbers = arguments.numbers("view");
    const auto depth = static_cast<float>(volume.depth);
    VolumeView view{whole_slice(volume, 0), {0, 0, depth}, arguments.integer("steps")};
    if (numbers != std::vector<double>(12))
        view = {{vector_at(numbers, 0), vector_at(numbers, 3), vector_at(numbers, 6)},
                vector_at(numbers, 9),
                arguments.integer("steps")};
    if (view.steps == 0) {
        const float length = ceilf(sqrtf(dot(view.along, view.along)));
        view.steps = !(length >= 1.0f) ? 1 : length > 65536.0f ? 65536 : static_cast<std::int32_t>(length);
    }
    return view;
}

ParameterInfo numbers_parameter(const char* name, const char* summary, std::size_t count) {
    ParameterInfo parameter;
    parameter.name = name;
    parameter.kind = ParameterKind::numbers;
    parameter.summary = summary;
    parameter.standard = std::vector<double>(count);
    parameter.count = count;
    return parameter;
}

std::vector<ParameterInfo> view_parameters() {
    return {numbers_parameter(
                "view",
                "upper left corner, upper edge, left edge and ray, x y z each, in texels; all 0 means through "
                "the whole volume along z",
                12),
            {.name = "steps",
             .kind = ParameterKind::integer,
             .summary = "fetches along a ray; 0 means one per texel",
             .standard = 0.0,
             .lowest = 0,
             .highest = 65536},
            numbers_parameter("background", "premultiplied color behind the volume", 4)};
}

Kernel volume_kernel(const char* name, const char* summary) {
    Kernel kernel;
    kernel.info.name = name;
    kernel.info.group = "volume";
    kernel.info.summary = summary;
    kernel.info.inputs = {{"volume", "volume to show", {ArrayKind::array_3d}}};
    // The last input determines the format: the volume, or the colors of the transfer function.
    kernel.shapes = [](const Arguments&, std::span<const Texture> inputs) {
        const Extent volume = inputs[0].extent();
        return std::vector<ImageShape>{
            {{volume.width, volume.height}, detail::shape_like(inputs[inputs.size() - 1]).format}};
    };
    return kernel;
}

}  // namespace

Kernel detail::volume_slice_kernel() {
    Kernel kernel = volume_kernel("volume_slice", "cuts a slice from a volume, at any angle");
    kernel.info.parameters = {numbers_parameter(
        "plane",
        "upper left corner, upper edge and left edge, x y z each, in texels; all 0 means the slice at "
        "the center",
        9)};
    kernel.enqueue = [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
                        std::span<const Texture> inputs) {
        volume_slice(stream, images[0], inputs[0], plane_of(arguments, inputs[0].extent()));
    };
    return kernel;
}

Kernel detail::volume_projection_kernel() {
    Kernel kernel =
        volume_kernel("volume_projection", "computes the highest, lowest or mean value of a volume along each ray");
    kernel.info.parameters = view_parameters();
    kernel.info.parameters.push_back({.name = "projection",
                                      .kind = ParameterKind::choice,
                                      .summary = "how the values along a ray are combined",
                                      .standard = "maximum",
                                      .choices = {"maximum", "minimum", "mean"}});
    kernel.enqueue = [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
                        std::span<const Texture> inputs) {
        volume_projection(stream, images[0], inputs[0], view_of(arguments, inputs[0].extent()),
                          arguments.choice<Projection>("projection"), background_of(arguments));
    };
    return kernel;
}

Kernel detail::volume_march_kernel() {
    Kernel kernel = volume_kernel("volume_march", "renders a volume by ray marching, with a transfer function");
    kernel.info.inputs.push_back({"transfer", "color and opacity of each value", {ArrayKind::array_1d}});
    kernel.info.parameters = view_parameters();
    kernel.info.parameters.push_back({.name = "range",
                                      .kind = ParameterKind::numbers,
                                      .summary = "values at the transfer function's first and last texel",
                                      .standard = std::vector<double>{0, 1},
                                      .count = 2});
    kernel.info.parameters.push_back(
        {.name = "opaque_length",
         .kind = ParameterKind::number,
         .summary = "length of a ray, in texels, to which the transfer function's opacity refers",
         .standard = 1.0});
    kernel.info.parameters.push_back({.name = "shading",
                                      .kind = ParameterKind::flag,
                                      .summary = "light surfaces of equal values with a distant light",
                                      .standard = false});
    kernel.info.parameters.push_back({.name = "light",
                                      .kind = ParameterKind::numbers,
                                      .summary = "direction toward the light, x y z",
                                      .standard = std::vector<double>{0, 0, -1},
                                      .count = 3});
    kernel.info.parameters.push_back({.name = "ambient",
                                      .kind = ParameterKind::number,
                                      .summary = "part of the light that is ambient",
                                      .standard = 0.3,
                                      .lowest = 0,
                                      .highest = 1});
    kernel.enqueue = [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
                        std::span<const Texture> inputs) {
        const std::vector<double>& range = arguments.numbers("range");
        MarchOptions options;
        options.low = static_cast<float>(range[0]);
        options.high = static_cast<float>(range[1]);
        options.opaque_length = static_cast<float>(arguments.number("opaque_length"));
        options.shading = arguments.flag("shading");
        options.light = vector_at(arguments.numbers("light"), 0);
        options.ambient = static_cast<float>(arguments.number("ambient"));
        options.background = background_of(arguments);
        volume_march(stream, images[0], inputs[0], inputs[1], view_of(arguments, inputs[0].extent()), options);
    };
    return kernel;
}

}  // namespace texton
