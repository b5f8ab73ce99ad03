#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <texton/array.h>
#include <texton/array_info.h>
#include <texton/error.h>
#include <texton/planar_array.h>
#include <texton/read_options.h>

namespace texton {

namespace detail {
struct ImageState;
}

/// How the values of the color channels are interpreted.
///
/// For sRGB, 8-bit texels and texels of BC1, BC2, BC3 and BC7 get an sRGB format, which the texture unit decodes. Other
/// texels have no sRGB format and keep their stored values, unless ImageOptions::format requests a conversion.
enum class ImageColor : std::uint8_t {
    by_metadata,  ///< sRGB if the file says so
    srgb,         ///< sRGB
    linear        ///< linear
};

/// The window to read from a file whose data window and display window differ (OpenEXR, TIFF).
enum class ImageWindow : std::uint8_t {
    data,    ///< the texels that the file stores
    display  ///< the image as it is meant to be shown; texels that are not stored are 0 in all channels
};

/// Layout of the six faces of a cube in an image. The width and height of a face are n. The faces have the order
/// +x -x +y -y +z -z and the orientation of CUDA's cubemaps, seen from inside.
enum class CubeLayout : std::uint8_t {
    faces,             ///< six images (files, or parts of one file), in the order of the faces
    vertical_strip,    ///< n x 6n, in the order of the faces
    horizontal_strip,  ///< 6n x n, in the order of the faces
    horizontal_cross,  ///< 4n x 3n: +y in the first row, -x +z +x -z in the second row, -y in the third row
    vertical_cross,  ///< 3n x 4n: +y in the first row, -x +z +x in the second, then -y, then -z rotated by 180 degrees
    /// Equirectangular: the direction (x, y, z) has the normalized coordinate u = 1/2 + atan2(x, z) / 2pi, v = acos(y /
    /// length) / pi.
    ///
    /// The texel (i, j) of a face shows the direction through its center, ((i + 1/2) / n, (j + 1/2) / n) of the face.
    /// The value of the texel is interpolated bilinearly in float64, with wrapping in u and clamping in v. sRGB values
    /// are interpolated as linear light. The whole image is decoded into memory as floats.
    equirectangular,
    openexr_cube,  ///< OpenEXR's vertical strip: +y and -y are mirrored vertically, other faces horizontally
    /// OpenEXR's variant of equirectangular: x is mirrored, and u and v are 0 and 1 at the centers of the outermost
    /// texels.
    openexr_latlong
};

/// Order of the samples of a raw planar frame.
enum class RawLayout : std::uint8_t {
    interleaved,  ///< as in the format: luma, then pairs of Cb and Cr. p010 has its 10 bits in the upper bits of 16.
    planes        ///< luma, then Cb, then Cr, as in I420 and yuv420p10le. p010 has its 10 bits in the lower bits of 16.
};

/// How blocks of BC1 to BC5 are decoded. Their specification defines fractions of two end values, which GPUs compute
/// with fewer bits. BC6H and BC7 are specified to the bit.
enum class BlockDecoding : std::uint8_t {
    gpu,   ///< as the texture unit of a GPU decodes them, bit for bit
    exact  ///< the fractions of the specification, which are rounded once, to the requested format
};

/// Description of a file of raw planar frames, which has no header.
struct RawFrames {
    Format format = Format::nv12;                       ///< a planar format; the image has it, whatever the layout is
    Extent extent;                                      ///< size of a frame in texels; width and height must be even
    std::size_t frame = 0;                              ///< index of the frame to read, counted from 0
    RawLayout layout = RawLayout::interleaved;          ///< order of the samples in the file
    bool operator==(const RawFrames&) const = default;  ///< Returns true if all members are equal.
};

/// Returns a description as text: size, format and, unless it is 0, the frame, for example "1920x1080:nv12@5".
[[nodiscard]] std::string to_string(const RawFrames& raw);
/// Returns the description that a text in this form contains. Without a format it is nv12. Formats are nv12, nv16, p010
/// and p016; i420 and i422, which are nv12 and nv16 with RawLayout::planes; and FFmpeg's names yuv420p, yuv422p,
/// yuv420p10le and yuv420p16le for RawLayout::planes. Throws Error{bad_argument} for other text.
[[nodiscard]] RawFrames raw_frames_of(std::string_view text);
/// Returns the description that the name of a file contains, for example clip_1920x1080.yuv or clip_64x48_p010.yuv: a
/// size and, unless it is nv12, a format, which can also be the extension. Size and format must be separate words.
/// Returns nothing if the name does not contain exactly one size.
[[nodiscard]] std::optional<RawFrames> raw_frames_in_name(const std::filesystem::path& path);

/// Options of open_image(). By default, the files determine everything.
struct ImageOptions {
    /// Kind of the array. By default, several files are layers of a layered_2d, and one file determines its kind. For
    /// array_3d the files or parts are slices; for layered_1d the rows of the image are layers.
    std::optional<ArrayKind> kind{};
    /// Format of the texels. By default, it has the type that the file stores: unsigned integers of 8 and 16 bits
    /// become unorm, signed integers of 8 and 16 bits become sint, integers of 32 bits become uint or sint.
    ///
    /// If the format has channels of the same size as the file, and both are floats or neither is, the stored bits are
    /// reinterpreted, unless snorm is read as unorm or srgb. Otherwise values are converted between unorm, snorm, srgb
    /// and floats: sRGB becomes linear in floats, floats become sRGB in srgb, and values outside 0 to 1 (snorm: -1 to
    /// 1) are clamped in integers. Integers take the nearest code, with halves rounded away from zero; float16 takes
    /// the nearest value, with ties to the even code. Texels of block-compressed formats are decoded first: BC1, BC2,
    /// BC3 and BC7 to 8 bits, BC4 and BC5 to 16 bits, BC6H to float16. Other conversions are not supported.
    std::optional<Format> format{};
    BlockDecoding bc = BlockDecoding::gpu;       ///< how blocks are decoded if `format` is not block-compressed
    ImageColor color = ImageColor::by_metadata;  ///< how color values are interpreted
    ImageWindow window = ImageWindow::data;      ///< the window to read
    bool upright = true;                         ///< true: rotate and mirror as the file's orientation says
    std::optional<CubeLayout> cube{};            ///< layout of a cubemap; see open_image() for the default
    std::size_t cube_side = 0;  ///< width of a face made from an equirectangular image; 0: a quarter of its width
    int part = 0;               ///< index of the part of a file with several parts (OpenEXR, TIFF) if one part is read
    std::string part_name{};    ///< name of that part (the metadata attribute "oiio:subimagename"); empty: by index
    /// Names of one to four channels to read, in this order, as ImageMetadata::channels lists them ("R", "diffuse.R").
    /// A number that is not a name is an index, counted from 0. A channel can be read several times. Empty: the first
    /// four.
    std::vector<std::string> channels{};
    int first_level = 0;  ///< level of the file that becomes level 0
    int levels = 0;       ///< maximum number of levels; 0: all
    /// Index of the only layer to read: of a layer, of a cube of a cubemap_layered, or of a slice of a volume, of which
    /// only the first level is read.
    std::optional<std::size_t> layer{};
    /// Index of the only face of a cubemap to read; of a cubemap_layered, `layer` is needed.
    std::optional<int> face{};
    /// Index of the frame of a video file (.y4m, or raw frames that the name of the file describes), counted from 0.
    std::size_t frame = 0;
    /// Set: the file contains raw planar frames. Unset: files with the extension .yuv, or with a format of
    /// raw_frames_of() as their extension, contain raw frames that the name describes.
    std::optional<RawFrames> raw{};
    bool operator==(const ImageOptions&) const = default;  ///< Returns true if all members are equal.
};

/// Whether colors were multiplied by alpha when the file was written. Texton does not change that.
enum class ImageAlpha : std::uint8_t {
    none,          ///< no alpha channel
    straight,      ///< colors are not multiplied by alpha
    premultiplied  ///< colors are multiplied by alpha
};

/// A window in the coordinates of the file, in texels.
struct ImageFrame {
    int x = 0;                                           ///< left edge
    int y = 0;                                           ///< top edge
    int width = 0;                                       ///< width
    int height = 0;                                      ///< height
    bool operator==(const ImageFrame&) const = default;  ///< Returns true if all members are equal.
};

/// A metadata attribute of a file.
struct ImageAttribute {
    std::string name;                                        ///< for example "Artist" or "XResolution"
    std::string value;                                       ///< the value as text
    std::string type = "string";                             ///< OpenImageIO's type name: "float", "int[2]"
    bool operator==(const ImageAttribute&) const = default;  ///< Returns true if all members are equal.
};

/// Metadata of the file before any conversion. Of several files it is the metadata of the first one.
struct ImageMetadata {
    std::string file_kind;                   ///< for example "openexr", "tiff" or "dds"
    std::string color_space;                 ///< as in the file ("sRGB", "Linear"); empty if the file has none
    std::vector<std::string> channels;       ///< names of all channels of the file
    std::vector<std::string> channel_types;  ///< OpenImageIO's names of their types ("half"); empty if unknown
    std::vector<std::string> read_channels;  ///< names of the channels that are read, at most four, in their order
    ImageAlpha alpha = ImageAlpha::none;     ///< kind of alpha of the channels that are read
    int orientation = 1;                     ///< orientation of Exif, 1 to 8
    ImageFrame data;                         ///< window of the stored texels
    ImageFrame display;                      ///< window that is meant to be shown
    std::size_t parts = 1;                   ///< images in the file
    std::size_t frames = 1;                  ///< frames in a video file
    std::vector<ImageAttribute> attributes;  ///< all other attributes
};

/// Exception of an operation that a callback canceled. A canceled save() creates no file, and a file that existed
/// before is unchanged. After a canceled load() into an existing array, the array contains the parts that were loaded
/// until then.
class Canceled : public Error {
public:
    using Error::Error;
};

/// Progress of a load or a save in bytes of texels.
struct ImageProgress {
    std::size_t done = 0;   ///< bytes so far
    std::size_t total = 0;  ///< bytes of the whole operation
};
/// Progress callback. It is called on the calling thread after each part. If it returns false, the operation throws
/// Canceled.
using OnImageProgress = std::function<bool(const ImageProgress&)>;

/// Cost of reading part of a level.
struct ImageAccess {
    Extent granule;         ///< texels that are decoded together: a tile or a strip of rows
    bool in_order = false;  ///< true: going back to earlier rows costs as much as reading all rows from the first one
    bool operator==(const ImageAccess&) const = default;  ///< Returns true if all members are equal.
};

/// An image of which any part can be read: one or several files, or an array in memory. Opening reads only the headers
/// of the files.
///
/// Copies refer to the same image. Several threads may call const member functions at once. An image of an array or a
/// view keeps the memory alive if Texton owns it. Reading such an image copies the texels with copy() without a stream,
/// so the caller must wait for pending writes on other streams first. A default-constructed or moved-from object is
/// empty; its member functions throw Error{released}, except state().
class ImageFile {
public:
    /// Creates an empty object.
    ImageFile() = default;

