#include <utility>

#include <fmt/format.h>

#include "arrays/files/formats.h"
#include "arrays/files/frames.h"
#include "arrays/files/isolated/ahead.h"
#include "arrays/files/tiff_texels.h"

// Files that separate processes read. A process opens a file with the same functions that this process would use, and
// describes the result. All further steps (windows, layouts, stacks, conversions) are Texton's own code and run in this
// process, on texels that the other one decoded. This process also decodes texels that need no OpenImageIO: those of
// most TIFF files.

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
          source_(std::move(source)) {
        const Description& description = source_.description;
        if (description.tiff && description.texels.empty())
            tiff_.emplace(source_.session->path(), description.identity, *this, *description.tiff);
    }

    void read(int index, const Region& box, std::byte* packed) const override {
        const std::vector<std::byte>& known = source_.description.texels;
        if (index == 0 && !known.empty()) {
            source_.session->note_read();
            copy_box(format(), packed, box.extent, {}, known.data(), level(0), box.offset, box.extent);
            return;
        }
        if (tiff_) {
            source_.session->require_possible(kRead, source_.description, index, box);
            if (tiff_->read(index, box, packed)) return;
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
    std::optional<TiffTexels> tiff_;
};

// Texels that the file stores as they are need no decoder, so this process reads them. It reads bytes of the file only,
// whatever location the other process has sent.
ImageSourcePtr texels_of(IsolatedSource source) {
    Description& description = source.description;
    if (description.stored.empty() || !description.texels.empty())
        return std::make_shared<IsolatedFile>(std::move(source));
    return stored_file(source.session->path(), description.identity, description.format, description.srgb,
                       StoredOrder::same, std::move(description.stored));
}

OpenedImage opened(IsolatedSource source) {
    const ReaderSessionPtr session = source.session;
    OpenedImage image = std::move(source.description.image);
    if (image.data.empty()) session->refuse_reply(kOpen, "data windows");
    image.file = texels_of(std::move(source));
    return image;
}

// Refuses a reply that does not describe a plane of a planar image of this size.
void require_plane(ReaderSession& session, const ImageSource& file, Format planar, int index, const Extent& extent) {
    const PlaneInfo plane = plane_info(planar, index);
    const Extent expected{extent.width / plane.divide_width, extent.height / plane.divide_height};
    if (file.format() != plane.format || file.levels().size() != 1 || file.level(0) != expected) {
        session.refuse_reply(kOpen, "plane");
    }
}

class IsolatedOpener : public FileOpener {
public:
    explicit IsolatedOpener(const ReadOptions& options) : options_(options) {}

    void expect(std::vector<std::filesystem::path> paths, const FilePart& wanted, bool are_read) override {
        if (options_.reuses_process && paths.size() > 1)
            ahead_.emplace(std::move(paths), SourceKey{.part = wanted}, options_, are_read);
    }
    OpenedImage open_file(const std::filesystem::path& path, const FilePart& wanted) override {
        SourceKey key{.kind = SourceKind::file, .part = wanted};
        OpenedImage image = next_or_open(path, key);
        if (!image.planar) return image;
        const Extent extent = image.file->level(0);
        key.plane = 1;
        image.chroma = open(path, key, kProbableTexels).file;
        require_plane(*session_, *image.file, *image.planar, 0, extent);
        require_plane(*session_, *image.chroma, *image.planar, 1, extent);
        return image;
    }
    OpenedImage open_first_image(const std::filesystem::path& path, const FilePart& wanted) override {
        return open(path, {.kind = SourceKind::first, .part = wanted}, kExpectedTexels);
    }
    OpenedFrame open_raw_frame(const std::filesystem::path& path, const RawFrames& raw) override {
        return frame(path, {.kind = SourceKind::raw, .raw = raw});
    }
    OpenedFrame open_y4m_frame(const std::filesystem::path& path, std::size_t index) override {
        return frame(path, {.kind = SourceKind::y4m, .raw = {.extent = {}, .frame = index}});
    }

private:
    // Returns the next file of the list, or opens another one.
    OpenedImage next_or_open(const std::filesystem::path& path, const SourceKey& key) {
        if (ahead_) {
            if (auto next = ahead_->next(kOpen, path, key)) {
                session_ = next->session;
                if (next->description) return opened({session_, key, std::move(*next->description)});
            }
        }
        return open(path, key, kProbableTexels);
    }
    OpenedImage open(const std::filesystem::path& path, const SourceKey& key, std::uint64_t texels) {
        const ReaderSessionPtr reader = session(path);
        return opened({reader, key, reader->open(kOpen, key, texels)});
    }
    // The images of one file share a session.
    ReaderSessionPtr session(const std::filesystem::path& path) {
        if (session_ == nullptr || session_->path() != path) session_ = std::make_shared<ReaderSession>(path, options_);
        return session_;
    }

    OpenedFrame frame(const std::filesystem::path& path, SourceKey key) {
        const ReaderSessionPtr reader = session(path);
        OpenedFrame opened;
        Extent whole = key.raw.extent;
        for (const int index : {0, 1}) {
            key.plane = static_cast<std::uint8_t>(index);
            IsolatedSource source{reader, key, reader->open(kOpen, key, kProbableTexels)};
            const Description& description = source.description;
            if (index == 0 && key.kind == SourceKind::y4m) whole = description.levels.front().extent;
            const auto format =
                key.kind == SourceKind::y4m ? y4m_format(description.image.metadata) : std::optional(key.raw.format);
            if (!format || !is_possible_frame(*format, whole)) reader->refuse_reply(kOpen, "planar format");
            const PlaneInfo part = plane_info(*format, index);
            const Extent extent{whole.width / part.divide_width, whole.height / part.divide_height};
            if (description.format != part.format || description.levels.size() != 1 ||
                description.levels.front().extent != extent) {
                reader->refuse_reply(kOpen, "plane");
            }
            opened.format = *format;
            opened.metadata = description.image.metadata;
            opened.conversions = description.image.conversions;
            (index == 0 ? opened.luma : opened.chroma) = texels_of(std::move(source));
        }
        return opened;
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
