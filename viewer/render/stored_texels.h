#pragma once
// Values of texels as the texture unit returns them with a point filter, for many texels at a time.
#include <memory>
#include <span>

#include "viewer/model/document.h"
#include "viewer/render/display.h"

namespace texton::viewer {

/// Interface of a source of rows of values.
class TexelRows {
public:
    virtual ~TexelRows() = default;
    /// Reads the packed rows of a box, which must lie inside the source. Throws the errors of copy(), sample() and
    /// reading files.
    virtual void read(const TexelBox& box, std::span<Color> out) const = 0;
};

/// Values of a subresource of the files. Plain and packed texels are copied and decoded with tables that the texture
/// unit computed. Block-compressed texels are fetched one by one.
class StoredTexels : public TexelRows {
public:
    /// Creates a source for a subresource of the files. `token` is passed to Document::texels().
    StoredTexels(std::shared_ptr<const Document> document, const SubresourceIndex& subresource,
                 CancellationToken token = {})
        : document_(std::move(document)), subresource_(document_->clamped(subresource)), token_(std::move(token)) {}
    void read(const TexelBox& box, std::span<Color> out) const override;
    /// Reads a box if this is possible without reading files. Otherwise returns false.
    bool read_at_hand(const TexelBox& box, std::span<Color> out) const;

private:
    void fetch(const TexelBox& box, std::span<Color> out) const;
    TexelBox blocks_of(const TexelBox& box) const;
    bool is_fetched() const;

    std::shared_ptr<const Document> document_;
    SubresourceIndex subresource_;
    CancellationToken token_;
};

/// Values of the array of a reduced document, at a higher resolution: each texel is repeated for a square of
/// 2^doublings x 2^doublings texels. The last row and column also cover texels beyond their squares.
class RepeatedTexels : public TexelRows {
public:
    /// Creates a source for a subresource of the files.
    RepeatedTexels(const Document& document, const SubresourceIndex& subresource, int doublings);
    void read(const TexelBox& box, std::span<Color> out) const override;

private:
    StoredTexels texels_;
    Extent extent_;  // size of the subresource in the array
    int doublings_;
};

/// Decodes texels in host memory. The format must be plain or packed.
void decode(Format format, std::span<const std::byte> bytes, std::span<Color> out);

/// Returns the smallest box of whole blocks, or to the edge of the subresource, that contains a box. Of other formats
/// than block-compressed ones it is the same box.
[[nodiscard]] TexelBox whole_blocks(Format format, const TexelBox& box, Extent subresource);
/// Decodes the texels of a box. `bytes` are those of whole_blocks().
void decode_box(Format format, std::span<const std::byte> bytes, const TexelBox& blocks, const TexelBox& box,
                std::span<Color> out);

}  // namespace texton::viewer
