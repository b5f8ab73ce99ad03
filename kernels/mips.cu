// Levels of a mip chain, each computed from the level above. kernels/functors/mip_functors.h defines the filters.
#include <texton/mips.h>

#include <algorithm>
#include <string>
#include <vector>

#include <texton/launch.h>

#include "arrays/texture_state.h"
#include "arrays/unit/texture_address.h"
#include "kernels/functors/mip_chain.h"
#include "kernels/launch/checks.h"
#include "kernels/launch/dispatch.h"
#include "kernels/launch/registry.h"

namespace texton {
namespace {

using namespace mip;

constexpr const char* kMakeMips = "texton::make_mips";

// --- a level ---------------------------------------------------------------------------------------------------------

template <class Texels>
void enqueue_with(const Texels& texels, detail::Launch& launch, const Step& step, const MipOptions& options) {
    const Sides sides = sides_between(step.from, step.level.extent());
    const auto enqueue = [&](const auto& functor) { detail::run<1>(launch, functor); };
    switch (options.filter) {
        case MipFilter::box: return enqueue(Mean<Texels, Box>{texels, {}, sides, options.alpha_weighted});
        case MipFilter::kaiser:
            return enqueue(Mean<Texels, Kaiser>{
                texels, {options.kaiser_width, options.kaiser_alpha, options.address}, sides, options.alpha_weighted});
        case MipFilter::min: return enqueue(Extreme<Texels>{texels, sides, false});
        case MipFilter::max: return enqueue(Extreme<Texels>{texels, sides, true});
    }
}

void enqueue_level(detail::Launch& launch, const Step& step, const MipOptions& options) {
    const auto enqueue = [&](const auto& texels) { enqueue_with(texels, launch, step, options); };
    if (step.memory) return enqueue(*step.memory);
    switch (step.above.kind()) {
        case ArrayKind::array_1d:
            if (step.above.source() == TextureSource::linear) return enqueue(TexelsOfMemory{0, 0});
            return enqueue(TexelsOf<ArrayKind::array_1d>{});
        case ArrayKind::array_2d: return enqueue(TexelsOf<ArrayKind::array_2d>{});
        case ArrayKind::array_3d: return enqueue(TexelsOf<ArrayKind::array_3d>{});
        case ArrayKind::layered_1d: return enqueue(TexelsOf<ArrayKind::layered_1d>{});
        case ArrayKind::layered_2d: return enqueue(TexelsOf<ArrayKind::layered_2d>{});
        case ArrayKind::cubemap: return enqueue(TexelsOf<ArrayKind::cubemap>{});
        case ArrayKind::cubemap_layered: return enqueue(TexelsOf<ArrayKind::cubemap_layered>{});
    }
}

void enqueue_levels(const Stream& stream, std::span<const Step> steps, const MipOptions& options) {
    std::vector<detail::Launch> launches;
    for (const Step& step : steps) {
        const Texture above = detail::by_points(step.above);
        launches.emplace_back(kMakeMips, stream, step.level, std::span(&above, 1), detail::Overlap::refused);
    }
    for (std::size_t done = 0; done < steps.size();) {
        const std::span<detail::Launch> left = std::span(launches).subspan(done);
        const std::size_t made = detail::device_kernels(left[0]).make_mips(left, {steps.subspan(done), options});
        if (made == 0) enqueue_level(left[0], steps[done], options);
        done += std::max<std::size_t>(made, 1);
    }
}

// --- levels in memory ------------------------------------------------------------------------------------------------

/// Returns the extent of the first level. As in Array::view(), the depth counts slices, layers or faces.
Extent sides_of(const Texture& texture) {
    Extent sides = texture.extent();
    if (texture.kind() == ArrayKind::array_3d) return sides;
    sides.depth = (is_layered(texture.kind()) ? texture.layers() : 1) * (is_cube(texture.kind()) ? 6 : 1);
    return sides;
}

Extent half_of(const Extent& sides, ArrayKind kind) {
    const auto half = [](std::size_t side) { return side > 1 ? side / 2 : 1; };
    return {half(sides.width), half(sides.height), kind == ArrayKind::array_3d ? half(sides.depth) : sides.depth};
}

void check_sides(std::span<const View> levels, const Texture& finest) {
    Extent sides = sides_of(finest);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        sides = half_of(sides, finest.kind());
        if (levels[i].extent() == sides) continue;
        detail::refuse_argument(kMakeMips, detail::level_name(i) + " is " + to_string(levels[i].extent()),
                                "Pass a level of " + to_string(sides) + ", half of the level above.");
    }
}

/// Throws Error{bad_argument} unless a texture can read the level, to compute the next level.
void check_readable(const View& level, std::size_t index) {
    const FormatLayout layout = info(level.format()).layout;
    if (layout != FormatLayout::plain && layout != FormatLayout::packed)
        detail::refuse_argument(kMakeMips,
                                detail::level_name(index) + " has format " + std::string(name(level.format())),
                                "Pass memory of a plain or packed format.");
    if (level.kind() == MemoryKind::array)
        detail::refuse_argument(kMakeMips, detail::level_name(index) + " is a part of an array",
                                "Pass memory, or call make_mips() with the array.");
    if (level.location().owner == nullptr)  // the texture would be destroyed at the end of this call
        detail::refuse_argument(kMakeMips, detail::level_name(index) + " is memory that Texton does not own",
                                "Pass memory of Linear or Pitched2D.");
}

/// A level that a texture of memory reads. Such textures have no slices, so the texture reads the level as a single
/// row, whose row pitch and slice pitch are whole numbers of texels.
struct Row {
    Texture texture;
    TexelsOfMemory texels;
};

Row row_of(const View& level) {
    const std::size_t texel = info(level.format()).bytes;
    const Extent sides = level.extent();
    const std::size_t bytes = (sides.depth - 1) * level.slice_pitch() + (sides.height - 1) * level.pitch() +
                              row_bytes(level.format(), sides.width);
    detail::MemoryLocation row = level.location();
    row.extent = {bytes / texel};
    row.pitch = bytes;
    row.slice_pitch = bytes;
    return {Texture(ConstView(row)),
            {static_cast<std::int32_t>(level.pitch() / texel), static_cast<std::int32_t>(level.slice_pitch() / texel)}};
}

// --- checks ----------------------------------------------------------------------------------------------------------

void check_options(const MipOptions& options, Format format) {
    const bool fractions = info(format).kind != FormatKind::uint && info(format).kind != FormatKind::sint;
    if (options.filter == MipFilter::kaiser) {
        detail::check_range(kMakeMips, "kaiser_width", options.kaiser_width, 1, kWidestKaiser);
        detail::check_range(kMakeMips, "kaiser_alpha", options.kaiser_alpha, 0, 10);
        if (detail::address_rule(options.address).border)
            detail::refuse_argument(kMakeMips, "address is border", "Use clamp, wrap or mirror.");
        if (!fractions)
            detail::refuse_argument(kMakeMips,
                                    "filter is kaiser, but " + std::string(name(format)) + " reads as integers",
                                    "Use box, min or max.");
    }
    if (!options.alpha_weighted) return;
    if (options.filter == MipFilter::min || options.filter == MipFilter::max)
        detail::refuse_argument(kMakeMips, "alpha_weighted was requested, but min and max compute no mean",
                                "Use box or kaiser.");
    if (!fractions || info(format).channels < 4)
        detail::refuse_argument(
            kMakeMips,
            "alpha_weighted was requested, but " + std::string(name(format)) + " has no alpha that reads as float",
            "Turn alpha_weighted off, or use a format with four channels that reads as floats.");
}

}  // namespace

