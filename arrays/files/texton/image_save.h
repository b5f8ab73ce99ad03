#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/image_file.h>
#include <texton/planar_array.h>

namespace texton {

/// Whether save() writes the alpha of images with four channels, or only their colors. "Opaque" means that alpha is the
/// value that open_image() adds to three channels, in all texels: 1, or the maximum code value.
enum class SavedAlpha : std::uint8_t {
    /// Opaque alpha is not written if the kind of file cannot hold alpha (JPEG, PPM, HDR), or if the image was opened
    /// from a file with three channels. ICO needs alpha: it is always written.
    automatic,
    unless_opaque,  ///< opaque alpha is not written, except to ICO
    kept,           ///< alpha is written
    dropped         ///< alpha is not written, whatever its values are
};

/// Options of save().
struct SaveOptions {
    /// Size of a tile in texels. If it is not set, files with levels have tiles of 64 x 64 and other files have rows.
    std::optional<Extent> tile{};
    /// Compression method with the name that OpenImageIO uses ("zip", "none"). Empty: the default of the kind of file.
    /// KTX2 has "none" (the default), "zstd", and "zstd:1" (fastest) to "zstd:22" (smallest). Ignored for DDS.
    std::string compression{};
    CubeLayout cube = CubeLayout::vertical_strip;  ///< layout of cubemaps; DDS and KTX2 store faces
    std::vector<ImageAttribute> attributes{};      ///< attributes that are added to those of the image
    SavedAlpha alpha = SavedAlpha::automatic;      ///< whether alpha is written; ignored for DDS and KTX2
    OnImageProgress progress{};                    ///< called after each part; empty: not called
    /// If it is false, save() does not wait until the disk has stored the file. The caller then calls fsync() for the
    /// files and their folders, for example for many files at once.
    bool waits_for_disk = true;
};

/// Writes an image to a file, a few rows at a time. The extension of the path selects the kind of file. Values are
/// never converted. Several threads may call this function at once. If the image is an array or a view, the caller must
/// wait for pending writes to its texels before the call.
///
/// The texels are written to a temporary file in the same folder, which is stored on the disk and then renamed. If
/// writing fails, an existing file is unchanged. An image can therefore be saved over the file that it is read from.
/// Afterwards it must be opened again. The new file has the permissions of the old one and, if the process may set
/// them, its owner and group. If the path is a symbolic link, the file that it leads to is replaced. Only regular files
/// that the process may write are replaced.
///
/// - .dds holds all kinds of array with all levels, in all formats except r8_srgb and rg8_srgb.
/// - .ktx2 holds all kinds of array with all levels, in all formats except planar formats. Color space, orientation and
///   attributes are kept as with other kinds of file; attributes become keys with values.
/// - .y4m, .yuv, .raw and other video files hold planar images. FrameWriter writes several frames.
/// - Other kinds of file are written by OpenImageIO. .tif and .exr hold levels, in tiles, or parts: layers and slices
///   become parts. .tx is a TIFF. Cubemaps are written in the layout SaveOptions::cube, and each cube of a
///   cubemap_layered becomes a part. Each layer of a layered_1d becomes a row. Color space and the attributes of the
///   image's metadata are kept, except attributes that describe how the old file was stored. SaveOptions::alpha selects
///   whether alpha is written. The time of writing is not: without an attribute DateTime, the time in a TIFF or OpenEXR
///   file is unknown, which Exif writes with blanks.
///
/// Throws Error{io}, which names the file, if the kind of file cannot hold the image, for example alpha that is not
/// opaque, or if the file cannot be written. Throws Error{bad_argument} if a side of the tile is 0 or 2^31 or more, or
/// if a TIFF, OpenEXR or KTX2 file cannot have the compression. Throws Canceled if the callback returns false, the
/// callback's exceptions unchanged, and the errors of ImageFile::read().
void save(const std::filesystem::path& path, const ImageFile& image, const SaveOptions& options = {});

/// Returns the format in which save() can write texels of `format` to a file of the kind of `path`: the format itself,
/// or else the nearest one to which ImageOptions::format converts them. Blocks are decoded, and formats of bit fields
/// become plain formats. Integers become floats that distinguish all codes, and linear colors become sRGB in 8 bits.
/// Returns nullopt if there is no such format. Other properties of an image, such as its levels, are not considered.
///
/// Throws Error{io} if save() could not create the file. No file is created.
[[nodiscard]] std::optional<Format> savable_format(const std::filesystem::path& path, Format format);

/// Writes an array to a file: equivalent to save(path, image_of(array), options).
void save(const std::filesystem::path& path, const Array& array, const SaveOptions& options = {});
/// Writes the texels of a view to a file: equivalent to save(path, image_of(view), options).
void save(const std::filesystem::path& path, const ConstView& view, const SaveOptions& options = {});
/// Writes a planar array to a file: equivalent to save(path, image_of(array), options).
void save(const std::filesystem::path& path, const PlanarArray& array, const SaveOptions& options = {});

}  // namespace texton
