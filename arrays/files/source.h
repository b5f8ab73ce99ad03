#pragma once
// What a Picture reads from. Files, and what is made of them (turned, cut, laid out, converted), have one face: stacks
// of slices, a stack for each level, of which any box can be read. Whether slices are layers, faces or a volume's, the
// ArrayInfo of the Picture says.
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <texton/picture.h>

namespace texton::detail {

class PictureFile {
public:
    PictureFile(Format format, bool srgb, std::vector<Extent> levels)
        : format_(format), srgb_(srgb), levels_(std::move(levels)) {}
    virtual ~PictureFile() = default;
    PictureFile(const PictureFile&) = delete;
    PictureFile& operator=(const PictureFile&) = delete;

    Format format() const noexcept { return format_; }
    /// True if the numbers of colour channels are sRGB, whatever the format says.
    bool srgb() const noexcept { return srgb_; }
    /// The depth counts slices.
    const std::vector<Extent>& levels() const noexcept { return levels_; }
    Extent level(int index) const { return levels_[static_cast<std::size_t>(index)]; }

    /// Tightly packed texels of a box inside of the level; of BC, whole blocks or such as end at the edge. Any thread
    /// may.
    virtual void read(int level, const Region& box, std::byte* packed) const = 0;
    /// Boxes that make up the level, of `most_bytes` where the file has parts as small as that, in the order in which
    /// reading them costs least.
    virtual std::vector<Region> boxes(int level, std::size_t most_bytes) const = 0;
    virtual PictureAccess access(int level) const { return {boxes(level, 1).front().extent}; }

private:
    Format format_;
    bool srgb_;
    std::vector<Extent> levels_;
};

/// While one lives, its thread waits for a file to be read and decoded. They do not lie in each other.
class FileReading {
public:
    FileReading() : begin_(Clock::now()) {}
    ~FileReading() { spent_ += Clock::now() - begin_; }
    FileReading(const FileReading&) = delete;
    FileReading& operator=(const FileReading&) = delete;
    /// That the calling thread has spent so.
    static double milliseconds() { return std::chrono::duration<double, std::milli>(spent_).count(); }

private:
    using Clock = std::chrono::steady_clock;
    static inline thread_local Clock::duration spent_{};
    Clock::time_point begin_;
};

using PictureFilePtr = std::shared_ptr<const PictureFile>;

struct PictureState {
    ArrayInfo info;
    PictureFilePtr file;            ///< null for planar pictures
    std::array<Picture, 2> planes;  ///< of planar ones
    std::vector<std::string> conversions;
    PictureMetadata metadata;
    std::string name;       ///< of the file, for errors; of several the first
    bool in_place = false;  ///< the texels are those of the file's data window, as they lie there
};

/// The part that both have; a side is 0 if there is none.
[[nodiscard]] Region common_part(const Region& a, const Region& b) noexcept;
[[nodiscard]] bool is_empty(const Region& region) noexcept;
[[nodiscard]] inline Region whole(Extent extent) noexcept { return {{}, extent}; }

/// PictureFile::read; memory that it lacks is an Error{out_of_memory} with that name.
void read_named(const std::string& name, const PictureFile& file, int level, const Region& box, std::byte* packed);

/// Cuts a region into boxes of whole granules: full rows of them if `most_bytes` allow.
[[nodiscard]] std::vector<Region> cut(Format format, const Region& region, Extent granule, std::size_t most_bytes);

/// Copies a box between two packed blocks of texels. Sides and offsets as PictureFile::read has them.
void copy_box(Format format, std::byte* to, Extent to_extent, Offset to_offset, const std::byte* from,
              Extent from_extent, Offset from_offset, Extent box);

/// How many levels from the first on are half of the one before, rounded down; slices too if they are a volume's.
[[nodiscard]] int fitting_levels(std::span<const Extent> levels, bool volume) noexcept;

}  // namespace texton::detail
