#include <texton/array.h>

#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/array_block.h"
#include "core/transfer.h"

namespace texton {
namespace {

constexpr const char* kArray = "texton::Array";

[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string remedy, std::vector<ErrorNumber> numbers) {
    throw Error({.code = code,
                 .object = kArray,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

template <class Index>
void check_index(const char* what, Index asked, std::size_t count) {
    if (std::cmp_greater_equal(asked, 0) && std::cmp_less(asked, count)) return;
    refuse(ErrorCode::out_of_bounds, fmt::format("{} {} was requested, but the array has {}", what, asked, count),
           "Indices begin at 0.", {{what, static_cast<std::uint64_t>(asked)}, {"count", count}});
}

// A range of slices in z.
struct Slices {
    std::size_t first;
    std::size_t count;
};

Slices slices_of(const ArrayInfo& info, const Subresource& part) {
    Slices slices{0, slice_count(info, part.level)};
    if (part.layer) {
        if (!is_layered(info.kind)) {
            refuse(
                ErrorCode::bad_argument,
                fmt::format("layer {} of the kind {} was requested, which has no layers", *part.layer, name(info.kind)),
                "Remove the layer. Select slices of a volume with a region.", {{"layer", *part.layer}});
        }
        check_index("layer", *part.layer, info.layers);
        const std::size_t faces = is_cube(info.kind) ? 6 : 1;
        slices = {*part.layer * faces, faces};
    }
    if (part.face) {
        if (!is_cube(info.kind)) {
            refuse(ErrorCode::bad_argument,
                   fmt::format("face {} of the kind {} was requested, which has no faces", *part.face, name(info.kind)),
                   "Remove the face.", {});
        }
        if (is_layered(info.kind) && !part.layer) {
            refuse(ErrorCode::bad_argument, fmt::format("face {} was requested without a cube", *part.face),
                   "Also give the cube as the layer.", {});
        }
        check_index("face", *part.face, 6);
        slices = {slices.first + static_cast<std::size_t>(*part.face), 1};
    }
    return slices;
}

}  // namespace

Array::Array(const Device& device, const ArrayInfo& info)
    : block_(detail::make_array(device, info, detail::ArrayBacking::own, kArray)) {}

const ArrayInfo& Array::info() const noexcept {
    static const ArrayInfo empty{};
    return block_ != nullptr ? block_->info : empty;
}

Device Array::device() const { return Device(*detail::live(*this, kArray).backend); }

View Array::view(const Subresource& part) const {
    const detail::ArrayBlock& block = detail::live(*this, kArray);
    check_index("level", part.level, static_cast<std::size_t>(block.info.levels));
    const Slices slices = slices_of(block.info, part);
    detail::MemoryLocation location = detail::location_of(block, part.level);
    location.owner = block_;
    location.array_offset.z = slices.first;
    location.extent.depth = slices.count;
    return View(part.region ? detail::region_of(location, *part.region, kArray) : std::move(location));
}

MemoryRequirements memory_requirements(const Device& device, const ArrayInfo& info) {
    constexpr const char* kObject = "texton::memory_requirements";
    const auto block = detail::make_array(device, info, detail::ArrayBacking::deferred, kObject);
    return detail::request(block->backend, kObject, {},
                           [&] { return block->backend->array_requirements(block->handle); });
}

SparseProperties sparse_properties(const Device& device, const ArrayInfo& info) {
    constexpr const char* kObject = "texton::sparse_properties";
    const auto block = detail::make_array(device, info, detail::ArrayBacking::sparse, kObject);
    return detail::request(block->backend, kObject, {}, [&] { return block->backend->array_tiles(block->handle); });
}

}  // namespace texton
