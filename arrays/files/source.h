#pragma once
// The source of the texels of a ImageFile. Files and their transformations (turned, cut, laid out, converted) have one
// interface: each level is a stack of slices of which any box can be read. The ArrayInfo of the ImageFile determines
// whether slices are layers, faces or slices of a volume.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <texton/image_file.h>

namespace texton::detail {

/// Location of the slices of a level in a file.
struct StoredLevel {
    Extent extent;             ///< size of the level; the depth is the number of slices
    std::uint64_t first = 0;   ///< byte offset of the first slice
    std::uint64_t stride = 0;  ///< bytes from one slice to the next
};

/// The image of a TIFF file that a source reads, and its channels.
struct TiffPart {
    int index = 0;                        ///< of the image in the file
    int file_channels = 1;                ///< of a texel in the file
    std::vector<std::size_t> channels{};  ///< those that are read
};

/// Interface of a source of texels. Objects are immutable, and several threads may read at once.
class ImageSource {
public:
    ImageSource(Format format, bool srgb, std::vector<Extent> levels)
        : format_(format), srgb_(srgb), levels_(std::move(levels)) {}
    virtual ~ImageSource() = default;
    ImageSource(const ImageSource&) = delete;
    ImageSource& operator=(const ImageSource&) = delete;

    Format format() const noexcept { return format_; }
    /// Returns true if the color values are sRGB-encoded, even if the format is not an sRGB format.
    bool srgb() const noexcept { return srgb_; }
    /// Returns the size of each level. The depth is the number of slices.
    const std::vector<Extent>& levels() const noexcept { return levels_; }
    Extent level(int index) const { return levels_[static_cast<std::size_t>(index)]; }

    /// Reads the texels of a box of a level, tightly packed. The box must lie in the level. In block-compressed formats
    /// it must consist of whole blocks, or end at the edge of the level. Throws Error{io}.
    virtual void read(int level, const Region& box, std::byte* packed) const = 0;
    /// Returns boxes that cover the level without overlap, in the order in which reading them costs least. A box has at
    /// most `max_bytes`, unless the smallest part that the file can decode is larger.
    virtual std::vector<Region> boxes(int level, std::size_t max_bytes) const = 0;
    /// Returns the cost of reading parts of a level.
    virtual ImageAccess access(int level) const { return {boxes(level, 1).front().extent}; }
    /// Returns the location of each level if a file stores the texels as they are read, else nothing.
    virtual std::span<const StoredLevel> stored_levels() const { return {}; }
    /// Returns the image if the texels are those of a TIFF file as it stores them, apart from their compression.
    virtual const TiffPart* tiff_part() const { return nullptr; }

private:
    Format format_;
    bool srgb_;
    std::vector<Extent> levels_;
};

/// Measures the time that a thread spends on reading and decoding files: the lifetime of the objects. Objects of one
/// thread must not be nested.
class FileReading {
public:
    FileReading() : begin_(Clock::now()) {}
    ~FileReading() { spent_ += Clock::now() - begin_; }
    FileReading(const FileReading&) = delete;
    FileReading& operator=(const FileReading&) = delete;
    /// Returns the total time of the calling thread.
    static double milliseconds() { return std::chrono::duration<double, std::milli>(spent_).count(); }

private:
    using Clock = std::chrono::steady_clock;
    static inline thread_local Clock::duration spent_{};
    Clock::time_point begin_;
};

using ImageSourcePtr = std::shared_ptr<const ImageSource>;

/// State of a ImageFile. It is immutable once the ImageFile exists.
struct ImageState {
    ArrayInfo info;                        ///< description of the array
    ImageSourcePtr file;                   ///< the texels; null for planar images
    std::array<ImageFile, 2> planes;       ///< the planes of planar images
    std::vector<std::string> conversions;  ///< as ImageFile::conversions()
    ImageMetadata metadata;                ///< metadata of the first file
    std::string name;                      ///< name of the first file, for error messages
    bool in_place = false;  ///< true: the texels are exactly the data window of the file, neither turned nor moved
};

/// Returns the intersection of two regions. If they do not intersect, a dimension is 0.
[[nodiscard]] Region common_part(const Region& a, const Region& b) noexcept;
/// Returns true if a dimension is 0.
[[nodiscard]] bool is_empty(const Region& region) noexcept;
/// Returns the region that covers the extent.
[[nodiscard]] inline Region whole(Extent extent) noexcept { return {{}, extent}; }

/// Largest width, height and depth of an image, whose windows are counted in int.
inline constexpr std::size_t kMaxSide = 0x7fffffff;
/// Images of this size or more are refused.
inline constexpr std::size_t kMaxImageBytes = std::size_t{1} << 40;
/// Returns true if width, height and depth are 1 to kMaxSide.
[[nodiscard]] bool is_possible(Extent extent) noexcept;
/// Returns true if texels of a format that is not planar have fewer than kMaxImageBytes bytes. The dimensions of the
/// extent must be at least 1.
[[nodiscard]] bool is_possible(Format format, Extent extent) noexcept;
/// Throws Error{io}: the file has kMaxImageBytes or more. The message contains the size in texels.
[[noreturn]] void fail_too_large(const char* object, const std::filesystem::path& path, Extent extent);
/// Returns the window of an image that starts at (0, 0). Throws Error{overflow} if width or height exceeds kMaxSide.
[[nodiscard]] ImageFrame frame_of(const char* object, Extent extent);

/// Calls ImageSource::read(). Throws Error{out_of_memory}, which contains `name`, in place of std::bad_alloc.
void read_named(const std::string& name, const ImageSource& file, int level, const Region& box, std::byte* packed);

/// Cuts a region into boxes of whole granules. A box has full rows if they fit in `max_bytes`.
[[nodiscard]] std::vector<Region> cut(Format format, const Region& region, Extent granule, std::size_t max_bytes);

/// Copies a box between two packed blocks of texels. In block-compressed formats the box must satisfy the condition of
/// ImageSource::read().
void copy_box(Format format, std::byte* to, Extent to_extent, Offset to_offset, const std::byte* from,
              Extent from_extent, Offset from_offset, Extent box);

/// Returns the number of levels, from the first one on, that have half the size of the previous level, rounded down.
/// The depth of a volume is halved, too.
[[nodiscard]] int fitting_levels(std::span<const Extent> levels, bool volume) noexcept;

}  // namespace texton::detail
