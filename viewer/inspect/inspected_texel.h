#pragma once
// One texel: its stored value, the value that a texture returns, and the displayed color.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <texton/sampler.h>

#include "viewer/render/render.h"
#include "viewer/text/value_text.h"

namespace texton::viewer {

/// Values of one texel of the displayed image. Positions refer to the image's files, also if the device has a reduced
/// image.
struct InspectedTexel {
    SubresourceIndex subresource{};
    std::size_t x = 0;
    std::size_t y = 0;
    Extent extent{};  ///< size in texels of the level that contains the texel
    ArrayKind kind = ArrayKind::array_2d;
    Format format = Format::rgba8_unorm;
    std::vector<StoredChannel> stored{};  ///< stored channels; empty for block-compressed formats
    std::string bytes{};                  ///< bytes of the texel, or of the block that contains it, as hexadecimal text
    int channels = 0;                     ///< number of channels of the format
    Texel sampled{};                      ///< result of a fetch at the texel's center with the session's sampler
    int halvings = 0;                     ///< how often the sampled image was halved, see Document::halvings()
    std::string sampling_problem{};       ///< reason why `sampled` is missing; empty if it is valid
    std::array<int, 3> displayed{};       ///< displayed red, green and blue, 0 to 255
    std::string display_problem{};        ///< reason why `displayed` is missing; empty if it is valid
};

/// Inspects the texel (x, y) of the scene's image, which must not be null. Positions outside the image are clamped.
/// Reads only the texels that are needed. Throws the errors of Document::texels(). Errors of sampling and of the
/// display are reported in the result.
[[nodiscard]] InspectedTexel inspect_texel(const Scene& scene, const SubresourceIndex& subresource, std::size_t x,
                                           std::size_t y, const CancellationToken& token = {});

/// Returns the values as lines of text, for the clipboard.
[[nodiscard]] std::string to_string(const InspectedTexel& texel);
/// Returns a description of a texel position, for example "(20, 10), level 1, face +x". Contains only the parts that
/// the document has more than one of.
[[nodiscard]] std::string subresource_text(const Document& document, const SubresourceIndex& subresource, std::size_t x,
                                           std::size_t y);
/// Returns the name of a cubemap face: "+x", "-x", "+y", "-y", "+z" or "-z". The index is clamped to 0 to 5.
[[nodiscard]] const char* face_name(int face);

/// Returns the session's sampler, or the document's standard sampler if the session has none.
[[nodiscard]] Sampler sampler_of(const Session& session, const Document& document);

}  // namespace texton::viewer
