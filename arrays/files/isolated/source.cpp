#include <utility>

#include <fmt/format.h>

#include "arrays/files/formats.h"
#include "arrays/files/isolated/ahead.h"

// Files that separate processes read. A process opens a file with the same functions that this process would use, and
// describes the result. All further steps (windows, layouts, stacks, conversions) are Texton's own code and run in this
// process, on texels that the other one decoded.

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";
constexpr const char* kRead = "texton::ImageFile";

// A source that another process describes and reads.
struct IsolatedSource {
    ReaderSessionPtr session;
    SourceKey key;
    Description description;
};

std::vector<Extent> extents_of(const Description& description) {
    std::vector<Extent> extents;
    for (const DescribedLevel& level : description.levels) extents.push_back(level.extent);
    return extents;
}

class IsolatedFile : public ImageSource {
public:
    explicit IsolatedFile(IsolatedSource source)
        : ImageSource(source.description.format, source.description.srgb, extents_of(source.description)),
          source_(std::move(source)) {}

    void read(int index, const Region& box, std::byte* packed) const override {
        const std::vector<std::byte>& known = source_.description.texels;
        if (index == 0 && !known.empty()) {
            copy_box(format(), packed, box.extent, {}, known.data(), level(0), box.offset, box.extent);
            return;
        }
        const FileReading reading;
        source_.session->read(kRead, source_.key, source_.description, index, box,
                              {packed, packed_bytes(format(), box.extent)});
    }
    std::vector<Region> boxes(int index, std::size_t max_bytes) const override {
        const Extent extent = level(index);
        const Extent rows{extent.width, block_side(format()), 1};
        return cut(format(), whole(extent), source_.description.is_encoded ? access(index).granule : rows, max_bytes);
    }
    ImageAccess access(int index) const override {
        return source_.description.levels[static_cast<std::size_t>(index)].access;
    }

private:
    IsolatedSource source_;
};

OpenedImage opened(IsolatedSource source) {
    const ReaderSessionPtr session = source.session;
    OpenedImage image = std::move(source.description.image);
    if (image.data.empty()) session->refuse_reply(kOpen, "data windows");
    image.file = std::make_shared<IsolatedFile>(std::move(source));
    return image;
}

class IsolatedOpener : public FileOpener {
public:
    explicit IsolatedOpener(const ReadOptions& options) : options_(options) {}

    void expect(std::vector<std::filesystem::path> paths, const FilePart& wanted) override {
        if (options_.reuses_process && paths.size() > 1)
            ahead_.emplace(std::move(paths), SourceKey{.part = wanted}, options_);
    }
    OpenedImage open_file(const std::filesystem::path& path, const FilePart& wanted) override {
        const SourceKey key{.kind = SourceKind::file, .part = wanted};
        if (ahead_) {
            if (auto next = ahead_->next(kOpen, path, key)) {
                session_ = next->session;
                if (next->description) return opened({session_, key, std::move(*next->description)});
            }
        }
        return open(path, key, false);
    }
    OpenedImage open_with_oiio(const std::filesystem::path& path, const FilePart& wanted) override {
        return open(path, {.kind = SourceKind::oiio, .part = wanted}, true);
    }
    OpenedFrame open_raw_frame(const std::filesystem::path& path, const RawFrames& raw) override {
        OpenedFrame frame;
        frame.luma = plane(path, raw, 0, frame.metadata);
        frame.chroma = plane(path, raw, 1, frame.metadata);
        return frame;
    }

private:
    OpenedImage open(const std::filesystem::path& path, const SourceKey& key, bool with_texels) {
        const ReaderSessionPtr reader = session(path);
        return opened({reader, key, reader->open(kOpen, key, with_texels)});
    }
    // The images of one file share a session.
    ReaderSessionPtr session(const std::filesystem::path& path) {
        if (session_ == nullptr || session_->path() != path) session_ = std::make_shared<ReaderSession>(path, options_);
        return session_;
    }

    ImageSourcePtr plane(const std::filesystem::path& path, const RawFrames& raw, int index, ImageMetadata& metadata) {
        const ReaderSessionPtr reader = session(path);
        const SourceKey key{.kind = SourceKind::raw, .raw = raw, .plane = static_cast<std::uint8_t>(index)};
        IsolatedSource source{reader, key, reader->open(kOpen, key, false)};
        const PlaneInfo part = plane_info(raw.format, index);
        const Extent extent{raw.extent.width / part.divide_width, raw.extent.height / part.divide_height};
        const std::vector<DescribedLevel>& levels = source.description.levels;
        if (source.description.format != part.format || levels.size() != 1 || levels.front().extent != extent) {
            reader->refuse_reply(kOpen, "plane");
        }
        metadata = std::move(source.description.image.metadata);
        return std::make_shared<IsolatedFile>(std::move(source));
    }

    ReadOptions options_;
    ReaderSessionPtr session_;  // of the file that was opened last
    std::optional<AheadOpener> ahead_;
};

}  // namespace

std::unique_ptr<FileOpener> file_opener(const ReadOptions& options) {
    if (options.isolated) return std::make_unique<IsolatedOpener>(options);
    return std::make_unique<FileOpener>();
}

}  // namespace texton::detail
