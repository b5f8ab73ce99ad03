#pragma once
// The list of images of a session: their order and thumbnails.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "viewer/model/document.h"
#include "viewer/model/session.h"

namespace texton::viewer {

/// Moves the image with index `from` to index `to`. Indices of images in the session are adjusted, so they refer to the
/// same images as before.
void move_image(Session& session, std::size_t from, std::size_t to);
/// Removes an image from the list. Indices of other images in the session are adjusted. If the image was the reference,
/// there is no reference afterwards. If it was a further input of the kernel, there is no kernel afterwards.
void close_image(Session& session, std::size_t index);

/// A thumbnail and a description of an image.
struct Thumbnail {
    int width = 0;                        ///< in pixels; 0 if there are no pixels
    int height = 0;                       ///< in pixels; 0 if there are no pixels
    std::vector<std::uint32_t> pixels{};  ///< 0xffRRGGBB, packed rows
    std::string text{};                   ///< description: "481 x 321 of rgba8_unorm, 3 levels"
};

/// Returns a thumbnail of the first subresource with default display settings. The larger of width and height is `side`
/// pixels. Pixels of a frame of a running program show single texels instead of means. Throws the errors of render().
[[nodiscard]] Thumbnail thumbnail(const std::shared_ptr<const Document>& document, int side);
/// Opens files on the CPU device and returns their thumbnail. If the texels have more than `max_bytes` bytes, the
/// result contains only the description. Of a large 2D image without levels and of another format than integers, only
/// some rows are read, in bands of which one has to fit into `max_bytes`. Throws the errors of Document::open(), and
/// Canceled.
[[nodiscard]] Thumbnail thumbnail(const Source& source, int side, std::size_t max_bytes,
                                  const CancellationToken& token = {});

/// Returns the description of an array: "32 x 32 of bc7_srgb, cubemap, 6 levels".
[[nodiscard]] std::string array_text(const ArrayInfo& array);

}  // namespace texton::viewer
