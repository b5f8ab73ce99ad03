#pragma once
// Zstandard frames. Builds without libzstd have no_zstd.cpp in place of zstd_frames.cpp.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "arrays/files/compressed_part.h"

struct ZSTD_CCtx_s;

namespace texton::detail {

/// Returns true if the build has libzstd. Without it, the other functions must not be called.
[[nodiscard]] bool has_zstd() noexcept;

/// Returns a decoder of frames that follow each other. Throws std::bad_alloc.
[[nodiscard]] std::unique_ptr<Decoder> zstd_decoder();

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
