#include "viewer/verify/sized_image.h"

#include <algorithm>

#include <fmt/format.h>

#include "viewer/model/named_paths.h"
#include "viewer/verify/image_files.h"

namespace texton::verify {

HostImage read_sized_image(const std::filesystem::path& path, const HostImage& image, const std::string& where,
                           const std::string& key) {
    viewer::refuse_special_file(path);
    std::vector<HostImage> found = read_images(path, path.filename().string());
    const auto fits = [&](const HostImage& each) {
        const bool same = each.extent.width == image.extent.width && each.extent.height == image.extent.height;
        return same && (each.extent.depth == 1 || each.extent.depth == image.extent.depth);
    };
    const auto fitting = std::ranges::find_if(found, fits);
    if (fitting == found.end())
        refuse_text(where,
                    fmt::format("'{}' is {}, which is {}, but the image{}{} is {}", key, path.filename().string(),
                                to_string(found.front().extent), image.name.empty() ? "" : " ", image.name,
                                to_string(image.extent)),
                    fmt::format("Give a {} of the same size.", key));
    return std::move(*fitting);
}

}  // namespace texton::verify
