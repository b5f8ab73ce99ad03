#pragma once
// Values of the texels of a streamed image.
#include <memory>
#include <span>
#include <vector>

#include "viewer/render/stored_texels.h"

namespace texton::viewer {

class StreamedImage;

/// Values of a level of a streamed document, which must have finer levels than its array. Where a tile is not resident,
/// the finest resident texels are repeated; at the coarsest they are those of the array.
class StreamedTexels : public TexelRows {
public:
    /// Creates a source for a subresource of the files that is finer than the array.
    StreamedTexels(std::shared_ptr<const Document> document, const SubresourceIndex& subresource);
    void read(const TexelBox& box, std::span<Color> out) const override;
    /// Returns true if further waiting changes none of the texels that were read: they are resident, or they are seen
    /// and cannot become resident.
    bool is_final() const noexcept { return is_final_; }

private:
    bool read_level(int level, const TexelBox& box, std::span<Color> out) const;
    void read_coarser(const TexelBox& box, std::span<Color> out) const;

    std::shared_ptr<const Document> document_;
    SubresourceIndex subresource_;
    std::size_t layer_;
    Extent extent_;
    mutable bool is_final_ = true;
};

}  // namespace texton::viewer
