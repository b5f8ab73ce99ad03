#include "viewer/model/saved_images.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <texton/image_save.h>

namespace texton::verify {
namespace {

namespace fs = std::filesystem;
ArrayInfo info_of(const HostImage& first, std::size_t levels, bool cubes) {
    return array_info_of(first.format, first.extent, levels, cubes);
}

bool is_chain(std::span<const HostImage> images) {
    ArrayInfo info = info_of(images.front(), images.size(), false);
    if (info.levels > full_levels(info)) return false;
    for (std::size_t level = 0; level < images.size(); ++level) {
        Extent extent = level_extent(info, static_cast<int>(level));
        extent.depth = info.layers;
        if (images[level].extent != extent || images[level].format != info.format) return false;
    }
    return true;
}

void save_array(const fs::path& path, std::span<const HostImage> levels, bool cubes, const SaveOptions& options) {
    HostArray array;
    array.info = info_of(levels.front(), levels.size(), cubes);
    array.levels.assign(levels.begin(), levels.end());
    save(path, upload(Device::cpu(), array), options);
}

}  // namespace

bool holds_levels(const fs::path& path) {
    constexpr std::array<const char*, 6> kEndings{".dds", ".ktx2", ".exr", ".tif", ".tiff", ".tx"};
    return std::ranges::find(kEndings, path.extension().string()) != kEndings.end();
}

ArrayInfo array_info_of(Format format, const Extent& image, std::size_t levels, bool cubes) {
    ArrayInfo info{.format = format, .extent = image, .levels = static_cast<int>(levels)};
    const std::size_t slices = image.depth;
    info.extent.depth = 1;
    if (cubes && slices % 6 == 0 && image.width == image.height) {
        info.kind = slices == 6 ? ArrayKind::cubemap : ArrayKind::cubemap_layered;
        info.layers = slices / 6;
    } else if (slices > 1) {
        info.kind = ArrayKind::layered_2d;
        info.layers = slices;
    }
    return info;
}

std::vector<fs::path> save_images(const fs::path& out, std::span<const HostImage> images, bool cubes,
                                  const SaveOptions& options) {
    if (images.size() == 1 || (holds_levels(out) && is_chain(images))) {
        save_array(out, images, cubes, options);
        return {out};
    }
    std::vector<fs::path> files;
    for (std::size_t i = 0; i < images.size(); ++i) {
        files.push_back(out.parent_path() / fmt::format("{}_{}{}", out.stem().string(), i, out.extension().string()));
        save_array(files.back(), images.subspan(i, 1), cubes, options);
    }
    return files;
}

SavedAlpha saved_alpha(bool drops, std::span<const ImageFile> files) {
    if (drops) return SavedAlpha::dropped;
    const auto has_three = [](const ImageFile& file) { return file.metadata().read_channels.size() == 3; };
    return !files.empty() && std::ranges::all_of(files, has_three) ? SavedAlpha::unless_opaque : SavedAlpha::automatic;
}

}  // namespace texton::verify
