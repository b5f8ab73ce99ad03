#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/array_info.h>
#include <texton/error.h>
#include <texton/planar_array.h>

namespace texton {

namespace detail {
struct PictureState;
}

/// What the numbers of a file are taken for. With sRGB, texels of 8 bits and of BC1, 2, 3 and 7 get a format that the
/// texture unit decodes; wider ones have no such format and are kept as stored, unless a format is asked for (see
/// PictureOptions).
enum class PictureColor : std::uint8_t {
    by_metadata,  ///< sRGB if the file says so
    srgb,
    linear
};

/// Of a file that stores a part of its picture, or more than it (OpenEXR, TIFF).
enum class PictureWindow : std::uint8_t {
    data,    ///< the texels that the file stores
    display  ///< the picture as it is meant to be shown: what is not stored is 0 in all channels
};

/// How six faces lie in a picture. Faces are those of CUDA, seen from inside: +x -x +y -y +z -z.
enum class CubeLayout : std::uint8_t {
    faces,             ///< six pictures (files, or parts of one) in that order
    vertical_strip,    ///< w x 6w, in that order
    horizontal_strip,  ///< 6w x w, in that order
    horizontal_cross,  ///< 4w x 3w: +y above, -y below, and -x +z +x -z in the middle row
    vertical_cross,    ///< 3w x 4w: +y above, -x +z +x in the second row, then -y, then -z turned by 180 degrees
    /// A direction (x, y, z) is at u = 1/2 + atan2(x, z) / 2pi, v = acos(y / length) / pi, in shares of width and
    /// height. The texel at (i, j) of a face with side n looks along its centre, ((i + 1/2) / n, (j + 1/2) / n), and is
    /// blended from the four texels whose centres are around (u * width, v * height): weights in float64; around in u,
    /// clamped in v. sRGB is blended as light. The picture is held in memory as a whole.
    equirectangular,
    openexr_cube,  ///< OpenEXR's strip, whose faces are mirrored
    /// OpenEXR's: the same, but x mirrored, and u = 0 and 1 at the centres of the outermost texels; v as well.
    openexr_latlong
};

/// A file of planar frames has no header: what it cannot say.
struct RawFrames {
    Format format = Format::nv12;
    Extent extent;          ///< both sides even
    std::size_t frame = 0;  ///< which of those that follow each other
    bool operator==(const RawFrames&) const = default;
};

/// What a picture is read as. Each default is what the files say.
struct PictureOptions {
    /// Several files are layers, one is what it holds. As a volume, files or parts are its slices; as layered_1d, rows
    /// its layers.
    std::optional<ArrayKind> kind{};
    /// Without one: the type that the file stores; 8 and 16 bits unsigned are unorm, 8 and 16 bits signed sint, 32 bits
    /// uint and sint. A format whose channels have the same bits and are floats or not like the file's takes the stored
    /// bits as they are. Between unorm, srgb and floats, values are converted: sRGB becomes linear in floats, floats
    /// become sRGB in srgb, and what does not fit unorm is clamped. Others are refused.
    std::optional<Format> format{};
    PictureColor color = PictureColor::by_metadata;
    PictureWindow window = PictureWindow::data;
    bool upright = true;  ///< turned as the file's orientation says
    std::optional<CubeLayout> cube{};
    std::size_t cube_side = 0;  ///< of a face made of an equirectangular picture; 0: a quarter of its width
    int part = 0;               ///< of a file with several (OpenEXR, TIFF) where only one is read
    int first_level = 0;        ///< becomes level 0
    int levels = 0;             ///< how many at most; 0: all that there are
    std::optional<RawFrames> raw{};
    bool operator==(const PictureOptions&) const = default;
};

/// Whether colour was multiplied with alpha when the file was written. Texton keeps it as it is.
enum class PictureAlpha : std::uint8_t { none, straight, premultiplied };

/// Texels of a file's own plane, in which a picture and its parts have places.
struct PictureFrame {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
    bool operator==(const PictureFrame&) const = default;
};

/// A word that a file has for itself: "Artist", "Copyright", "XResolution".
struct PictureAttribute {
    std::string name;
    std::string value;
    std::string type = "string";  ///< as OpenImageIO names it: "float", "int[2]"
    bool operator==(const PictureAttribute&) const = default;
};

/// What the (first) file says of itself, before any conversion.
struct PictureMetadata {
    std::string file_kind;    ///< "openexr", "tiff", "dds"
    std::string color_space;  ///< as the file names it ("sRGB", "Linear"); empty if it does not
    std::vector<std::string> channels;
    PictureAlpha alpha = PictureAlpha::none;
    int orientation = 1;  ///< 1 to 8, as in Exif
    PictureFrame data;
    PictureFrame display;
    std::size_t parts = 1;                     ///< pictures in the file
    std::size_t frames = 1;                    ///< of a file of raw frames
    std::vector<PictureAttribute> attributes;  ///< all else
};

/// The user's callback said to stop. Nothing is left behind.
class Cancelled : public Error {
public:
    using Error::Error;
};

/// How far a load or a save is, in bytes of texels.
struct PictureProgress {
    std::size_t done = 0;
    std::size_t total = 0;
};
/// Called after each part, on the calling thread; false stops with Cancelled.
using OnPictureProgress = std::function<bool(const PictureProgress&)>;

/// What reading a part of a level costs.
struct PictureAccess {
    Extent granule;         ///< texels that are decoded together: a tile, or a strip of rows
    bool in_order = false;  ///< rows above those that were read last cost as much as all from the first one on
    bool operator==(const PictureAccess&) const = default;
};

/// Files, or an array, as one array of texels of which any part can be read. Opening reads headers only. A cheap
/// handle; any thread may read.
class Picture {
public:
    Picture() = default;

