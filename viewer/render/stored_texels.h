#pragma once
// Texels of a picture as the texture unit reads them by point filter, many at a time.
#include <memory>
#include <span>

#include "viewer/model/document.h"
#include "viewer/render/display.h"

namespace texton::viewer {

/// Rows of values, whatever they come from.
class TexelRows {
public:
    virtual ~TexelRows() = default;
    /// Packed rows of the box, which lies inside. Throws what copies and fetches throw.
    virtual void read(const TexelBox& box, std::span<Colour> out) const = 0;
};

/// Those of a place, as the files have them. Plain and packed texels are copied and looked up in tables that the texture unit filled; of
/// block-compressed ones each texel is fetched.
class StoredTexels : public TexelRows {
public:
    /// `wanted` is asked while files are read for them, see Document::texels.
    StoredTexels(std::shared_ptr<const Document> document, const Place& place, StillWanted wanted = {})
        : document_(std::move(document)), place_(document_->clamped(place)), wanted_(std::move(wanted)) {}
    void read(const TexelBox& box, std::span<Colour> out) const override;
    /// False, and nothing is read, where that would take a file.
    bool read_at_hand(const TexelBox& box, std::span<Colour> out) const;

private:
    void fetch(const TexelBox& box, std::span<Colour> out) const;
    TexelBox whole_blocks(const TexelBox& box) const;
    void show(const std::vector<std::byte>& bytes, const TexelBox& blocks, const TexelBox& box,
              std::span<Colour> out) const;
    bool is_fetched() const;

    std::shared_ptr<const Document> document_;
    Place place_;
    StillWanted wanted_;
};

/// Those of a document's array, each for a square of texels, its sides doubled so many times; beyond the last square it goes on.
class RepeatedTexels : public TexelRows {
public:
    /// The place is one of the files.
    RepeatedTexels(const Document& document, const Place& place, int doublings);
    void read(const TexelBox& box, std::span<Colour> out) const override;

private:
    StoredTexels texels_;
    Extent extent_;  // of the array
    int doublings_;
};

/// What texels in host memory read as; `bytes` holds whole texels of a plain or packed format.
void decode(Format format, std::span<const std::byte> bytes, std::span<Colour> out);

}  // namespace texton::viewer
