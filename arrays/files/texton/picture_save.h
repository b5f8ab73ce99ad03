#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/picture.h>
#include <texton/planar_array.h>

namespace texton {

struct SaveOptions {
    /// Texels of a tile. Unset: 64 x 64 where the file has levels, and else rows.
    std::optional<Extent> tile{};
    std::string compression{};  ///< as OpenImageIO names it ("zip", "none"); empty: the kind of file's usual
    CubeLayout cube = CubeLayout::vertical_strip;  ///< of cubemaps, but for DDS, which has faces
    std::vector<PictureAttribute> attributes{};    ///< beside the picture's own
    OnPictureProgress progress{};
};

/// Writes the picture, band by band, to a file of the kind that its name's ending says: aside, and renamed when it is
/// complete, so that a failure leaves what was there before. Values are never converted.
///
/// .dds holds all kinds with all levels, in all formats but r8_srgb, rg8_srgb and the planar. .yuv and .raw hold a
/// planar frame. Others hold what OpenImageIO writes in them: .tif and .exr also levels (tiled; .tx is a TIFF), or
/// layers and slices as parts; cubemaps are laid out as asked, cubes of a layered one are parts; layered_1d becomes
/// rows. Alpha, colour space and the attributes of the picture's metadata are kept.
///
/// Throws Error{io}, naming the file, if that kind of file cannot hold it, or it cannot be written; Cancelled; what
/// Picture::read throws.
void save(const std::filesystem::path& path, const Picture& picture, const SaveOptions& options = {});

/// The same, of picture_of() what is given.
void save(const std::filesystem::path& path, const Array& array, const SaveOptions& options = {});
void save(const std::filesystem::path& path, const ConstView& view, const SaveOptions& options = {});
void save(const std::filesystem::path& path, const PlanarArray& array, const SaveOptions& options = {});

}  // namespace texton
