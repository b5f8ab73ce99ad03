#pragma once
// Contents of requests and replies, as bytes. Every number that a MessageReader returns was checked against the length
// of the message and the limits that the caller passes, because the process that wrote it may have been damaged.
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "arrays/files/formats.h"
#include "arrays/files/stored_texels.h"

namespace texton::detail {

/// A message does not have the form that it must have. what() says which part.
class MalformedMessage : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class MessageWriter {
public:
    template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    void put(T value) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + sizeof(T));
        std::memcpy(bytes_.data() + at, &value, sizeof(T));
    }
    void put(const std::string& text);
    void put(const Extent& extent);
    void put(const Region& region);
    void put(const ImageFrame& frame);
    void put(const FileIdentity& identity);
    void put(std::span<const std::byte> bytes);
    void put(const std::vector<std::string>& texts);
    const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

/// The member functions throw MalformedMessage.
class MessageReader {
public:
    explicit MessageReader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

    template <class T>
    requires std::is_arithmetic_v<T> T take(const char* what) {
        if constexpr (std::is_same_v<T, bool>) {
            return take<std::uint8_t>(what) != 0;
        } else {
            T value;
            std::memcpy(&value, next(sizeof(T), what).data(), sizeof(T));
            return value;
        }
    }
    /// Returns an enumerator from the first one to `last`.
    template <class T>
    requires std::is_enum_v<T> T take(const char* what, T last) {
        const auto value = take<std::underlying_type_t<T>>(what);
        if (value < 0 || value > static_cast<std::underlying_type_t<T>>(last)) throw MalformedMessage(what);
        return static_cast<T>(value);
    }
    std::string take_text(const char* what);
    std::vector<std::string> take_texts(const char* what);
    /// Returns a number of elements, each of which has at least `least_bytes` bytes in the rest of the message.
    std::size_t take_count(const char* what, std::size_t least_bytes);
    /// Returns an extent whose dimensions are from 1 to 2^31.
    Extent take_extent(const char* what);
    ImageFrame take_frame(const char* what);
    FileIdentity take_identity(const char* what);
    std::vector<std::byte> take_bytes(const char* what);
    Format take_format(const char* what);
    /// Throws if bytes are left.
    void end() const;

private:
    std::span<const std::byte> next(std::size_t bytes, const char* what);

    std::span<const std::byte> rest_;
};

/// What a request asks for.
enum class RequestKind : std::uint8_t {
    open,  ///< the description of a source
    read   ///< a box of a source
};

/// How a file is opened.
enum class SourceKind : std::uint8_t {
    file,   ///< as by open_file()
    first,  ///< as by open_first_image()
    raw,    ///< a plane of open_raw_frame()
    y4m     ///< a plane of open_y4m_frame()
};

/// What identifies a source of a file.
struct SourceKey {
    SourceKind kind = SourceKind::file;
    FilePart part{};         ///< file and first
    RawFrames raw{};         ///< raw: the frame; y4m: only its index
    std::uint8_t plane = 0;  ///< planar images: 0 is luma, 1 is chroma
    bool operator==(const SourceKey&) const = default;
};

struct Request {
    RequestKind kind = RequestKind::open;
    std::uint64_t file = 0;  ///< number of the file, which the packet that closes it contains
    std::string object{};    ///< Error::object() of all errors
    std::string path{};
    SourceKey source{};
    std::uint64_t memory = 0;  ///< limit in bytes
    double seconds = 0;        ///< limit of the time
    std::uint64_t texels = 0;  ///< open: the reply contains the texels of the first level if they have fewer bytes
    FileIdentity identity{};   ///< read: state of the file when it was opened
    int level = 0;             ///< read: the level
    Region box{};              ///< read: the box of the level
    Format format{};           ///< read: format of the source when it was opened
    Extent extent{1, 1, 1};    ///< read: size of the level when the source was opened
};

/// A level of a source that a reader described.
struct DescribedLevel {
    Extent extent;
    ImageAccess access;
};

/// The reply to RequestKind::open. OpenedImage::file is not part of the message.
struct Description {
    Format format{};
    bool srgb = false;
    bool is_encoded = true;  ///< as OpenedImage::is_encoded
    FileIdentity identity;   ///< state of the file before it was opened
    std::vector<DescribedLevel> levels;
    OpenedImage image;
    std::vector<StoredLevel> stored;  ///< as ImageSource::stored_levels()
    std::optional<TiffPart> tiff;     ///< as ImageSource::tiff_part()
    std::vector<std::byte> texels;    ///< all texels of the first level, or none
};
/// Maximum number of bytes of texels that are requested with the description of a source: if the caller will read them,
/// and if it probably will. Decoding fewer texels takes about as long as a request for them.
inline constexpr std::uint64_t kExpectedTexels = std::uint64_t{256} << 10;
inline constexpr std::uint64_t kProbableTexels = std::uint64_t{32} << 10;

[[nodiscard]] std::vector<std::byte> message(const Request& request);
[[nodiscard]] std::vector<std::byte> message(const Description& description);
[[nodiscard]] std::vector<std::byte> message(const Error& error);
/// These throw MalformedMessage.
[[nodiscard]] Request request_of(std::span<const std::byte> bytes);
[[nodiscard]] Description description_of(std::span<const std::byte> bytes);
[[nodiscard]] Error error_of(std::span<const std::byte> bytes);

}  // namespace texton::detail