void make_mips(const Stream& stream, const Array& array, const MipOptions& options) try {
    const ArrayInfo& made = array.info();
    check_options(options, made.format);
    std::vector<Step> steps;
    for (int level = 1; level < made.levels; ++level) {
        const Texture above(array, {.normalized_coordinates = true}, {.first_level = level - 1, .levels = 1});
        steps.push_back(
            {array.view({.level = level}), above, array.view({.level = level - 1}).extent(), made.kind, {}});
    }
    enqueue_levels(stream, steps, options);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::make_mips");
}

void make_mips(const Stream& stream, std::span<const View> levels, const Texture& finest,
               const MipOptions& options) try {
    check_options(options, finest.format());
    check_sides(levels, finest);
    if (levels.empty()) return;
    std::vector<Step> steps{{levels[0], finest, sides_of(finest), finest.kind(), {}}};
    for (std::size_t i = 1; i < levels.size(); ++i) {
        check_readable(levels[i - 1], i - 1);
        const Row above = row_of(levels[i - 1]);
        steps.push_back({levels[i], above.texture, levels[i - 1].extent(), finest.kind(), above.texels});
    }
    enqueue_levels(stream, steps, options);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory("texton::make_mips");
}

Kernel detail::mips_kernel() {
    KernelInfo info;
    info.name = "mips";
    info.group = "mips";
    info.summary = "computes the smaller levels of an image's mip chain";
    info.inputs = {{"image",
                    "image whose first level is level 0 of the chain",
                    {ArrayKind::array_2d, ArrayKind::layered_2d, ArrayKind::array_3d, ArrayKind::cubemap}}};
    info.parameters = {
        {.name = "filter",
         .kind = ParameterKind::choice,
         .summary = "how the texels of the level above are combined",
         .standard = "box",
         .choices = {"box", "kaiser", "min", "max"}},
        {.name = "level_count",
         .kind = ParameterKind::integer,
         .summary = "maximum number of levels; 0 means all, down to one texel",
         .standard = 0.0,
         .lowest = 0,
         .highest = 32},
        {.name = "alpha_weighted",
         .kind = ParameterKind::flag,
         .summary = "weight colors by alpha, so transparent texels leave no fringe",
         .standard = false},
        {.name = "kaiser_width",
         .kind = ParameterKind::number,
         .summary = "half width of the kaiser window, in texels of the smaller level",
         .standard = 3.0,
         .lowest = 1,
         .highest = kWidestKaiser},
        {.name = "kaiser_alpha",
         .kind = ParameterKind::number,
         .summary = "shape of the kaiser window; higher is softer",
         .standard = 4.0,
         .lowest = 0,
         .highest = 10},
        {.name = "address",
         .kind = ParameterKind::choice,
         .summary = "address mode of the texels that kaiser reads beyond the edges",
         .standard = "clamp",
         .choices = {"wrap", "clamp", "mirror"}},
    };
    return {std::move(info),
            [](const Arguments& arguments, std::span<const Texture> inputs) {
                const Texture& finest = inputs[0];
                const int max_levels = arguments.integer("level_count");
                std::vector<ImageShape> shapes;
                for (Extent sides = sides_of(finest);;) {
                    const Extent half = half_of(sides, finest.kind());
                    if (half == sides || (max_levels != 0 && shapes.size() == static_cast<std::size_t>(max_levels)))
                        break;
                    shapes.push_back({half, detail::shape_like(finest).format});
                    sides = half;
                }
                return shapes;
            },
            [](const Stream& stream, std::span<const View> images, const Arguments& arguments,
               std::span<const Texture> inputs) {
                MipOptions options;
                options.filter = arguments.choice<MipFilter>("filter");
                options.alpha_weighted = arguments.flag("alpha_weighted");
                options.kaiser_width = static_cast<float>(arguments.number("kaiser_width"));
                options.kaiser_alpha = static_cast<float>(arguments.number("kaiser_alpha"));
                options.address = arguments.choice<AddressMode>("address");
                make_mips(stream, images, inputs[0], options);
            }};
}

}  // namespace texton
