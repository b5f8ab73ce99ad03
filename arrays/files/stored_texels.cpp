#include "arrays/files/stored_texels.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "arrays/files/oiio.h"
#include "core/parallel.h"

namespace texton::detail {
namespace {

constexpr const char* kRead = "texton::ImageFile";

std::string system_words() { return std::generic_category().message(errno); }

FileIdentity identity_in(const struct stat& status) noexcept {
    return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec};
}

class Descriptor {
public:
    explicit Descriptor(int number) noexcept : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const noexcept { return number_; }
    FileIdentity identity() const noexcept {
        struct stat status;
        return ::fstat(number_, &status) == 0 ? identity_in(status) : FileIdentity{};
    }

private:
    int number_;
};

// Reads up to `bytes` bytes and returns their number, which is smaller only at the end of the file or after an error.
std::size_t read_at(const Descriptor& file, std::uint64_t offset, std::byte* out, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t got = ::pread(file.number(), out + done, bytes - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

class StoredFile : public ImageSource {
public:
    StoredFile(std::filesystem::path path, const FileIdentity& identity, Format format, bool srgb,
               const StoredOrder& order, std::vector<StoredLevel> levels, std::vector<Extent> extents)
        : ImageSource(format, srgb, std::move(extents)),
          path_(std::move(path)),
          identity_(identity),
          order_(order),
          levels_(std::move(levels)) {}

    void read(int index, const Region& box, std::byte* packed) const override {
        const FileReading reading;
        const StoredLevel& level = levels_[static_cast<std::size_t>(index)];
        const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
        if (file.number() < 0) {
            fail_file(kRead, path_, "can no longer be opened: " + system_words(),
                      "The file may have been moved or deleted.");
        }
        if (file.identity() != identity_) fail_file(kRead, path_, "has changed since it was opened", "Open it again.");
        const std::size_t side = block_side(format());
        const std::size_t unit = stored_bytes(format(), order_);
        const auto units = [side](std::size_t texels) { return (texels + side - 1) / side; };
        const std::size_t file_row = units(level.extent.width) * unit;
        const std::size_t rows = units(box.extent.height);
        const std::size_t across = units(box.extent.width);
        const bool whole_rows = box.extent.width == level.extent.width;
        const std::size_t run = whole_rows ? rows * across : across;  // consecutive units in the file
        const std::size_t row_step = whole_rows ? rows : 1;
        for (std::size_t z = 0; z < box.extent.depth; ++z) {
            const std::uint64_t slice = level.first + (box.offset.z + z) * level.stride;
            for (std::size_t y = 0; y < rows; y += row_step) {
                const std::uint64_t at = slice + (box.offset.y / side + y) * file_row + box.offset.x / side * unit;
                read_run(file, at, run, packed + (z * rows + y) * across * info(format()).bytes);
            }
        }
    }

    std::vector<Region> boxes(int index, std::size_t max_bytes) const override {
        const Extent extent = level(index);
        return cut(format(), whole(extent), {extent.width, block_side(format()), 1}, max_bytes);
    }
    ImageAccess access(int) const override { return {{block_side(format()), block_side(format()), 1}}; }

private:
    // Reads consecutive units, with several threads if there are many: a single thread copies more slowly than the link
    // to a GPU.
    void read_run(const Descriptor& file, std::uint64_t at, std::size_t units, std::byte* out) const {
        const std::size_t unit = stored_bytes(format(), order_);
        const std::size_t grain = kGrainBytes / unit;
        run_in_parallel((units + grain - 1) / grain, [&](std::size_t part) {
            const std::size_t first = part * grain;
            read_part(file, at + first * unit, std::min(grain, units - first), out + first * info(format()).bytes);
        });
    }

    void read_part(const Descriptor& file, std::uint64_t at, std::size_t units, std::byte* out) const {
        const std::size_t bytes = units * stored_bytes(format(), order_);
        const bool same = order_ == StoredOrder::same;
        const auto stored = same ? nullptr : std::make_unique_for_overwrite<std::byte[]>(bytes);
        const std::size_t got = read_at(file, at, same ? out : stored.get(), bytes);
        if (got != bytes) {
            fail_file(
                kRead, path_,
                fmt::format("is truncated: it ends after {} bytes, but texels at byte {} were requested", at + got, at),
                "The file may have been changed since it was opened.");
        }
        if (!same) unpack(order_, format(), {stored.get(), bytes}, out);
    }

    static constexpr std::size_t kGrainBytes = std::size_t{1} << 20;

    std::filesystem::path path_;
    FileIdentity identity_;
    StoredOrder order_;
    std::vector<StoredLevel> levels_;
};

}  // namespace

FileIdentity identity_of(const std::filesystem::path& path) noexcept {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 ? identity_in(status) : FileIdentity{};
}

ImageSourcePtr stored_file(std::filesystem::path path, const FileIdentity& identity, Format format, bool srgb,
                           const StoredOrder& order, std::vector<StoredLevel> levels) {
    std::vector<Extent> extents;
    for (const StoredLevel& level : levels) extents.push_back(level.extent);
    return std::make_shared<StoredFile>(std::move(path), identity, format, srgb, order, std::move(levels),
                                        std::move(extents));
}

std::vector<std::byte> first_bytes(const char* object, const std::filesystem::path& path, std::size_t maximum) {
    require_file(object, path);
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0)
        fail_file(object, path, "cannot be opened: " + system_words(), "Check the permissions of the file.");
    std::vector<std::byte> bytes(maximum);
    bytes.resize(read_at(file, 0, bytes.data(), maximum));
    return bytes;
}

std::span<const std::byte> ImageBands::read(const ImageSource& file, int level, const Region& box) {
    const std::size_t bytes = packed_bytes(file.format(), box.extent);
    if (bytes > capacity_) {
        texels_ = nullptr;  // before the larger buffer is allocated
        texels_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
        capacity_ = bytes;
    }
    read_named(image_.name, file, level, box, texels_.get());
    return {texels_.get(), bytes};
}

void ImageBands::report(std::size_t bytes) {
    done_ += bytes;
    if (!progress_ || call_back([&] { return progress_({done_, total_}); })) return;
    throw Canceled({.code = ErrorCode::io,
                    .object = "texton::save",
                    .problem = fmt::format("saving {} was canceled after {} of {} bytes", image_.name, done_, total_),
                    .remedy = "The progress callback canceled the operation.",
                    .numbers = {{"done", done_}, {"total", total_}}});
}

void ImageBands::write(const ImageSource& file, int level, const Region& region, NewFile& out) {
    const Extent rows{region.extent.width, block_side(file.format()), 1};
    for (const Region& box : cut(file.format(), region, rows, kBandBytes)) {
        const auto texels = read(file, level, box);
        out.write(texels);
        report(texels.size());
    }
}

}  // namespace texton::detail
