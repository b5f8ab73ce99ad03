#pragma once
// Launches that compute only some rows of their images. The rows of the others need not have memory: a functor is
// called for the positions of the whole image, so the pixels have the same bits as if all were computed.
#include <cstddef>
#include <span>

#include <texton/view.h>

namespace texton::detail {

/// The first row must be a multiple of this number on CUDA devices, whose blocks of threads compute whole tiles of
/// pixels. It is a multiple of the height of every tile.
inline constexpr std::size_t kRowAlignment = 128;

/// The rows of an image that are computed, in all its slices.
struct ImageRows {
    const std::byte* image = nullptr;  ///< address of the image, which is in memory and not in an array
    std::size_t first = 0;
    std::size_t count = 0;
};

/// Limits the launches of the calling thread to rows, until the end of the scope. Images that are not in the list are
/// computed as a whole. Scopes must not be nested.
///
/// On CUDA devices, kernels whose implementation cannot start at a row call their functor for each pixel. Functors that
/// compute pixels of several rows together throw Error{unsupported}, and so do launches of several images together.
class ImageRowsScope {
public:
    /// The list must outlive the object.
    explicit ImageRowsScope(std::span<const ImageRows> rows) noexcept { current_ = rows; }
    ~ImageRowsScope() { current_ = {}; }
    ImageRowsScope(const ImageRowsScope&) = delete;
    ImageRowsScope& operator=(const ImageRowsScope&) = delete;

    /// Returns the rows of an image to which launches of the calling thread are limited, or null.
    [[nodiscard]] static const ImageRows* of(const MemoryLocation& image) noexcept {
        for (const ImageRows& rows : current_) {
            if (image.address != nullptr && rows.image == image.address) return &rows;
        }
        return nullptr;
    }

private:
    static inline thread_local std::span<const ImageRows> current_{};
};

}  // namespace texton::detail
