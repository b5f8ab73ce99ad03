#pragma once
// Launches that compute only some rows of their images. The rows of the others need not have memory: a functor is
// called for the positions of the whole image, so the pixels have the same bits as if all were computed.
#include <cstddef>
#include <span>

#include <texton/view.h>

namespace texton::detail {

/// The rows of an image that are computed, in all its slices.
struct ImageRows {
    const std::byte* image = nullptr;  ///< address of the image, whose memory is that of the CPU device
    std::size_t first = 0;
    std::size_t count = 0;
};

/// Limits the launches of the calling thread on the CPU device to rows, until the end of the scope. Images that are not
/// in the list are computed as a whole. Scopes must not be nested.
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
