#include "viewer/cli/saved_images.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <texton/image_save.h>

namespace texton::cli {
namespace {

namespace fs = std::filesystem;
using verify::HostArray;
using verify::HostImage;

bool holds_levels(const fs::path& path) {
    constexpr std::array<const char*, 5> kEndings{".dds", ".exr", ".tif", ".tiff", ".tx"};
    return std::ranges::find(kEndings, path.extension().string()) != kEndings.end();
}

ArrayInfo info_of(const HostImage& first, std::size_t levels, bool cubes) {
    ArrayInfo info{.format = first.format, .extent = first.extent, .levels = static_cast<int>(levels)};
    const std::size_t slices = first.extent.depth;
    info.extent.depth = 1;
    if (cubes && slices % 6 == 0 && first.extent.width == first.extent.height) {
        info.kind = slices == 6 ? ArrayKind::cubemap : ArrayKind::cubemap_layered;
        info.layers = slices / 6;
    } else if (slices > 1) {
        info.kind = ArrayKind::layered_2d;
        info.layers = slices;
    }
    return info;
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

void save_array(const fs::path& path, std::span<const HostImage> levels, bool cubes) {
    HostArray array;
    array.info = info_of(levels.front(), levels.size(), cubes);
    array.levels.assign(levels.begin(), levels.end());
    save(path, verify::upload(Device::cpu(), array));
}

}  // namespace

std::vector<fs::path> save_images(const fs::path& out, std::span<const HostImage> images, bool cubes) {
    if (images.size() == 1 || (holds_levels(out) && is_chain(images))) {
        save_array(out, images, cubes);
        return {out};
    }
    std::vector<fs::path> files;
    for (std::size_t i = 0; i < images.size(); ++i) {
        files.push_back(out.parent_path() / fmt::format("{}_{}{}", out.stem().string(), i, out.extension().string()));
        save_array(files.back(), images.subspan(i, 1), cubes);
    }
    return files;
}

}  // namespace texton::cli
