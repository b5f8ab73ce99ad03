#include "viewer/tiles/finished_rows.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/files/source.h"
#include "core/file_error.h"
#include "core/unfinished_file.h"

namespace texton::tiles {
namespace {

namespace fs = std::filesystem;
using verify::Json;

constexpr const char* kObject = "texton::tiles::FinishedRows";
constexpr int kVersion = 3;
constexpr std::size_t kGroup = std::size_t{64} << 20;  // bytes that are stored together
constexpr std::chrono::milliseconds kInterval{500};    // in which rows are stored, if they are fewer

fs::path beside(const fs::path& output, const char* ending) {
    fs::path path = output;
    path += ending;
    return path;
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

// Returns the rows of a line of the journal, or nothing if the line is not valid.
std::optional<std::vector<Rows>> rows_in(const Json& line) {
    if (!line.is_object() || !line.contains("rows") || !line.at("rows").is_array()) return {};
    std::vector<Rows> ranges;
    for (const Json& range : line.at("rows")) {
        if (!range.is_array() || range.size() != 2 || !range[0].is_number_unsigned() || !range[1].is_number_unsigned())
            return {};
        ranges.push_back({range[0].get<std::size_t>(), range[1].get<std::size_t>()});
        if (ranges.back().first >= ranges.back().end) return {};
    }
    return ranges;
}

}  // namespace

FinishedRows::FinishedRows(const fs::path& output, const Json& description, RowLayout layout)
    : lines_path_(beside(output, ".rows.json")), lines_(open_lines()), texels_(beside(output, ".rows"), layout, true) {
    struct stat status {};
    if (::fstat(lines_.number(), &status) != 0) fail_to_write_rows(lines_path_, errno);
    std::string lines(static_cast<std::size_t>(status.st_size), '\0');
    const std::size_t got = for_all_bytes(lines.size(), [&](std::size_t at, std::size_t bytes) {
        return ::pread(lines_.number(), lines.data() + at, bytes, static_cast<off_t>(at));
    });
    if (got != lines.size()) fail_to_write_rows(lines_path_, errno);
    lines.resize(lines.rfind('\n') + 1);  // a line that was not written completely
    if (::ftruncate(lines_.number(), static_cast<off_t>(lines.size())) != 0) fail_to_write_rows(lines_path_, errno);
    if (lines.empty()) {
        begin(description);
    } else {
        resume(lines, description);
    }
}

FinishedRows::FinishedRows(const fs::path& output, RowLayout layout)
    : texels_(RowFile::unnamed(folder_of(output), layout)) {}

detail::OwnedDescriptor FinishedRows::open_lines() const {
    detail::OwnedDescriptor lines(
        ::open(lines_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_APPEND, 0600));
    if (!lines) fail_to_write_rows(lines_path_, errno);
    if (::flock(lines.number(), LOCK_EX | LOCK_NB) != 0)
        detail::fail_file(kObject, lines_path_, "is used by another process, which computes the same image",
                          "Wait until it ends, or name another output.");
    return lines;
}

void FinishedRows::begin(const Json& description) {
    std::random_device random;
    const auto mark = static_cast<std::uint32_t>(random());
    detail::mark_temporary_files(mark);
    texels_.clear();
    write_line({{"version", kVersion}, {"mark", mark}, {"image", description}});
}

void FinishedRows::resume(const std::string& lines, const Json& description) {
    const auto refuse = [&](const std::string& why) {
        detail::fail_file(kObject, lines_path_, why,
                          fmt::format("Remove this file and {} to compute the whole image.", texels_.path().string()),
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
        const auto ranges = rows_in(parsed(std::string_view(lines).substr(begin, end - begin)));
        if (!ranges) refuse("is damaged");
        for (const Rows rows : *ranges) {
            if (rows.end > texels_.layout().rows || !texels_.find(rows)) refuse("is damaged");
            finished_.add(rows);
        }
        begin = end;
    }
    // The killed process has left its unfinished output.
    const std::uint32_t mark = first.at("mark").get<std::uint32_t>();
    detail::remove_marked_files(folder_of(lines_path_), mark);
    detail::mark_temporary_files(mark);
}

void FinishedRows::write(Rows rows, const std::byte* texels) {
    texels_.write(rows, texels, rows);
    finish(rows);
    store_if_due();
}

void FinishedRows::add(Rows rows) {
    texels_.add(rows);
    finish(rows);
}

void FinishedRows::finish(Rows rows) {
    finished_.add(rows);
    if (is_kept()) unstored_.add(rows);
}

void FinishedRows::store_if_due() {
    const std::size_t bytes = unstored_.count() * texels_.layout().row_bytes * texels_.layout().slices;
    if (bytes >= kGroup || Clock::now() - stored_at_ >= kInterval) store();
}

void FinishedRows::store() {
    stored_at_ = Clock::now();
    if (unstored_.count() == 0) return;
    texels_.synchronize();
    Json ranges = Json::array();
    for (const Rows rows : unstored_.ranges()) ranges.push_back({rows.first, rows.end});
    write_line({{"rows", std::move(ranges)}});
    unstored_ = {};
}

void FinishedRows::write_line(const Json& line) const {
    const std::string text = line.dump() + '\n';
    const std::size_t written = for_all_bytes(text.size(), [&](std::size_t at, std::size_t part) {
        return ::write(lines_.number(), text.data() + at, part);
    });
    if (written != text.size() || ::fdatasync(lines_.number()) != 0) fail_to_write_rows(lines_path_, errno);
}

void FinishedRows::remove() noexcept {
    if (!is_kept()) return;
    std::error_code ignored;
    fs::remove(lines_path_, ignored);  // first: texels without a description are not used
    fs::remove(texels_.path(), ignored);
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
        const Rows rows{box.offset.y, box.offset.y + box.extent.height};
        const std::size_t bytes = row_bytes(format(), box.extent.width);
        const bool whole_rows = box.extent.width == this->level(level).width;
        if (!whole_rows && !rows_->rows().contains(rows)) return image_->read(level, box, packed);
        // Rows are stored soon after they were computed, also if many are read.
        const std::size_t part = image_->access(level).granule.height;
        for (std::size_t y = rows.first; y < rows.end;) {
            std::byte* const texels = packed + (y - rows.first) * bytes;
            std::size_t end = std::min(rows_->rows().end_of(y), rows.end);
            if (end > y) {
                rows_->texels().read(0, {y, end}, row_bytes(format(), box.offset.x), bytes, texels);
            } else {
                end = rows_->rows().next(y, std::min(y + part, rows.end));
                image_->read(level, {{0, y, 0}, {box.extent.width, end - y, 1}}, texels);
                rows_->write({y, end}, texels);
            }
            y = end;
        }
        rows_->has_read_from(rows.first);
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
