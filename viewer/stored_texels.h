#pragma once
// Texels of a picture as the texture unit reads them by point filter, many at a time.
#include <memory>
#include <span>

#include "viewer/display.h"
#include "viewer/document.h"

namespace texton::viewer {

/// Rows of values, whatever they come from.
class TexelRows {
public:
    virtual ~TexelRows() = default;
    /// Packed rows of the box, which lies inside. Throws what copies and fetches throw.
    virtual void read(const TexelBox& box, std::span<Colour> out) const = 0;
};

/// Those of a place. Plain and packed texels are copied and looked up in tables that the texture unit filled; of block-compressed
/// ones each texel is fetched.
class StoredTexels : public TexelRows {
public:
    StoredTexels(std::shared_ptr<const Document> document, const Place& place)
        : document_(std::move(document)), place_(place) {}
    void read(const TexelBox& box, std::span<Colour> out) const override;

private:
    void fetch(const TexelBox& box, std::span<Colour> out) const;

    std::shared_ptr<const Document> document_;
    Place place_;
};

/// What texels in host memory read as; `bytes` holds whole texels of a plain or packed format.
void decode(Format format, std::span<const std::byte> bytes, std::span<Colour> out);

}  // namespace texton::viewer
