#include "viewer/tiles/finished_rows.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <random>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/files/source.h"
#include "core/file_error.h"
#include "core/unfinished_file.h"
#include "viewer/text/value_text.h"

namespace texton::tiles {
namespace {

namespace fs = std::filesystem;
using verify::Json;

constexpr const char* kObject = "texton::tiles::FinishedRows";
constexpr int kVersion = 1;
constexpr std::size_t kGroup = std::size_t{64} << 20;  // bytes that are stored together
constexpr std::chrono::milliseconds kInterval{500};    // in which rows are stored, if they are fewer

// Calls a function of the system for parts of a buffer, until all bytes are done. Returns the number of bytes.
template <class Call>
std::size_t for_all(std::size_t bytes, const Call& call) {
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t part = call(done, bytes - done);
        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) break;
        done += static_cast<std::size_t>(part);
    }
    return done;
}

fs::path beside(const fs::path& output, const char* ending) {
    fs::path path = output;
    path += ending;
    return path;
}

}  // namespace

FinishedRows::FinishedRows(const fs::path& output, const Json& description, std::size_t row_bytes, std::size_t rows)
    : texels_path_(beside(output, ".rows")),
      lines_path_(beside(output, ".rows.json")),
      row_bytes_(row_bytes),
      rows_(rows) {
    open();
    struct stat status {};
    if (::fstat(lines_.number(), &status) != 0) fail(lines_path_, errno);
    std::string lines(static_cast<std::size_t>(status.st_size), '\0');
    const std::size_t got = for_all(lines.size(), [&](std::size_t at, std::size_t bytes) {
        return ::pread(lines_.number(), lines.data() + at, bytes, static_cast<off_t>(at));
    });
    if (got != lines.size()) fail(lines_path_, errno);
    lines.resize(lines.rfind('\n') + 1);  // a line that was not written completely
    if (::ftruncate(lines_.number(), static_cast<off_t>(lines.size())) != 0) fail(lines_path_, errno);
    if (lines.empty()) {
        begin(description);
    } else {
        resume(lines, description);
    }
    check_space();
}

void FinishedRows::open() {
    const auto opened = [&](const fs::path& path, int flags) {
        detail::OwnedDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
        if (file.number() < 0) fail(path, errno);
        return file;
    };
    lines_ = opened(lines_path_, O_APPEND);
    if (::flock(lines_.number(), LOCK_EX | LOCK_NB) != 0)
        detail::fail_file(kObject, lines_path_, "is used by another process, which computes the same image",
                          "Wait until it ends, or name another output.");
    texels_ = opened(texels_path_, 0);
}

void FinishedRows::begin(const Json& description) {
    std::random_device random;
    const auto mark = static_cast<std::uint32_t>(random());
    detail::mark_temporary_files(mark);
    if (::ftruncate(texels_.number(), 0) != 0) fail(texels_path_, errno);
    write_line({{"version", kVersion}, {"mark", mark}, {"image", description}});
}

void FinishedRows::resume(const std::string& lines, const Json& description) {
    const auto refuse = [&](const std::string& why) {
        detail::fail_file(kObject, lines_path_, why,
                          fmt::format("Remove this file and {} to compute the whole image.", texels_path_.string()),
                          ErrorCode::bad_argument);
    };
    const auto parsed = [&](std::string_view line) { return Json::parse(line, nullptr, false); };
    std::size_t begin = lines.find('\n');
    const Json first = parsed(std::string_view(lines).substr(0, begin));
    const auto is_number = [](const Json& line, const char* key) {
        return line.is_object() && line.contains(key) && line.at(key).is_number_unsigned();
    };
    if (!is_number(first, "version") || !is_number(first, "mark") || !first.contains("image")) refuse("is damaged");
    if (const int version = first.at("version").get<int>(); version != kVersion)
        refuse(fmt::format("has version {}, but this program reads version {}", version, kVersion));
    const Json& image = first.at("image");
    for (const auto& [key, value] : description.items()) {
        if (!image.contains(key) || image.at(key) != value)
            refuse(fmt::format("belongs to another image: {} is {}, and was {}", key, value.dump(),
                               image.contains(key) ? image.at(key).dump() : "not recorded"));
    }
    while (++begin < lines.size()) {
        const std::size_t end = lines.find('\n', begin);
        const Json line = parsed(std::string_view(lines).substr(begin, end - begin));
        if (!is_number(line, "rows")) refuse("is damaged");
        count_ = line.at("rows").get<std::size_t>();
        begin = end;
    }
    struct stat status {};
    if (::fstat(texels_.number(), &status) != 0) fail(texels_path_, errno);
    if (count_ > rows_ || static_cast<std::size_t>(status.st_size) < count_ * row_bytes_) refuse("is damaged");
    stored_ = count_;
    // The killed process has left its unfinished output.
    const std::uint32_t mark = first.at("mark").get<std::uint32_t>();
    const fs::path folder = texels_path_.parent_path();
    detail::remove_marked_files(folder.empty() ? fs::path(".") : folder, mark);
    detail::mark_temporary_files(mark);
}

