#include "arrays/files/zstd_frames.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <new>
#include <string>

namespace texton::detail {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{128} << 10;  // the size of a block of a frame

// Returns the result of a function of libzstd whose only possible error is a lack of memory.
std::size_t require_memory(std::size_t result) {
    if (ZSTD_isError(result) != 0) throw std::bad_alloc();
    return result;
}

class ZstdDecoder : public Decoder {
public:
    ZstdDecoder() : context_(ZSTD_createDCtx()) {
        if (context_ == nullptr) throw std::bad_alloc();
    }

    Step decode(std::span<const std::byte> in, std::span<std::byte> out) override {
        ZSTD_inBuffer from{in.data(), in.size(), 0};
        ZSTD_outBuffer to{out.data(), out.size(), 0};
        const std::size_t result = ZSTD_decompressStream(context_.get(), &to, &from);
        if (ZSTD_isError(result) != 0) {
            if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
            throw DamagedPart("has texels that cannot be decompressed: " + std::string(ZSTD_getErrorName(result)));
        }
        return {from.pos, to.pos, result == 0};
    }

private:
    struct Free {
        void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
    };
    std::unique_ptr<ZSTD_DCtx, Free> context_;
};

}  // namespace

bool has_zstd() noexcept { return true; }

std::unique_ptr<Decoder> zstd_decoder() { return std::make_unique<ZstdDecoder>(); }

int ZstdWriter::max_level() noexcept { return ZSTD_maxCLevel(); }

void ZstdWriter::Free::operator()(ZSTD_CCtx_s* context) const noexcept { ZSTD_freeCCtx(context); }

ZstdWriter::ZstdWriter(int level, std::uint64_t total, Sink sink)
    : context_(ZSTD_createCCtx()),
      output_(std::make_unique_for_overwrite<std::byte[]>(kPieceBytes)),
      left_(total),
      sink_(std::move(sink)) {
    if (context_ == nullptr) throw std::bad_alloc();
    require_memory(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level));
    require_memory(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1));
    require_memory(ZSTD_CCtx_setPledgedSrcSize(context_.get(), total));
}

void ZstdWriter::write(std::span<const std::byte> bytes) {
    left_ -= bytes.size();
    const ZSTD_EndDirective end = left_ == 0 ? ZSTD_e_end : ZSTD_e_continue;
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (bool done = false; !done;) {
        ZSTD_outBuffer out{output_.get(), kPieceBytes, 0};
        const std::size_t left = require_memory(ZSTD_compressStream2(context_.get(), &out, &in, end));
        if (out.pos > 0) sink_({output_.get(), out.pos});
        done = end == ZSTD_e_end ? left == 0 : in.pos == in.size;
    }
}

}  // namespace texton::detail
