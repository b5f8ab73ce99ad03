#include "arrays/files/zlib_stream.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <string>

namespace texton::detail {
namespace {

uInt count_of(std::size_t bytes) noexcept {
    return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

class ZlibDecoder : public Decoder {
public:
    ZlibDecoder() {
        if (inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
    }
    ~ZlibDecoder() override { inflateEnd(&stream_); }
    ZlibDecoder(const ZlibDecoder&) = delete;
    ZlibDecoder& operator=(const ZlibDecoder&) = delete;

    Step decode(std::span<const std::byte> in, std::span<std::byte> out) override {
        if (is_complete_) return {.is_complete = true};
        // zlib does not change its input, but only later versions declare it const.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
        stream_.next_out = reinterpret_cast<Bytef*>(out.data());
        stream_.avail_in = count_of(in.size());
        stream_.avail_out = count_of(out.size());
        const uInt available = stream_.avail_in, room = stream_.avail_out;
        const int result = inflate(&stream_, Z_NO_FLUSH);
        if (result == Z_MEM_ERROR) throw std::bad_alloc();
        if (result == Z_NEED_DICT) throw DamagedPart("has texels that cannot be decompressed: a dictionary is needed");
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
            throw DamagedPart("has texels that cannot be decompressed: " +
                              std::string(stream_.msg != nullptr ? stream_.msg : "invalid data"));
        }
        is_complete_ = result == Z_STREAM_END;
        return {available - stream_.avail_in, room - stream_.avail_out, is_complete_};
    }

private:
    z_stream stream_{};
    bool is_complete_ = false;
};

}  // namespace

std::unique_ptr<Decoder> zlib_decoder() { return std::make_unique<ZlibDecoder>(); }

}  // namespace texton::detail
