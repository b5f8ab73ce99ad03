#include "arrays/files/zstd_frames.h"

#include <cstdlib>
#include <utility>

// In builds without libzstd, readers and writers refuse Zstandard before they come here.

namespace texton::detail {

bool has_zstd() noexcept { return false; }
std::unique_ptr<Decoder> zstd_decoder() { std::abort(); }

int ZstdWriter::max_level() noexcept { return 0; }
void ZstdWriter::Free::operator()(ZSTD_CCtx_s*) const noexcept {}
ZstdWriter::ZstdWriter(int, std::uint64_t total, Sink sink) : left_(total), sink_(std::move(sink)) { std::abort(); }
void ZstdWriter::write(std::span<const std::byte>) {}

}  // namespace texton::detail
