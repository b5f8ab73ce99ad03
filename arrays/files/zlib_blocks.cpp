#include <libdeflate.h>

#include <memory>
#include <new>

#include "arrays/files/zlib_stream.h"

namespace texton::detail {

Decompressed decompress_zlib(std::span<const std::byte> stream, std::span<std::byte> out) {
    const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
        libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
    if (decompressor == nullptr) throw std::bad_alloc();
    const libdeflate_result result =
        libdeflate_zlib_decompress(decompressor.get(), stream.data(), stream.size(), out.data(), out.size(), nullptr);
    if (result == LIBDEFLATE_SUCCESS) return Decompressed::complete;
    return result == LIBDEFLATE_INSUFFICIENT_SPACE ? Decompressed::too_long : Decompressed::damaged;
}

ZlibCompressor::ZlibCompressor() : state_(libdeflate_alloc_compressor(6)) {
    if (state_ == nullptr) throw std::bad_alloc();
}

ZlibCompressor::~ZlibCompressor() { libdeflate_free_compressor(static_cast<libdeflate_compressor*>(state_)); }

bool ZlibCompressor::is_fast() noexcept { return true; }

std::vector<std::byte> ZlibCompressor::compress(std::span<const std::byte> bytes) {
    auto* const compressor = static_cast<libdeflate_compressor*>(state_);
    std::vector<std::byte> stream(libdeflate_zlib_compress_bound(compressor, bytes.size()));
    stream.resize(libdeflate_zlib_compress(compressor, bytes.data(), bytes.size(), stream.data(), stream.size()));
    return stream;
}

}  // namespace texton::detail
