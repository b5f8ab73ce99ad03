#include <zlib.h>

#include <new>

#include "arrays/files/zlib_stream.h"

namespace texton::detail {

Decompressed decompress_zlib(std::span<const std::byte> stream, std::span<std::byte> out) {
    uLongf bytes = out.size();
    const int result = uncompress(reinterpret_cast<Bytef*>(out.data()), &bytes,
                                  reinterpret_cast<const Bytef*>(stream.data()), stream.size());
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result == Z_OK && bytes == out.size()) return Decompressed::complete;
    return result == Z_BUF_ERROR ? Decompressed::too_long : Decompressed::damaged;
}

ZlibCompressor::ZlibCompressor() : state_(nullptr) {}
ZlibCompressor::~ZlibCompressor() = default;

bool ZlibCompressor::is_fast() noexcept { return false; }

std::vector<std::byte> ZlibCompressor::compress(std::span<const std::byte> bytes) {
    uLongf size = compressBound(bytes.size());
    std::vector<std::byte> stream(size);
    const int result = compress2(reinterpret_cast<Bytef*>(stream.data()), &size,
                                 reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 6);
    if (result != Z_OK) throw std::bad_alloc();
    stream.resize(size);
    return stream;
}

}  // namespace texton::detail
