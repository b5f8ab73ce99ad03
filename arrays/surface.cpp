#include <texton/surface.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/array_block.h"
#include "arrays/sampling.h"
#include "arrays/unit/surface_point.h"
#include "core/backing.h"
#include "core/request.h"

namespace texton {
namespace detail {

struct SurfaceState {
    SurfaceState(std::shared_ptr<ArrayBlock> of, int at_level)
        : array(std::move(of)),
          sampling(&detail::sampling(*array->backend)),
          extent(level_extent(array->info, at_level)) {
        extent.depth = slice_count(array->info, at_level);
    }
    ~SurfaceState() {
        if (handle == nullptr) return;
        outside_recording([array = array, on = sampling, surface = handle] { on->destroy_surface(surface); });
    }
    SurfaceState(const SurfaceState&) = delete;
    SurfaceState& operator=(const SurfaceState&) = delete;

    SurfaceSize size() const noexcept {
        return {static_cast<std::int32_t>(extent.width), static_cast<std::int32_t>(extent.height),
                static_cast<std::int32_t>(extent.depth)};
    }

    std::shared_ptr<ArrayBlock> array;
    Sampling* sampling;
    Extent extent;
    SurfaceHandle handle = nullptr;
};

}  // namespace detail

namespace {

using detail::SurfaceState;

constexpr const char* kSurface = "texton::Surface";
constexpr const char* kRead = "texton::read";
constexpr const char* kWrite = "texton::write";

void check_points(const SurfaceState& surface, std::span<const SurfacePoint> points, const char* object) {
    for (std::size_t i = 0; i < points.size(); ++i) {
        const SurfacePoint& at = points[i];
        if (detail::is_inside(at, surface.size())) continue;
        throw Error({.code = ErrorCode::out_of_bounds,
                     .object = object,
                     .problem = fmt::format("point {} is ({}, {}, {}), but the surface has {} texels", i, at.x, at.y,
                                            at.z, to_string(surface.extent)),
                     .remedy = "Use points inside the surface, or Boundary::clamp or Boundary::zero.",
                     .numbers = {{"point", i},
                                 {"width", surface.extent.width},
                                 {"height", surface.extent.height},
                                 {"depth", surface.extent.depth}}});
    }
}

// Checks the points if necessary, and returns the boundary for the device. After the check no point is outside, so any
// boundary gives the same result.
Boundary checked(const SurfaceState& surface, std::span<const SurfacePoint> points, Boundary boundary,
                 const char* object) {
    if (boundary != Boundary::trap) return boundary;
    check_points(surface, points, object);
    return Boundary::zero;
}

}  // namespace

Surface::Surface(const Array& array, int level) try {
    const detail::ArrayBlock& block = detail::live(array, kSurface);
    if (level < 0 || level >= block.info.levels) {
        throw Error({.code = ErrorCode::out_of_bounds,
                     .object = kSurface,
                     .problem = fmt::format("level {} was requested, but the array has {}", level, block.info.levels),
                     .remedy = "Use a level of the array; levels begin at 0.",
                     .numbers = {{"level", static_cast<std::uint64_t>(level)},
                                 {"levels", static_cast<std::uint64_t>(block.info.levels)}}});
    }
    if (!block.info.usage.surface) {
        throw Error({.code = ErrorCode::not_permitted,
                     .object = kSurface,
                     .problem = "the array was created without ArrayUsage::surface",
                     .remedy = "Create the array with ArrayUsage::surface."});
    }
    detail::refuse_while_recording(kSurface, "creating a surface");
    state_ = std::make_shared<SurfaceState>(array.block(), level);
    state_->handle = detail::request(block.backend, kSurface, {{"level", static_cast<std::uint64_t>(level)}},
                                     [&] { return state_->sampling->create_surface(block, level); });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kSurface);
}

ArrayKind Surface::kind() const noexcept { return state_->array->info.kind; }
Format Surface::format() const noexcept { return state_->array->info.format; }
Extent Surface::extent() const noexcept { return state_->extent; }
Device Surface::device() const { return Device(*state_->array->backend); }

std::uint64_t Surface::handle() const {
    const detail::BackingUse use(kSurface, state_->array);
    return state_->sampling->surface_number(state_->handle);
}

std::vector<std::byte> read(const Surface& surface, std::span<const SurfacePoint> points, Boundary boundary) try {
    const SurfaceState& state = *surface.state();
    const Boundary outside = checked(state, points, boundary, kRead);
    detail::refuse_while_recording(kRead, "reading a surface without a stream");
    const detail::BackingUse use(kRead, state.array);
    std::vector<std::byte> texels(points.size() * info(surface.format()).bytes);
    if (points.empty()) return texels;
    detail::request(state.array->backend, kRead, {{"points", points.size()}},
                    [&] { state.sampling->read(state.handle, points, outside, texels); });
    return texels;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kRead);
}

void write(const Surface& surface, std::span<const SurfacePoint> points, std::span<const std::byte> texels,
           Boundary boundary) try {
    const SurfaceState& state = *surface.state();
    const std::size_t bytes = points.size() * info(surface.format()).bytes;
    if (texels.size() != bytes) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kWrite,
                     .problem = fmt::format("{} points of {} need {} bytes, but {} were given", points.size(),
                                            name(surface.format()), bytes, texels.size()),
                     .remedy = "Pass one packed texel for each point.",
                     .numbers = {{"points", points.size()}, {"bytes", texels.size()}}});
    }
    const Boundary outside = checked(state, points, boundary, kWrite);
    detail::refuse_while_recording(kWrite, "writing a surface without a stream");
    const detail::BackingUse use(kWrite, state.array);
    if (points.empty()) return;
    detail::request(state.array->backend, kWrite, {{"points", points.size()}},
                    [&] { state.sampling->write(state.handle, points, outside, texels); });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kWrite);
}

}  // namespace texton
