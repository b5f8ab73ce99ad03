#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "arrays/files/formats.h"
#include "arrays/files/isolated/session.h"
#include "arrays/files/oiio.h"

// Files that separate processes read. A process opens a file with the same functions that this process would use, and
// describes the result. All further steps (windows, layouts, stacks, conversions) are Texton's own code and run in this
// process, on texels that the other one decoded.

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";
constexpr const char* kRead = "texton::ImageFile";

// Asks for a number from `least` to `most`.
int number(ReaderSession& session, RequestKind kind, int least, int most) {
    const auto bytes = session.ask(kOpen, {.kind = kind});
    try {
        MessageReader in(bytes);
        const int value = in.take<int>("number");
        in.end();
        if (value >= least && value <= most) return value;
    } catch (const MalformedMessage&) {
        // The reply is as invalid as one with another number.
    }
    session.refuse_reply(kOpen, "number");
}

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
        const FileReading reading;
        const Request request{.kind = RequestKind::read,
                              .source = source_.key,
                              .level = index,
                              .box = box,
                              .format = format(),
                              .extent = level(index)};
        source_.session->read(kRead, request, {packed, packed_bytes(format(), box.extent)});
    }
    std::vector<Region> boxes(int index, std::size_t max_bytes) const override {
        const Extent extent = level(index);
        const Extent rows{extent.width, block_side(format()), 1};
        return cut(format(), whole(extent), source_.key.kind == SourceKind::oiio ? access(index).granule : rows,
                   max_bytes);
    }
    ImageAccess access(int index) const override {
        return source_.description.levels[static_cast<std::size_t>(index)].access;
    }

private:
    IsolatedSource source_;
};

OpenedImage opened(const ReaderSessionPtr& session, const SourceKey& key) {
    IsolatedSource source{session, key, session->open(kOpen, key)};
    OpenedImage image = std::move(source.description.image);
    if (image.data.empty()) session->refuse_reply(kOpen, "data windows");
    image.file = std::make_shared<IsolatedFile>(std::move(source));
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

    bool is_dds(const std::filesystem::path& path) override {
        return number(*session(path), RequestKind::is_dds, 0, 1) != 0;
    }
    int image_count(const std::filesystem::path& path) override {
        constexpr std::uintmax_t kMost = std::numeric_limits<int>::max();
        std::error_code not_regular;  // then the size is the largest number
        const std::uintmax_t bytes = std::filesystem::file_size(path, not_regular);  // an image has a byte at least
        return number(*session(path), RequestKind::image_count, 1,
                      static_cast<int>(std::clamp(bytes, std::uintmax_t{1}, kMost)));
    }
    OpenedImage open_with_oiio(const std::filesystem::path& path, int part, ImageColor color) override {
        return opened(session(path), {.kind = SourceKind::oiio, .part = part, .color = color});
    }
    OpenedImage open_dds(const std::filesystem::path& path, ImageColor color) override {
        const ReaderSessionPtr reader = session(path);
        SourceKey key{.kind = SourceKind::dds, .color = color};
        OpenedImage image = opened(reader, key);
        if (!image.planar) return image;
        const Extent extent = image.file->level(0);
        key.plane = 1;
        image.chroma = opened(reader, key).file;
        require_plane(*reader, *image.file, *image.planar, 0, extent);
        require_plane(*reader, *image.chroma, *image.planar, 1, extent);
        return image;
    }
    OpenedFrame open_raw_frame(const std::filesystem::path& path, const RawFrames& raw) override {
        OpenedFrame frame;
        frame.luma = plane(path, raw, 0, frame.metadata);
        frame.chroma = plane(path, raw, 1, frame.metadata);
        return frame;
    }

private:
    // The images of one file share a session.
    ReaderSessionPtr session(const std::filesystem::path& path) {
        if (session_ == nullptr || session_->path() != path) session_ = std::make_shared<ReaderSession>(path, options_);
        return session_;
    }

    ImageSourcePtr plane(const std::filesystem::path& path, const RawFrames& raw, int index, ImageMetadata& metadata) {
        const ReaderSessionPtr reader = session(path);
        const SourceKey key{.kind = SourceKind::raw, .raw = raw, .plane = static_cast<std::uint8_t>(index)};
        IsolatedSource source{reader, key, reader->open(kOpen, key)};
        metadata = std::move(source.description.image.metadata);
        auto file = std::make_shared<IsolatedFile>(std::move(source));
        require_plane(*reader, *file, raw.format, index, raw.extent);
        return file;
    }

    ReadOptions options_;
    ReaderSessionPtr session_;  // of the file that was opened last
};

}  // namespace

std::unique_ptr<FileOpener> file_opener(const ReadOptions& options) {
    if (options.isolated) return std::make_unique<IsolatedOpener>(options);
    return std::make_unique<FileOpener>();
}

}  // namespace texton::detail
