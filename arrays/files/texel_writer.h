#pragma once
#include <cstddef>
#include <functional>

namespace texton::detail {

/// Writes the texels of an image file whose header and metadata OpenImageIO has written: it decides how these are
/// described, and this compresses the texels on all threads, which OpenImageIO does not.
class TexelWriter {
public:
    TexelWriter() = default;
    virtual ~TexelWriter() = default;
    TexelWriter(const TexelWriter&) = delete;
    TexelWriter& operator=(const TexelWriter&) = delete;

    /// Returns the number of rows that are compressed together.
    virtual std::size_t chunk_rows() const noexcept = 0;
    /// Compresses and writes rows of the image, which are packed texels with the channels of the file. They follow the
    /// rows of the call before. The first row must be a multiple of chunk_rows(), and the last one must end a chunk or
    /// the image. Throws Error{io}.
    virtual void write(std::size_t first_row, std::size_t rows, const std::byte* texels) = 0;
    /// Writes what follows the texels, after all rows were written. Throws Error{io}.
    virtual void finish() = 0;

protected:
    /// Calls make(piece, thread) for each piece, on threads with numbers below `threads`. Throws what a call throws.
    static void for_each_piece(std::size_t threads, std::size_t pieces,
                               const std::function<void(std::size_t piece, std::size_t thread)>& make);
};

}  // namespace texton::detail
