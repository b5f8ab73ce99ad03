#include <texton/image_pyramid.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/files/input_file.h"
#include "arrays/files/oiio.h"
#include "arrays/files/source.h"

namespace texton {
namespace {

constexpr const char* kPyramid = "texton::open_pyramid";

ArrayInfo pyramid_info(const ImageFile& image) {
    ArrayInfo info = image.info();
    if (texton::info(info.format).layout == FormatLayout::planar) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton::pyramid_of",
                     .problem = fmt::format("the image has the planar format {}", name(info.format)),
                     .remedy = "Stream the planes that ImageFile::plane() returns."});
    }
    if (is_cube(info.kind)) {
        info.layers = 6 * (is_layered(info.kind) ? info.layers : 1);
        info.kind = ArrayKind::layered_2d;
    }
    info.usage = {};
    return info;
}

void read_box(const ImageFile& image, const PyramidBox& box, std::span<std::byte> texels) {
    Subresource part{.level = box.level, .region = box.region};
    switch (image.info().kind) {
        case ArrayKind::cubemap: part.face = static_cast<int>(box.layer); break;
        case ArrayKind::cubemap_layered:
            part.layer = box.layer / 6;
            part.face = static_cast<int>(box.layer % 6);
            break;
        case ArrayKind::layered_1d:
        case ArrayKind::layered_2d: part.layer = box.layer; break;
        case ArrayKind::array_1d:
        case ArrayKind::array_2d:
        case ArrayKind::array_3d: break;
    }
    image.read(part, texels);
}

// A file that is open several times, once for each thread that reads. Thread-safe.
class OpenFiles {
public:
    OpenFiles(std::filesystem::path path, const ImageOptions& options, const ReadOptions& reading)
        : path_(std::move(path)), options_(options), reading_(reading), identity_(detail::identity_of(path_)) {
        idle_.push_back(open());
        info_ = pyramid_info(idle_.back());
    }

    const ArrayInfo& info() const noexcept { return info_; }

    void read(const PyramidBox& box, std::span<std::byte> texels) {
        detail::guarded(kPyramid, path_, [&] {
            ImageFile image = take();
            read_box(image, box, texels);
            require_unchanged();  // otherwise the texels can be those of both files
            const std::lock_guard lock(mutex_);
            idle_.push_back(std::move(image));
        });
    }

private:
    ImageFile open() const {
        ImageFile image = open_image(path_, options_, reading_);
        require_unchanged();
        return image;
    }
    ImageFile take() {
        require_unchanged();
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                ImageFile image = std::move(idle_.back());
                idle_.pop_back();
                return image;
            }
        }
        return open();
    }
    void require_unchanged() const {
        if (detail::identity_of(path_) == identity_) return;
        detail::fail_file(kPyramid, path_, "has changed since it was opened", "Open it again.");
    }

    const std::filesystem::path path_;
    const ImageOptions options_;
    const ReadOptions reading_;
    const detail::FileIdentity identity_;
    ArrayInfo info_;
    std::mutex mutex_;
    std::vector<ImageFile> idle_;
};

}  // namespace

TilePyramid pyramid_of(const ImageFile& image) {
    return detail::guarded("texton::pyramid_of", image.state() == nullptr ? "" : image.state()->name.c_str(), [&] {
        return TilePyramid{pyramid_info(image), [image](const PyramidBox& box, std::span<std::byte> texels,
                                                        const std::stop_token&) { read_box(image, box, texels); }};
    });
}

TilePyramid open_pyramid(const std::filesystem::path& path, const ImageOptions& options, const ReadOptions& reading) {
    return detail::guarded(kPyramid, path, [&] {
        detail::require_file(kPyramid, path);
        const auto files = std::make_shared<OpenFiles>(path, options, reading);
        return TilePyramid{files->info(), [files](const PyramidBox& box, std::span<std::byte> texels,
                                                  const std::stop_token&) { files->read(box, texels); }};
    });
}

}  // namespace texton
