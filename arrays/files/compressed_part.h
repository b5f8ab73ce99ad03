#pragma once
// Parts of files that are compressed as a whole, decompressed from the beginning to the end.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>

#include "arrays/files/input_file.h"

namespace texton::detail {

enum class Supercompression : std::uint8_t { zstd, zlib };

/// Returns the largest number of bytes that one compressed byte becomes.
[[nodiscard]] constexpr std::uint64_t max_expansion(Supercompression kind) noexcept {
    // Zstandard: a block of 4 bytes repeats a byte 128 KiB times. zlib: a match of 258 bytes takes at least 2 bits.
    return kind == Supercompression::zstd ? 32768 : 1032;
}

/// Location of compressed bytes in a file, and the number of bytes that they become.
struct CompressedPart {
    Supercompression kind = Supercompression::zstd;
    std::uint64_t first = 0;         ///< byte offset in the file
    std::uint64_t bytes = 0;         ///< compressed bytes
    std::uint64_t decompressed = 0;  ///< decompressed bytes
};

/// The compressed bytes are damaged. what() says how, as a clause whose subject is the file.
class DamagedPart : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Decompresses bytes in pieces of any size.
class Decoder {
public:
    virtual ~Decoder() = default;
    struct Step {
        std::size_t taken = 0;     ///< compressed bytes that were used
        std::size_t written = 0;   ///< decompressed bytes
        bool is_complete = false;  ///< the compressed data may end here
    };
    /// Takes and writes no bytes only if the data ends here or if more input is needed. `out` is not empty. Throws
    /// DamagedPart, std::bad_alloc.
    virtual Step decode(std::span<const std::byte> in, std::span<std::byte> out) = 0;
};

/// Decompresses a part. Needs memory for the window of the compression (zlib: 32 KiB; Zstandard: at most 128 MiB, and at
/// most the size of the frame if the frame specifies it), but not for all bytes. Throws std::bad_alloc.
class PartReader {
public:
    /// A part that is compressed with Zstandard needs a build with libzstd: has_zstd().
    explicit PartReader(const CompressedPart& part);

    /// Returns the number of decompressed bytes that were read or skipped.
    std::uint64_t position() const noexcept { return position_; }
    /// Returns true if all bytes were read.
    bool is_at_end() const noexcept { return position_ == part_.decompressed; }
    /// Reads the next bytes. After the last byte, the end of the compressed data is checked. Throws DamagedPart.
    void read(const InputFile& file, std::span<std::byte> out);
    /// Skips bytes. Throws DamagedPart.
    void skip(const InputFile& file, std::uint64_t bytes);

private:
    std::size_t step(const InputFile& file, std::span<std::byte> out);
    void check_end(const InputFile& file);

    CompressedPart part_;
    std::unique_ptr<Decoder> decoder_;
    std::unique_ptr<std::byte[]> input_;  // compressed bytes that were read from the file
    std::size_t input_bytes_ = 0;
    std::size_t input_used_ = 0;
    std::uint64_t taken_ = 0;  // compressed bytes that were read from the file so far
    std::uint64_t position_ = 0;
    bool is_complete_ = false;  // the compressed data may end here
};

}  // namespace texton::detail
