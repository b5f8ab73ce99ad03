#pragma once
// An image that a client of tev's protocol creates and updates.
#include <memory>
#include <string>
#include <vector>

#include <texton/format.h>

#include "viewer/live/tev_packet.h"

namespace texton::viewer::tev {

/// Texels of 32-bit floats. Names of channels decide where their values are: the part up to the last dot is the name of
/// a layer, and each layer has up to four channels. R, G, B and A of a layer keep this order, and all other channels
/// the order of their creation. Further channels of a layer go to a layer of their own.
///
/// Copies of the texels that were handed out do not change. Not thread-safe.
class Image {
public:
    /// Creates texels that are 0, and alpha 1 if the client sends no alpha. Throws Error{overflow} if the size does not
    /// fit in 64 bits, and Error{out_of_memory} if the texels exceed `max_bytes`.
    Image(const CreateImage& packet, std::size_t max_bytes);

    Format format() const noexcept { return format_; }
    /// Returns the size; the depth is the number of layers.
    Extent extent() const noexcept { return extent_; }
    std::size_t bytes() const noexcept { return texels_->size() * sizeof(float); }
    std::shared_ptr<const std::vector<float>> texels() const noexcept { return texels_; }

    /// Replaces texels. Throws Error{bad_argument} if the image lacks a channel, and Error{out_of_bounds} if the region
    /// exceeds it; the texels are unchanged then.
    void update(const UpdateImage& packet);

private:
    struct Place {
        std::string name;
        std::size_t layer = 0;
        std::size_t component = 0;
    };

    std::vector<Place> channels_;
    std::size_t components_ = 1;
    Format format_ = Format::r32_float;
    Extent extent_;
    std::shared_ptr<std::vector<float>> texels_;
};

}  // namespace texton::viewer::tev