    /// Returns the description of the array that holds the image. A planar image is an array_2d, whose texels are read
    /// with plane().
    const ArrayInfo& info() const;
    /// Returns a list of the differences between the image and the texels of the files, in full sentences ("Three
    /// channels are widened to four, with alpha 1.").
    const std::vector<std::string>& conversions() const;
    /// Returns the metadata of the first file.
    const ImageMetadata& metadata() const;
    /// Returns a plane of a planar image: 0 is luma, 1 is chroma. Throws Error{bad_argument} if the image is not
    /// planar, and Error{out_of_bounds} for another index.
    ImageFile plane(int index) const;

    /// Reads the texels of a part, tightly packed, in the order of Array::view(part): layers and faces are consecutive
    /// slices. Decodes only the tiles or rows that contain the part. Blocks until the texels are read.
    ///
    /// Throws the errors of Array::view(). Throws Error{bad_argument} if the image is planar or `texels` does not have
    /// the size of the part. Throws Error{io}, which names the file, if the file is damaged, was changed since it was
    /// opened, or no longer exists. Throws Error{out_of_memory} if the texels cannot be decoded for lack of memory. If
    /// it throws while it decodes, the contents of `texels` are undefined.
    void read(const Subresource& part, std::span<std::byte> texels) const;

    /// Returns the cost of reading parts of a level. Reading boxes of whole granules from top to bottom costs least.
    /// Throws Error{out_of_bounds} if the level does not exist, and Error{bad_argument} if the image is planar.
    ImageAccess access(int level = 0) const;

