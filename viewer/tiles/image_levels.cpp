#include "viewer/tiles/image_levels.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/files/source.h"
#include "core/file_error.h"
#include "core/new_file.h"
#include "viewer/tiles/computed_image.h"

namespace texton::tiles {
namespace {

constexpr const char* kObject = "texton::tiles::with_levels";

std::vector<Extent> level_extents(const ArrayInfo& info) {
    std::vector<Extent> extents;
    for (int level = 0; level < info.levels; ++level) {
        Extent extent = level_extent(info, level);
        extent.depth = slice_count(info, level);
        extents.push_back(extent);
    }
    return extents;
}

// Level 0 is read from an image, the others from a temporary file, which has their rows in order.
class ImageWithLevels final : public detail::ImageSource {
public:
    ImageWithLevels(const ImageFile& image, const ArrayInfo& info, const std::filesystem::path& folder)
        : ImageSource(info.format, image.state()->file->srgb(), level_extents(info)),
          image_(image),
          file_(kObject, folder / "texton_levels.tmp") {
        for (std::size_t i = 0; i < levels().size(); ++i) {
            offsets_.push_back(bytes_);
            if (i > 0) bytes_ += levels()[i].height * levels()[i].depth * row(static_cast<int>(i));
        }
    }

    /// Returns the bytes of all levels but level 0.
    std::uint64_t bytes() const noexcept { return bytes_; }

    void read(int level, const Region& box, std::byte* packed) const override {
        if (level == 0) return image_.state()->file->read(0, box, packed);
        const std::size_t bytes = row_bytes(format(), box.extent.width);
        for (std::size_t z = 0; z < box.extent.depth; ++z) {
            for (std::size_t y = 0; y < box.extent.height; ++y) {
                const std::uint64_t at =
                    offset_of(level, box.offset.y + y, box.offset.z + z) + row_bytes(format(), box.offset.x);
                if (file_.read_at(at, {packed + (z * box.extent.height + y) * bytes, bytes}) != bytes)
                    detail::fail_file(kObject, file_.name(), "can no longer be read",
                                      "The temporary file may have been changed.");
            }
        }
    }
    std::vector<Region> boxes(int index, std::size_t max_bytes) const override {
        if (index == 0) return image_.state()->file->boxes(0, max_bytes);
        return detail::cut(format(), detail::whole(level(index)), {level(index).width, 1, 1}, max_bytes);
    }
    ImageAccess access(int index) const override {
        if (index == 0) return image_.state()->file->access(0);
        return {{level(index).width, 1, 1}};
    }

    /// Writes rows of all slices, tightly packed.
    void write(int level, Rows rows, const std::byte* texels) {
        const std::size_t bytes = rows.count() * row(level);
        for (std::size_t z = 0; z < this->level(level).depth; ++z) {
            const std::span<const std::byte> part(texels + z * bytes, bytes);
            if (const int error = file_.write_at(offset_of(level, rows.first, z), part)) file_.fail(error);
        }
    }

private:
    std::size_t row(int index) const { return row_bytes(format(), level(index).width); }
    std::uint64_t offset_of(int index, std::size_t y, std::size_t z) const {
        return offsets_[static_cast<std::size_t>(index)] + (z * level(index).height + y) * row(index);
    }

    const ImageFile image_;
    detail::NewFile file_;  // never completed, so that its destructor removes it
    std::vector<std::uint64_t> offsets_;
    std::uint64_t bytes_ = 0;
};

// One level as an image.
class OneLevel final : public detail::ImageSource {
public:
    OneLevel(detail::ImageSourcePtr all, int number)
        : ImageSource(all->format(), all->srgb(), {all->level(number)}), all_(std::move(all)), number_(number) {}

    void read(int, const Region& box, std::byte* packed) const override { all_->read(number_, box, packed); }
    std::vector<Region> boxes(int, std::size_t max_bytes) const override { return all_->boxes(number_, max_bytes); }
    ImageAccess access(int) const override { return all_->access(number_); }

private:
    detail::ImageSourcePtr all_;
    int number_;
};

// Returns an image like another one, with other texels.
ImageFile image_of(const ImageFile& like, const ArrayInfo& info, detail::ImageSourcePtr texels) {
    auto state = std::make_shared<detail::ImageState>(*like.state());
    state->info = info;
    state->file = std::move(texels);
    state->in_place = false;
    return ImageFile(std::move(state));
}

}  // namespace

std::size_t bytes_of_levels(const ArrayInfo& image) {
    ArrayInfo all = image;
    all.levels = full_levels(image);
    ArrayInfo first = image;
    first.levels = 1;
    return packed_bytes(all) - packed_bytes(first);
}

ImageFile with_levels(const ImageFile& image, const verify::KernelRun& mips, std::size_t memory,
                      const std::filesystem::path& folder, const OnImageProgress& progress) {
    const Device device = Device::cpu();
    ArrayInfo info = image.info();
    info.levels = 1;
    const auto most = mips.parameters.find("level_count");
    const int count = most == mips.parameters.end() ? 0 : static_cast<int>(std::get<double>(most->second));
    ArrayInfo all = info;
    all.levels = full_levels(info);
    if (count != 0) all.levels = std::min(all.levels, count + 1);
    verify::KernelRun one = mips;
    one.parameters["level_count"] = 1.0;

    const auto levels = std::make_shared<ImageWithLevels>(image, all, folder);
    std::uint64_t done = 0;
    for (int level = 1; level < all.levels; ++level) {
        ArrayInfo above = info;
        above.extent = level_extent(info, level - 1);
        const ImageFile read =
            level == 1 ? image : image_of(image, above, std::make_shared<OneLevel>(levels, level - 1));
        std::vector<KernelInput> inputs;
        inputs.push_back({.image = read, .sampler = verify::standard_sampler(above)});
        auto kernel = std::make_unique<KernelInStrips>(device, one, std::move(inputs), memory);
        if (kernel->shape().format != info.format)
            throw Error({.code = ErrorCode::unsupported,
                         .object = kObject,
                         .problem = fmt::format("levels of format {} cannot be computed", name(info.format)),
                         .remedy = "Convert the image first: texton convert --format."});
        const std::size_t step = kernel->strip_rows();
        ArrayInfo made = info;
        made.extent = level_extent(info, level);
        const ImageFile computed = computed_image(std::move(kernel), made);
        const Extent extent = levels->level(level);
        std::vector<std::byte> texels;
        for (std::size_t y = 0; y < extent.height; y += step) {
            const Rows rows{y, std::min(y + step, extent.height)};
            const Region region{{0, y, 0}, {extent.width, rows.count(), extent.depth}};
            texels.resize(packed_bytes(info.format, region.extent));
            computed.state()->file->read(0, region, texels.data());
            levels->write(level, rows, texels.data());
            done += texels.size();
            if (progress && !progress({done, levels->bytes()}))
                throw Canceled({.code = ErrorCode::not_permitted,
                                .object = kObject,
                                .problem = "the callback canceled the computation",
                                .remedy = "The temporary file was removed."});
        }
    }
    return image_of(image, all, levels);
}

}  // namespace texton::tiles
