#pragma once
// Zstandard frames in files, read and written in parts of any size.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>

#include "arrays/files/input_file.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace texton::detail {

/// Largest number of bytes that a byte of Zstandard frames becomes: a block of 4 bytes repeats a byte 128 KiB times.
inline constexpr std::uint64_t kZstdMaxExpansion = 32768;

/// The frames are damaged. what() says how, as a clause whose subject is the file.
class DamagedZstd : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Location of compressed bytes in a file, and the number of bytes that they become.
struct ZstdPart {
    std::uint64_t first = 0;         ///< byte offset in the file
    std::uint64_t bytes = 0;         ///< compressed bytes
    std::uint64_t decompressed = 0;  ///< decompressed bytes
};

/// Decompresses frames from the beginning to the end. Needs memory for the window of a frame (at most 128 MiB, and at
/// most the size of the frame if the frame specifies it), but not for all bytes. Throws std::bad_alloc.
class ZstdReader {
public:
    explicit ZstdReader(const ZstdPart& part);

    /// Returns the number of decompressed bytes that were read or skipped.
    std::uint64_t position() const noexcept { return position_; }
    /// Returns true if all bytes were read.
    bool is_at_end() const noexcept { return position_ == part_.decompressed; }
    /// Reads the next bytes. After the last byte, the end of the frame is checked. Throws DamagedZstd.
    void read(const InputFile& file, std::span<std::byte> out);
    /// Skips bytes. Throws DamagedZstd.
    void skip(const InputFile& file, std::uint64_t bytes);

private:
    std::size_t step(const InputFile& file, std::span<std::byte> out);
    void check_end(const InputFile& file);

    struct Free {
        void operator()(ZSTD_DCtx_s* context) const noexcept;
    };
    ZstdPart part_;
    std::unique_ptr<ZSTD_DCtx_s, Free> context_;
    std::unique_ptr<std::byte[]> input_;  // compressed bytes that were read from the file
    std::size_t input_bytes_ = 0;
    std::size_t input_used_ = 0;
    std::uint64_t taken_ = 0;  // compressed bytes that were read from the file so far
    std::uint64_t position_ = 0;
    bool in_frame_ = true;  // the last frame is not complete
};

/// Compresses bytes to one frame with a checksum.
class ZstdWriter {
public:
    using Sink = std::function<void(std::span<const std::byte>)>;

    /// Returns the level that compresses best. The first level is 1.
    static int max_level() noexcept;

    /// `total` is the number of bytes that will be passed to write(), and `sink` receives the compressed bytes. Throws
    /// std::bad_alloc.
    ZstdWriter(int level, std::uint64_t total, Sink sink);

    /// Compresses the next bytes. The bytes that complete the total also complete the frame.
    void write(std::span<const std::byte> bytes);

private:
    struct Free {
        void operator()(ZSTD_CCtx_s* context) const noexcept;
    };
    std::unique_ptr<ZSTD_CCtx_s, Free> context_;
    std::unique_ptr<std::byte[]> output_;
    std::uint64_t left_;  // bytes that will be passed to write()
    Sink sink_;
};

}  // namespace texton::detail