void FinishedRows::check_space() const {
    const fs::path folder = texels_path_.parent_path();
    std::error_code failure;
    const fs::space_info space = fs::space(folder.empty() ? fs::path(".") : folder, failure);
    const std::size_t needed = row_bytes_ * (rows_ - count_);
    if (failure || space.available >= needed) return;
    detail::fail_file(kObject, texels_path_,
                      fmt::format("needs {} for the rows that are left, but the disk has {}", viewer::size_text(needed),
                                  viewer::size_text(space.available)),
                      "Free space, or omit --resume.");
}

void FinishedRows::read(std::size_t first, std::size_t rows, std::byte* texels) const {
    const std::size_t bytes = rows * row_bytes_;
    const std::size_t got = for_all(bytes, [&](std::size_t at, std::size_t part) {
        return ::pread(texels_.number(), texels + at, part, static_cast<off_t>(first * row_bytes_ + at));
    });
    if (got != bytes)
        detail::fail_file(kObject, texels_path_, "cannot be read", "Remove it and compute the image again.");
}

void FinishedRows::append(std::size_t rows, const std::byte* texels) {
    const std::size_t bytes = rows * row_bytes_;
    const std::size_t written = for_all(bytes, [&](std::size_t at, std::size_t part) {
        return ::pwrite(texels_.number(), texels + at, part, static_cast<off_t>(count_ * row_bytes_ + at));
    });
    if (written != bytes) fail(texels_path_, errno);
    count_ += rows;
    if ((count_ - stored_) * row_bytes_ >= kGroup || Clock::now() - stored_at_ >= kInterval) store();
}

void FinishedRows::store() {
    stored_at_ = Clock::now();
    if (stored_ == count_) return;
    if (::fdatasync(texels_.number()) != 0) fail(texels_path_, errno);
    write_line({{"rows", count_}});
    stored_ = count_;
}

void FinishedRows::write_line(const Json& line) {
    const std::string text = line.dump() + '\n';
    const std::size_t written = for_all(text.size(), [&](std::size_t at, std::size_t part) {
        return ::write(lines_.number(), text.data() + at, part);
    });
    if (written != text.size() || ::fdatasync(lines_.number()) != 0) fail(lines_path_, errno);
}

void FinishedRows::remove() noexcept {
    std::error_code ignored;
    fs::remove(lines_path_, ignored);  // first: texels without a description are not used
    fs::remove(texels_path_, ignored);
}

void FinishedRows::fail(const fs::path& path, int error) const {
    detail::fail_file(kObject, path, fmt::format("cannot be written: {}", std::generic_category().message(error)),
                      "Check the folder and the space on the disk. The rows that were finished are kept.");
}

// --- the image -------------------------------------------------------------------------------------------------------

namespace {

class ImageWithFinishedRows final : public detail::ImageSource {
public:
    ImageWithFinishedRows(detail::ImageSourcePtr image, std::shared_ptr<FinishedRows> rows)
        : ImageSource(image->format(), image->srgb(), image->levels()),
          image_(std::move(image)),
          rows_(std::move(rows)) {}

    void read(int level, const Region& box, std::byte* packed) const override {
        const std::lock_guard lock(mutex_);
        const std::size_t first = box.offset.y;
        const std::size_t end = first + box.extent.height;
        const bool whole_rows = box.extent.width == this->level(level).width;
        if (!whole_rows || first > rows_->count()) return image_->read(level, box, packed);
        const std::size_t finished = std::min(rows_->count(), end);
        if (finished > first) rows_->read(first, finished - first, packed);
        // Rows are stored soon after they were computed, also if many are read.
        const std::size_t part = image_->access(level).granule.height;
        for (std::size_t y = finished; y < end; y += part) {
            const Region rows{{0, y, 0}, {box.extent.width, std::min(part, end - y), 1}};
            std::byte* const texels = packed + (y - first) * row_bytes(format(), box.extent.width);
            image_->read(level, rows, texels);
            rows_->append(rows.extent.height, texels);
        }
    }
    std::vector<Region> boxes(int level, std::size_t max_bytes) const override {
        return image_->boxes(level, max_bytes);
    }
    ImageAccess access(int level) const override { return image_->access(level); }

private:
    detail::ImageSourcePtr image_;
    std::shared_ptr<FinishedRows> rows_;
    mutable std::mutex mutex_;
};

}  // namespace

ImageFile with_finished_rows(const ImageFile& image, std::shared_ptr<FinishedRows> rows) {
    auto state = std::make_shared<detail::ImageState>(*image.state());
    state->file = std::make_shared<ImageWithFinishedRows>(state->file, std::move(rows));
    return ImageFile(std::move(state));
}

}  // namespace texton::tiles
