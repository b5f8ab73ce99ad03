#include "arrays/files/compressed_part.h"

#include <algorithm>
#include <string>

#include "arrays/files/zlib_stream.h"
#include "arrays/files/zstd_frames.h"

namespace texton::detail {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{128} << 10;  // the size of a block of Zstandard

std::unique_ptr<Decoder> decoder_of(Supercompression kind) {
    switch (kind) {
        case Supercompression::zstd: return zstd_decoder();
        case Supercompression::zlib: return zlib_decoder();
    }
    return nullptr;
}

}  // namespace

PartReader::PartReader(const CompressedPart& part)
    : part_(part), decoder_(decoder_of(part.kind)), input_(std::make_unique_for_overwrite<std::byte[]>(kPieceBytes)) {}

// Decompresses up to `out.size()` bytes and returns their number, which can be 0 before the end.
std::size_t PartReader::step(const InputFile& file, std::span<std::byte> out) {
    if (input_used_ == input_bytes_ && taken_ < part_.bytes) {
        const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, part_.bytes - taken_));
        if (file.read_at(part_.first + taken_, {input_.get(), piece}) != piece) throw DamagedPart("is truncated");
        input_bytes_ = piece;
        input_used_ = 0;
        taken_ += piece;
    }
    const Decoder::Step done = decoder_->decode({input_.get() + input_used_, input_bytes_ - input_used_}, out);
    if (done.taken == 0 && done.written == 0) {
        throw DamagedPart("has compressed texels that are truncated after " + std::to_string(position_) + " of " +
                          std::to_string(part_.decompressed) + " bytes");
    }
    input_used_ += done.taken;
    is_complete_ = done.is_complete;
    return done.written;
}

void PartReader::read(const InputFile& file, std::span<std::byte> out) {
    while (!out.empty()) {
        const std::size_t got = step(file, out);
        out = out.subspan(got);
        position_ += got;
    }
    if (is_at_end()) check_end(file);
}

void PartReader::skip(const InputFile& file, std::uint64_t bytes) {
    if (bytes == 0) return;
    const auto piece = std::make_unique_for_overwrite<std::byte[]>(kPieceBytes);
    while (bytes > 0) {
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, bytes));
        read(file, {piece.get(), part});
        bytes -= part;
    }
}

// The end of a frame is a checksum. Data that goes on has more texels than the file specifies.
void PartReader::check_end(const InputFile& file) {
    std::byte more;
    while (!is_complete_) {
        if (step(file, {&more, 1}) != 0)
            throw DamagedPart("has compressed texels that go on after " + std::to_string(position_) + " bytes");
    }
}

}  // namespace texton::detail
