#include <texton/texture.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/array_block.h"
#include "arrays/texture_state.h"
#include "arrays/unit/texture_address.h"
#include "arrays/written_image.h"
#include "core/backing.h"
#include "core/request.h"
#include "core/transfer.h"

namespace texton {
namespace {

using detail::ArrayBlock;
using detail::TextureRequest;

constexpr const char* kTexture = "texton::Texture";

[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy,
                         std::vector<ErrorNumber> numbers = {}) {
    throw Error({.code = code,
                 .object = kTexture,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

bool reads_as_integer(Format format) noexcept {
    const FormatKind kind = info(format).kind;
    return kind == FormatKind::uint || kind == FormatKind::sint;
}

// --- checks of the sampler -------------------------------------------------------------------------------------------

int dimensions(ArrayKind kind) noexcept { return is_flat(kind) ? 1 : kind == ArrayKind::array_3d ? 3 : 2; }

void check_filters(const Sampler& sampler, Format format) {
    if (!reads_as_integer(format)) return;
    const auto check = [&](Filter filter, const char* field) {
        if (filter == Filter::point) return;
        refuse(ErrorCode::bad_argument,
               fmt::format("linear {} needs a unorm, snorm, srgb or float format, but {} reads as integers", field,
                           name(format)),
               "Use Filter::point, or read the texels in another format with TextureRange::format.");
    };
    check(sampler.filter, "filter");
    check(sampler.mip_filter, "mip_filter");
}

void check_coordinates(const Sampler& sampler, ArrayKind kind, int levels) {
    if (sampler.normalized_coordinates) return;
    if (levels > 1 || is_cube(kind)) {
        refuse(ErrorCode::bad_argument,
               is_cube(kind)
                   ? fmt::format("normalized_coordinates is false, but a {} is read with directions", name(kind))
                   : fmt::format("normalized_coordinates is false, but {} mip levels are read", levels),
               "Set Sampler::normalized_coordinates to true.");
    }
    for (int axis = 0; axis < dimensions(kind); ++axis) {
        const detail::AddressRule rule = detail::address_rule(sampler.address[axis]);
        if (!rule.repeats()) continue;
        refuse(ErrorCode::bad_argument,
               fmt::format("address[{}] is {}, which needs normalized coordinates", axis, rule.name),
               "Set Sampler::normalized_coordinates to true, or use AddressMode::clamp or AddressMode::border.");
    }
}

void check_numbers(const Sampler& sampler) {
    if (sampler.max_anisotropy < 1 || sampler.max_anisotropy > 16) {
        refuse(ErrorCode::bad_argument, fmt::format("max_anisotropy is {}", sampler.max_anisotropy),
               "Use 1 to 16, where 1 means isotropic filtering.", {{"max_anisotropy", sampler.max_anisotropy}});
    }
    const auto check = [](float value, const char* field) {
        if (std::isnan(value)) refuse(ErrorCode::bad_argument, fmt::format("{} is NaN", field), "Use a number.");
    };
    check(sampler.mip_bias, "mip_bias");
    check(sampler.mip_min, "mip_min");
    check(sampler.mip_max, "mip_max");
}

void check_sampler(const Sampler& sampler, Format format, ArrayKind kind, int levels) {
    check_filters(sampler, format);
    check_coordinates(sampler, kind, levels);
    check_numbers(sampler);
    if (sampler.seamless_cubemap && !is_cube(kind)) {
        refuse(ErrorCode::bad_argument,
               fmt::format("seamless_cubemap is true for a texture of kind {}, which has no faces", name(kind)),
               "Set Sampler::seamless_cubemap to false.");
    }
}

// Refuses unnormalized coordinates for one of several levels of a layered array. An H200 uses the width and height of
// level 0 for such reads.
void check_layers_in_texels(const ArrayInfo& array, const Sampler& sampler) {
    if (sampler.normalized_coordinates || !is_layered(array.kind) || array.levels == 1) return;
    refuse(ErrorCode::unsupported,
           fmt::format("normalized_coordinates is false, but one of {} levels of a {} is read", array.levels,
                       name(array.kind)),
           "Set Sampler::normalized_coordinates to true, or copy the level into a separate array.");
}

// Refuses planes that the driver of an H200 (580) reads incorrectly: textures assume a smaller distance between their
// rows than copies do.
void check_plane_rows(const ArrayInfo& plane) {
    constexpr std::size_t kRows = 16;
    constexpr std::size_t kRowBytes = 64;
    const std::size_t bytes = row_bytes(plane.format, plane.extent.width);
    if (plane.extent.height > kRows || bytes <= kRowBytes) return;
    refuse(ErrorCode::unsupported,
           fmt::format(
               "a plane of {} rows of {} bytes was given, but CUDA reads planes of up to {} rows correctly only if "
               "a row has at most {} bytes",
               plane.extent.height, bytes, kRows, kRowBytes),
           "Copy the plane into a separate array.", {{"width", plane.extent.width}, {"height", plane.extent.height}});
}

// Refuses address modes that the driver of an H200 does not support for planes of nv12. It supports all modes for
// planes of the other formats.
void check_plane(const ArrayBlock& block, const Sampler& sampler) {
    if (block.whole == nullptr) return;
    check_plane_rows(block.info);
    if (block.whole->info.format != Format::nv12) return;
    for (int axis = 0; axis < 3; ++axis) {
        if (detail::address_rule(sampler.address[axis]).clamps) continue;
        refuse(ErrorCode::unsupported,
               fmt::format("address[{}] is not clamp, but CUDA supports only clamp for planes of nv12", axis),
               "Use AddressMode::clamp, or copy the plane into a separate array.");
    }
}

// --- checks of the part of an array ----------------------------------------------------------------------------------

// Returns the format in which the texels are read, if CUDA supports it. On an H200, views with 8-bit or 16-bit channels
// of an array of floats or 32-bit integers return fractions, and block-compressed arrays have no views.
Format checked_format(const ArrayInfo& array, const TextureRange& range) {
    const FormatInfo& is = info(array.format);
    const FormatInfo& read = info(range.format.value_or(array.format));
    if (is.format == read.format) return read.format;
    const auto refuse_as = [&](ErrorCode code, const char* why, const char* remedy) {
        refuse(code, fmt::format("an array of {} cannot be read as {}: {}", is.name, read.name, why), remedy,
               {{"array_bytes", is.bytes}, {"format_bytes", read.bytes}});
    };
    if (is.layout != read.layout || is.bytes != read.bytes) {
        refuse_as(ErrorCode::bad_argument, "their texels have different layouts or sizes",
                  "Use a format with the same layout and the same number of bytes per texel.");
    }
    const auto compression = [](const FormatInfo& row) { return row.name.substr(0, row.name.find('_')); };
    if (is.layout == FormatLayout::block &&
        (compression(is) != compression(read) || is.kind != FormatKind::unorm || read.kind != FormatKind::srgb)) {
        refuse_as(ErrorCode::bad_argument, "CUDA reads blocks only in their own format, or unorm as srgb",
                  "Create the array with the format in which it is read.");
    }
    const bool wide = is.kind == FormatKind::floating || is.bits == 32;
    if (wide && read.kind != FormatKind::floating && read.bits < 32) {
        refuse_as(ErrorCode::unsupported,
                  "CUDA reads arrays of floats and 32-bit integers only as floats or 32-bit integers",
                  "Create the array with the format in which it is read.");
    }
    return read.format;
}

// Checks a range and returns it with the actual numbers of levels and layers.
TextureRange checked_range(const ArrayInfo& array, TextureRange range) {
    if (range.first_level < 0 || range.first_level >= array.levels || range.levels < 0 ||
        range.levels > array.levels - range.first_level) {
        refuse(ErrorCode::out_of_bounds,
               fmt::format("{} levels from level {} on were requested, but the array has {}", range.levels,
                           range.first_level, array.levels),
               "Use levels of the array. TextureRange::levels 0 means all remaining levels.",
               {{"first_level", static_cast<std::uint64_t>(range.first_level)},
                {"levels", static_cast<std::uint64_t>(range.levels)},
                {"array_levels", static_cast<std::uint64_t>(array.levels)}});
    }
    const std::size_t layers = is_layered(array.kind) ? array.layers : 1;
    if (range.first_layer >= layers || range.layers > layers - range.first_layer) {
        refuse(ErrorCode::out_of_bounds,
               fmt::format("{} layers from layer {} on were requested, but the array has {}", range.layers,
                           range.first_layer, layers),
               "Use layers of the array. TextureRange::layers 0 means all remaining layers.",
               {{"first_layer", range.first_layer}, {"layers", range.layers}, {"array_layers", layers}});
    }
    if (range.levels == 0) range.levels = array.levels - range.first_level;
    if (range.layers == 0) range.layers = layers - range.first_layer;
    const bool stands_alone = range.levels == 1 && !is_layered(array.kind) && !is_cube(array.kind);
    const bool part = range.layers != layers || (range.levels != array.levels && !stands_alone);
    if (part && info(array.format).layout != FormatLayout::plain) {
        refuse(ErrorCode::unsupported,
               fmt::format("a part of an array of {} was requested, but CUDA has no views of this format",
                           name(array.format)),
               "Read the whole array. If it has no layers and faces, a single level is also possible.");
    }
    return range;
}

// --- checks of memory ------------------------------------------------------------------------------------------------

bool is_row(const detail::MemoryLocation& location) noexcept { return location.extent.height == 1; }

void check_row(const detail::MemoryLocation& location, const Sampler& sampler) {
    // Limits of the driver of an H200: 2^30 texels and 2^32 bytes.
    const std::size_t longest = std::min(std::size_t{1} << 30, (std::size_t{1} << 32) / info(location.format).bytes);
    if (location.extent.width > longest) {
        refuse(ErrorCode::overflow,
               fmt::format("a row of {} texels of {} was given, but a texture reads at most {}", location.extent.width,
                           name(location.format), longest),
               "Create several textures of parts of the row.", {{"width", location.extent.width}, {"limit", longest}});
    }
    if (sampler.filter != Filter::point || sampler.normalized_coordinates) {
        refuse(ErrorCode::bad_argument,
               sampler.normalized_coordinates
                   ? "normalized_coordinates is true, but a row of memory is read with the index of a texel"
                   : "the filter is linear, but a row of memory is read with the index of a texel",
               "Use the default Sampler, or copy the texels into a 1D array.");
    }
}

void check_rows(const detail::MemoryLocation& location, const DeviceLimits& limits) {
    const auto& maximum = limits.pitch_2d;
    if (location.extent.width > maximum[0] || location.extent.height > maximum[1] || location.pitch > maximum[2]) {
        refuse(ErrorCode::overflow,
               fmt::format(
                   "{} texels with a pitch of {} bytes were given, but a texture of memory has at most {} x {} with a "
                   "pitch of {}",
                   to_string(location.extent), location.pitch, maximum[0], maximum[1], maximum[2]),
               "Copy the texels into an array, or create a texture of a part.",
               {{"width", location.extent.width}, {"height", location.extent.height}, {"pitch", location.pitch}});
    }
    if (location.pitch % limits.texture_pitch_alignment != 0) {
        refuse(ErrorCode::bad_argument,
               fmt::format("the pitch is {} bytes, but textures need a multiple of {}", location.pitch,
                           limits.texture_pitch_alignment),
               "Use Pitched2D, or copy the texels into an array.",
               {{"pitch", location.pitch}, {"alignment", limits.texture_pitch_alignment}});
    }
}

void check_memory(const detail::MemoryLocation& location, const Sampler& sampler) {
    detail::check_live(location, kTexture);
    if (detail::home(location) == nullptr) {
        refuse(ErrorCode::bad_argument,
               fmt::format("{} memory was given, which textures cannot read", name(location.kind)),
               "Copy the texels to memory of the device or into an array.");
    }
    if (location.address == nullptr) {
        refuse(ErrorCode::bad_argument,
               fmt::format("a view of {} memory was given, which has no address", name(location.kind)),
               "Create the texture from the Array, or copy the texels to memory of the device.");
    }
    if (location.extent.depth != 1) {
        refuse(
            ErrorCode::bad_argument,
            fmt::format("{} texels were given, but a texture of memory has only one slice", to_string(location.extent)),
            "Select one slice with region(), or copy the texels into a 3D array.",
            {{"width", location.extent.width}, {"height", location.extent.height}, {"depth", location.extent.depth}});
    }
    if (const FormatLayout layout = info(location.format).layout;
        layout != FormatLayout::plain && layout != FormatLayout::packed) {
        refuse(ErrorCode::unsupported,
               fmt::format("memory of {} was given, but textures of memory need a plain or packed format",
                           name(location.format)),
               "Copy the texels into an Array or a PlanarArray.");
    }
    const DeviceLimits& limits = location.backend->limits();
    if (reinterpret_cast<std::uintptr_t>(location.address) % limits.texture_alignment != 0) {
        refuse(ErrorCode::bad_argument,
               fmt::format("the address of the first texel is {}, but textures need a multiple of {} bytes",
                           static_cast<const void*>(location.address), limits.texture_alignment),
               "Use the beginning of the memory, or an offset that is a multiple of limits().texture_alignment.",
               {{"alignment", limits.texture_alignment}});
    }
    if (is_row(location)) {
        check_row(location, sampler);
    } else {
        check_rows(location, limits);
    }
}

std::unique_ptr<detail::TextureState> create(detail::Backend& backend, const TextureRequest& request) {
    detail::refuse_while_recording(kTexture, "creating a texture");
    auto state = std::make_unique<detail::TextureState>(backend);
    state->format = request.format;
    state->sampler = request.sampler;
    if (request.array != nullptr) {
        const ArrayInfo& array = request.array->info;
        state->kind = array.kind;
        state->extent = level_extent(array, request.range.first_level);
        state->first_level = request.range.first_level;
        state->levels = request.range.levels;
        state->first_layer = request.range.first_layer;
        state->layers = request.range.layers;
        state->gathers = array.usage.gather;
        state->block = request.array;
    } else {
        const detail::MemoryLocation& location = *request.memory;
        state->source = is_row(location) ? TextureSource::linear : TextureSource::pitched;
        state->kind = is_row(location) ? ArrayKind::array_1d : ArrayKind::array_2d;
        state->extent = location.extent;
        state->memory = location;
        state->memory.owner = nullptr;
        state->block = location.owner.get();
    }
    state->handle = detail::request(
        &backend, kTexture,
        {{"width", state->extent.width}, {"height", state->extent.height}, {"depth", state->extent.depth}},
        [&] { return state->sampling->create_texture(request); });
    return state;
}

}  // namespace

Texture::Texture(const Array& array, const Sampler& sampler, const TextureRange& range) try {
    const ArrayBlock& block = detail::live(array, kTexture);
    TextureRequest request{.array = &block, .sampler = sampler};
    request.format = checked_format(block.info, range);
    request.range = checked_range(block.info, range);
    request.range.format = request.format;
    check_sampler(sampler, request.format, block.info.kind, request.range.levels);
    check_layers_in_texels(block.info, sampler);
    check_plane(block, sampler);
    state_ = detail::TextureCache::find_or_make(array.block(), detail::texture_key(request),
                                                [&] { return create(*block.backend, request); });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kTexture);
}

Texture::Texture(const ConstView& memory, const Sampler& sampler) try {
    const detail::MemoryLocation& location = memory.location();
    check_memory(location, sampler);
    check_sampler(sampler, location.format, is_row(location) ? ArrayKind::array_1d : ArrayKind::array_2d, 1);
    const TextureRequest request{.memory = &location, .format = location.format, .sampler = sampler};
    if (location.owner == nullptr) {
        state_ = create(*location.backend, request);
    } else {
        state_ = detail::TextureCache::find_or_make(location.owner, detail::texture_key(request),
                                                    [&] { return create(*location.backend, request); });
    }
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kTexture);
}

TextureSource Texture::source() const noexcept { return state_->source; }
ArrayKind Texture::kind() const noexcept { return state_->kind; }
Format Texture::format() const noexcept { return state_->format; }
const Sampler& Texture::sampler() const noexcept { return state_->sampler; }
Extent Texture::extent() const noexcept { return state_->extent; }
int Texture::levels() const noexcept { return state_->levels; }
std::size_t Texture::layers() const noexcept { return state_->layers; }
Device Texture::device() const { return Device(*state_->backend); }

std::uint64_t Texture::handle() const {
    detail::check_source(kTexture, *this);
    const detail::BackingUse use(kTexture, detail::source_of(state_));
    return state_->sampling->texture_number(state_->handle);
}

}  // namespace texton
