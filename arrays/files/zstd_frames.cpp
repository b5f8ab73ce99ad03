#include "arrays/files/zstd_frames.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
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

}  // namespace

void ZstdReader::Free::operator()(ZSTD_DCtx_s* context) const noexcept { ZSTD_freeDCtx(context); }

ZstdReader::ZstdReader(const ZstdPart& part)
    : part_(part), context_(ZSTD_createDCtx()), input_(std::make_unique_for_overwrite<std::byte[]>(kPieceBytes)) {
    if (context_ == nullptr) throw std::bad_alloc();
}

// Decompresses up to `out.size()` bytes and returns their number. It is 0 only if more input is needed or a frame ends.
std::size_t ZstdReader::step(const InputFile& file, std::span<std::byte> out) {
    if (input_used_ == input_bytes_ && taken_ < part_.bytes) {
        const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, part_.bytes - taken_));
        if (file.read_at(part_.first + taken_, {input_.get(), piece}) != piece) throw DamagedZstd("is truncated");
        input_bytes_ = piece;
        input_used_ = 0;
        taken_ += piece;
    }
    ZSTD_inBuffer in{input_.get(), input_bytes_, input_used_};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t result = ZSTD_decompressStream(context_.get(), &to, &in);
    if (ZSTD_isError(result) != 0) {
        if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
        throw DamagedZstd("has texels that cannot be decompressed: " + std::string(ZSTD_getErrorName(result)));
    }
    const bool stuck = in.pos == input_used_ && to.pos == 0 && input_used_ == input_bytes_ && taken_ == part_.bytes;
    if (stuck) {
        throw DamagedZstd("has compressed texels that are truncated after " + std::to_string(position_) + " of " +
                          std::to_string(part_.decompressed) + " bytes");
    }
    input_used_ = in.pos;
    in_frame_ = result != 0;
    return to.pos;
}

void ZstdReader::read(const InputFile& file, std::span<std::byte> out) {
    while (!out.empty()) {
        const std::size_t got = step(file, out);
        out = out.subspan(got);
        position_ += got;
    }
    if (is_at_end()) check_end(file);
}

void ZstdReader::skip(const InputFile& file, std::uint64_t bytes) {
    if (bytes == 0) return;
    const auto piece = std::make_unique_for_overwrite<std::byte[]>(kPieceBytes);
    while (bytes > 0) {
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, bytes));
        read(file, {piece.get(), part});
        bytes -= part;
    }
}

// The end of a frame is a checksum. A frame that goes on has more texels than the file specifies.
void ZstdReader::check_end(const InputFile& file) {
    std::byte more;
    while (in_frame_) {
        if (step(file, {&more, 1}) != 0)
            throw DamagedZstd("has compressed texels that go on after " + std::to_string(position_) + " bytes");
    }
}

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
