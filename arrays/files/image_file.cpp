#include <texton/image_file.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "arrays/files/oiio.h"
#include "arrays/files/source.h"
#include "core/transfer.h"

namespace texton {
namespace {

constexpr const char* kImage = "texton::ImageFile";
constexpr const char* kNumbered = "texton::numbered_files";

const detail::ImageState& opened(const std::shared_ptr<const detail::ImageState>& state) {
    if (state != nullptr) return *state;
    throw Error({.code = ErrorCode::released,
                 .object = kImage,
                 .problem = "the object is empty",
                 .remedy = "Open a file with open_image()."});
}

[[noreturn]] void refuse(ErrorCode code, const detail::ImageState& state, const std::string& problem,
                         std::string remedy, std::vector<ErrorNumber> numbers) {
    throw Error({.code = code,
                 .object = kImage,
                 .problem = state.name + ": " + problem,
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

template <class Index>
void check_index(const detail::ImageState& state, const char* what, Index asked, std::size_t count) {
    if (std::cmp_greater_equal(asked, 0) && std::cmp_less(asked, count)) return;
    refuse(ErrorCode::out_of_bounds, state,
           fmt::format("{} {} was requested, but there are only {}", what, asked, count), "Indices start at 0.",
           {{what, static_cast<std::uint64_t>(asked)}, {"count", count}});
}

// Selects texels like Array::view(): first level, layer and face, then the region inside them.
Region box_of(const detail::ImageState& state, const Subresource& part) {
    const ArrayInfo& info = state.info;
    check_index(state, "level", part.level, static_cast<std::size_t>(info.levels));
    Region box = detail::whole(state.file->level(part.level));
    const std::size_t faces = is_cube(info.kind) ? 6 : 1;
    if (part.layer) {
        if (!is_layered(info.kind)) {
            refuse(ErrorCode::bad_argument, state,
                   fmt::format("layer {} of an image of kind {} was requested", *part.layer, name(info.kind)),
                   "Leave the layer unset. Select slices of a volume with a region.", {{"layer", *part.layer}});
        }
        check_index(state, "layer", *part.layer, info.layers);
        box.offset.z = *part.layer * faces;
        box.extent.depth = faces;
    }
    if (part.face) {
        if (!is_cube(info.kind) || (is_layered(info.kind) && !part.layer)) {
            refuse(ErrorCode::bad_argument, state,
                   fmt::format("face {} of an image of kind {} was requested", *part.face, name(info.kind)),
                   "Only cubemaps have faces. A face of a cubemap_layered also needs a layer.", {});
        }
        check_index(state, "face", *part.face, 6);
        box.offset.z += static_cast<std::size_t>(*part.face);
        box.extent.depth = 1;
    }
    if (!part.region) return box;
    detail::MemoryLocation location;
    location.kind = MemoryKind::array;
    location.format = info.format;
    location.extent = box.extent;
    (void)detail::region_of(location, *part.region, kImage);
    const Offset& at = part.region->offset;
    return {{at.x, at.y, box.offset.z + at.z}, part.region->extent};
}

std::vector<std::filesystem::path> sequence_of(const std::filesystem::path& first) {
    detail::require_file(kNumbered, first);
    const std::string name = first.filename().string();
    const std::size_t last = name.find_last_of("0123456789");
    if (last == std::string::npos) return {first};
    const std::size_t before = name.find_last_not_of("0123456789", last);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::size_t digits = last + 1 - begin;
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(name.data() + begin, name.data() + begin + digits, number);
    if (parsed.ec != std::errc()) return {first};
    std::vector<std::filesystem::path> files;
    for (std::filesystem::path next = first; std::filesystem::is_regular_file(next);) {
        files.push_back(next);
        if (++number == 0) break;  // after the largest number
        next = first.parent_path() /
               fmt::format("{}{:0{}}{}", name.substr(0, begin), number, digits, name.substr(last + 1));
    }
    return files;
}

}  // namespace

const ArrayInfo& ImageFile::info() const { return opened(state_).info; }
const std::vector<std::string>& ImageFile::conversions() const { return opened(state_).conversions; }
const ImageMetadata& ImageFile::metadata() const { return opened(state_).metadata; }

ImageFile ImageFile::plane(int index) const {
    const detail::ImageState& state = opened(state_);
    if (state.file != nullptr) {
        refuse(ErrorCode::bad_argument, state,
               fmt::format("plane {} of an image of format {} was requested", index, name(state.info.format)),
               "Only planar images have planes.", {});
    }
    check_index(state, "plane", index, 2);
    return state.planes[static_cast<std::size_t>(index)];
}

void ImageFile::read(const Subresource& part, std::span<std::byte> texels) const {
    const detail::ImageState& state = opened(state_);
    if (state.file == nullptr) {
        refuse(ErrorCode::bad_argument, state,
               fmt::format("the texels of an image of the planar format {} cannot be read together",
                           name(state.info.format)),
               "Read the planes that plane() returns.", {});
    }
    const Region box = box_of(state, part);
    const std::size_t bytes = packed_bytes(state.info.format, box.extent);
    if (texels.size() != bytes) {
        refuse(ErrorCode::bad_argument, state,
               fmt::format("{} bytes do not match {} texels of {}", texels.size(), to_string(box.extent),
                           name(state.info.format)),
               "Pass a buffer of the size of the tightly packed part.", {{"bytes", texels.size()}, {"needed", bytes}});
    }
    detail::guarded(kImage, state.name,
                    [&] { detail::read_named(state.name, *state.file, part.level, box, texels.data()); });
}

ImageAccess ImageFile::access(int level) const {
    const detail::ImageState& state = opened(state_);
    if (state.file == nullptr) {
        refuse(ErrorCode::bad_argument, state,
               fmt::format("access() does not support the planar format {}", name(state.info.format)),
               "Call access() of the planes that plane() returns.", {});
    }
    check_index(state, "level", level, static_cast<std::size_t>(state.info.levels));
    return detail::guarded(kImage, state.name, [&] { return state.file->access(level); });
}

std::vector<std::filesystem::path> numbered_files(const std::filesystem::path& first) {
    return detail::guarded(kNumbered, first, [&] { return sequence_of(first); });
}

}  // namespace texton
