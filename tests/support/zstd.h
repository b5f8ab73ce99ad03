#pragma once
// Zstandard in tests, which also run in builds without it.
#include "arrays/files/zstd_frames.h"

namespace texton::test {

/// Returns a compression of KTX2 files: "zstd" if the build has it, else "none".
inline const char* zstd_if_built() { return texton::detail::has_zstd() ? "zstd" : "none"; }

}  // namespace texton::test
