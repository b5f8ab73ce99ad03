#pragma once
#include <filesystem>

#include <texton/image_file.h>
#include <texton/streamed_texture.h>

namespace texton {

/// Returns the levels of an image as a pyramid for StreamedTexture. The pyramid keeps the image open. Tiles of one file
/// are decoded one after the other: open_pyramid() decodes several at once. The faces of cubemaps become layers, in the
/// order of the faces: six for each cube.
///
/// The smallest levels must be in the file, because they are always resident: TX, tiled OpenEXR and TIFF files, DDS and
/// KTX2 have them if they were written with levels. Tiles of 64 to 256 texels decode fastest; a file without tiles
/// decodes whole rows for each tile.
///
/// Throws Error{bad_argument} if the image is planar, and Error{released} if it is empty.
[[nodiscard]] TilePyramid pyramid_of(const ImageFile& image);
/// Opens an image file as a pyramid. The file is opened once more for each tile that is decoded at the same time, so
/// that StreamedTextureInfo::threads tiles are decoded in parallel.
///
/// If the file is changed or removed later, tiles fail with Error{io}, which says so; tiles that were read before remain
/// valid. Throws the errors of open_image() and pyramid_of().
[[nodiscard]] TilePyramid open_pyramid(const std::filesystem::path& path, const ImageOptions& options = {},
                                       const ReadOptions& reading = {});

/// Returns a pyramid with all levels down to a single texel. Missing levels are computed by this call, on the calling
/// thread, and kept in a temporary file in `folder`, which is removed with the last copy of the pyramid. It has about a
/// third of the bytes of the last level that exists.
///
/// Each texel is fetched with linear filtering from the center of the texels that it covers: the mean of 2 x 2 texels if
/// the size is even, in linear light for sRGB. Formats of integers take one of the texels. If no level is missing, the
/// pyramid is returned unchanged.
///
/// `progress` is called after each part; if it returns false, Canceled is thrown. Throws Error{unsupported} for volumes
/// and block-compressed formats, Error{io} if the file cannot be created or written, for example because the disk is
/// full, and what the callback of the pyramid throws.
[[nodiscard]] TilePyramid add_levels(TilePyramid pyramid, const std::filesystem::path& folder,
                                     const OnImageProgress& progress = {});

}  // namespace texton
