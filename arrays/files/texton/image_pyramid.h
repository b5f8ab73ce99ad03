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

}  // namespace texton
