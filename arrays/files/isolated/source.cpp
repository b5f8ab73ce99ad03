#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "arrays/files/formats.h"
#include "arrays/files/frames.h"
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
    OpenedImage open_with_oiio(const std::filesystem::path& path, int part, ImageColor color,
                               std::span<const std::string> channels) override {
        return opened(
            session(path),
            {.kind = SourceKind::oiio, .part = part, .color = color, .channels = {channels.begin(), channels.end()}});
    }
    OpenedImage open_dds(const std::filesystem::path& path, ImageColor color) override {
        return opened(session(path), {.kind = SourceKind::dds, .color = color});
    }
    OpenedFrame open_raw_frame(const std::filesystem::path& path, const RawFrames& raw) override {
        return frame(path, {.kind = SourceKind::raw, .raw = raw});
    }
    OpenedFrame open_y4m_frame(const std::filesystem::path& path, std::size_t index) override {
        return frame(path, {.kind = SourceKind::y4m, .raw = {.extent = {}, .frame = index}});
    }

private:
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
            IsolatedSource source{reader, key, reader->open(kOpen, key)};
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
            (index == 0 ? opened.luma : opened.chroma) = std::make_shared<IsolatedFile>(std::move(source));
        }
        return opened;
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