    /// Returns the internal state. For internal use.
    const std::shared_ptr<const detail::ImageState>& state() const noexcept { return state_; }
    /// Creates an object from its internal state. For internal use.
    explicit ImageFile(std::shared_ptr<const detail::ImageState> state) noexcept : state_(std::move(state)) {}

private:
    std::shared_ptr<const detail::ImageState> state_;
};

/// Opens an image file: any file that OpenImageIO reads, DDS and KTX2 (also cubemaps, layers, volumes and block
/// compression), or a frame of a video file: raw planar frames or Y4M (.y4m: 4:2:0 becomes nv12, p010 or p016, and
/// 4:2:2 of 8 bits becomes nv16). KTX2 can be compressed with zlib or, if the build has libzstd, with Zstandard, but
/// not with Basis Universal. Its images are turned upright, except blocks, cubemaps and volumes. Several threads may
/// call this function at once.
///
/// As with read_image(), three channels are widened to four, and of more than four channels the first four are read,
/// unless ImageOptions::channels selects others. The levels of the file (DDS, KTX2, TX, tiled OpenEXR, TIFF) are kept
/// as long as each has half the size of the previous one, rounded down.
///
/// If ImageOptions::kind is a cubemap and ImageOptions::cube is not set, the layout is found as follows. The
/// metadata of the file can name OpenEXR's cube or latlong layout. Otherwise square images are faces, and other images
/// have the layout that fits their size: a strip, a cross (4:3 or 3:4) or equirectangular (2:1).
///
/// Throws Error{io}, which names the file, if a file is missing or damaged, if a DDS or KTX2 file is shorter than its
/// header says, if the size of a raw file is not a multiple of the frame size, if the kind of file is not supported, if
/// a tile is much larger than the image or than the file can contain, or if size or format differ from those of the
/// first file. Throws Error{unsupported} if the files do not have the requested kind or format. Throws
/// Error{out_of_memory}, which names the file, for lack of memory. Throws Error{out_of_bounds} if the first level or
/// the frame does not exist, and Error{bad_argument} if the description of raw frames is invalid or more than four
/// channels are requested. A channel that the file does not have is an Error{io}.
///
/// With ReadOptions::isolated, this function and every read of the image use separate processes, whose failures and
/// limits are further errors: see ReadOptions. Each file of several files has its own process.
[[nodiscard]] ImageFile open_image(const std::filesystem::path& path, const ImageOptions& options = {},
                                   const ReadOptions& reading = {});
/// Opens several files as one image: layers, slices or faces in the order of the paths. Throws the same errors, and
/// Error{bad_argument} if there is no path, or more than one path with a video file.
[[nodiscard]] ImageFile open_image(std::span<const std::filesystem::path> paths, const ImageOptions& options = {},
                                   const ReadOptions& reading = {});

/// Returns true if the extension of the path is that of a kind of file that open_image() reads. The file need not exist.
[[nodiscard]] bool is_image_name(const std::filesystem::path& path);

/// Returns the file and its successors in a numbered sequence. The names differ only in their last number, which
/// increases by 1. The sequence ends before the first missing file. If the name contains no number, the result is only
/// this file. Throws Error{io} if the first file does not exist, is empty or cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> numbered_files(const std::filesystem::path& first);

/// Returns the contents of an array as an image to read or save. The image refers to the texels, not to a copy of them,
/// and keeps the array alive. The caller must wait for pending writes to the texels before ImageFile::read() or save().
/// Throws Error{released} if the array is empty.
[[nodiscard]] ImageFile image_of(const Array& array);
/// Returns the texels of a view as an image, which refers to them as the view does. The slices of a view of a layered
/// array or a cubemap become layers. The slices of other views become a volume.
[[nodiscard]] ImageFile image_of(const ConstView& view);
/// Returns the contents of a planar array as a planar image.
[[nodiscard]] ImageFile image_of(const PlanarArray& array);

}  // namespace texton
