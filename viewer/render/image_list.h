#pragma once
// The pictures of a session as a list: their order, and how they look in small.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "viewer/model/document.h"
#include "viewer/model/session.h"

namespace texton::viewer {

/// Takes the picture `from` to where `to` is; all that names pictures by their number goes on naming the same ones.
void move_picture(Session& session, std::size_t from, std::size_t to);
/// Takes the picture out of the list. All that names others by their number goes on naming the same ones; what needs the closed one
/// ends: the reference is none then, and a kernel that takes it as a further input is no longer run.
void close_picture(Session& session, std::size_t index);

struct Thumbnail {
    int width = 0;
    int height = 0;
    std::vector<std::uint32_t> pixels{};  ///< 0xffRRGGBB, rows packed
    std::string words{};                  ///< "481 x 321 of rgba8_unorm, 3 levels"
};

/// The picture's first part as it is usually shown, with its longer side of `side` pixels. Throws what render() throws.
[[nodiscard]] Thumbnail thumbnail(const std::shared_ptr<const Document>& document, int side);
/// Of files that nobody has opened. Of those with more than `most_bytes` of texels, the words alone. Throws what
/// Document::open() throws.
[[nodiscard]] Thumbnail thumbnail(const Source& source, int side, std::size_t most_bytes);

/// What an array is, in words: "32 x 32 of bc7_srgb, cubemap, 6 levels".
[[nodiscard]] std::string array_words(const ArrayInfo& array);

}  // namespace texton::viewer