    /// The array that would hold it. A planar picture is array_2d, of which plane() has the texels.
    const ArrayInfo& info() const;
    /// What is not as the files have it, in plain sentences ("Three channels are widened to four, with alpha 1.").
    const std::vector<std::string>& conversions() const;
    const PictureMetadata& metadata() const;
    /// 0 is luma, 1 chroma, of planar pictures only: Error{bad_argument}, Error{out_of_bounds}.
    Picture plane(int index) const;

    /// The texels of the part, tightly packed, as Array::view(part) has them: layers and faces lie behind each other.
    /// Only what the part needs is decoded: bands of rows, or tiles where the file has them. Throws what Array::view
    /// throws, Error{bad_argument} unless `texels` is as long, Error{io}, naming the file, if it is damaged or no
    /// longer there.
    void read(const Subresource& part, std::span<std::byte> texels) const;

    /// For who reads a picture part by part: boxes of whole granules, from above, are read at the least cost. Error{out_of_bounds} for
    /// a level that there is not, Error{bad_argument} for a planar picture.
    PictureAccess access(int level = 0) const;

    /// For Texton's own parts.
    const std::shared_ptr<const detail::PictureState>& state() const noexcept { return state_; }
    explicit Picture(std::shared_ptr<const detail::PictureState> state) noexcept : state_(std::move(state)) {}

private:
    std::shared_ptr<const detail::PictureState> state_;
};

/// Opens what OpenImageIO reads, DDS (also cubes, arrays, volumes, block-compressed) and raw planar frames. As for
/// read_image(): three channels are widened to four, of more than four the first four are read. Levels are those of the
/// file (DDS, TX, tiled OpenEXR and TIFF), as far as each is half of the last, rounded down.
///
/// As a cubemap without `cube`, six pictures are its faces; else one picture is by the file's own words OpenEXR's cube
/// or latlong, or by its sides a strip, a cross (4:3, 3:4) or equirectangular (2:1).
///
/// Throws Error{io}, naming the file, if one is missing, damaged, shorter than its header says (DDS, raw), of a kind
/// that cannot be read, or unlike the first; Error{unsupported} if it is not of the kind or format that was asked for.
[[nodiscard]] Picture open_picture(const std::filesystem::path& path, const PictureOptions& options = {});
[[nodiscard]] Picture open_picture(std::span<const std::filesystem::path> paths, const PictureOptions& options = {});

/// The file and those that follow it: names that differ in their last number alone, each one more than the one before.
[[nodiscard]] std::vector<std::filesystem::path> numbered_files(const std::filesystem::path& first);

/// What an array, or a part of one, or memory of any kind holds, as a picture to read or save. It keeps the array
/// alive.
[[nodiscard]] Picture picture_of(const Array& array);
[[nodiscard]] Picture picture_of(const ConstView& view);
[[nodiscard]] Picture picture_of(const PlanarArray& array);

}  // namespace texton
