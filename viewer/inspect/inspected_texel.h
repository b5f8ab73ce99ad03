#pragma once
// One texel: as it is stored, as a texture returns it, and as it is shown.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <texton/sampler.h>

#include "viewer/render/render.h"
#include "viewer/text/value_text.h"

namespace texton::viewer {

struct InspectedTexel {
    Place place{};
    std::size_t x = 0;
    std::size_t y = 0;
    Extent extent{};  ///< of the place
    ArrayKind kind = ArrayKind::array_2d;
    Format format = Format::rgba8_unorm;
    std::vector<StoredChannel> stored{};  ///< none of blocks
    std::string bytes{};                  ///< of the texel, or of the block that it is a part of
    int channels = 0;                     ///< that textures return of the format
    Texel sampled{};                      ///< at the texel's middle, with the session's sampler
    int halvings = 0;                     ///< of what is sampled, see Document::halvings
    std::string sampling_problem{};       ///< why there is no `sampled`
    std::array<int, 3> displayed{};       ///< red, green and blue of the screen, 0 to 255
    std::string display_problem{};
};

/// The texel nearest to (x, y) of the scene's picture, which must be there. Reads a few texels only. Throws what Document::texels
/// throws.
[[nodiscard]] InspectedTexel inspect_texel(const Scene& scene, const Place& place, std::size_t x, std::size_t y,
                                           const StillWanted& wanted = {});

/// As lines of text, to be copied.
[[nodiscard]] std::string to_string(const InspectedTexel& texel);
/// "(20, 10), level 1, face +x": what the document has several of.
[[nodiscard]] std::string place_words(const Document& document, const Place& place, std::size_t x, std::size_t y);
/// Of the six faces: "+x", "-x", ...
[[nodiscard]] const char* face_name(int face);

/// The sampler that the session reads the document with.
[[nodiscard]] Sampler sampler_of(const Session& session, const Document& document);

}  // namespace texton::viewer
