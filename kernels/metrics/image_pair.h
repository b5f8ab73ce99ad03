#pragma once
#include <texton/stream.h>
#include <texton/view.h>

#include "kernels/metrics/codes.h"

namespace texton::detail {

/// Two images of the same format and extent, in memory that the device of a stream reads.
struct ImagePair {
    const Stream& stream;
    MemoryLocation a;
    MemoryLocation b;
    CodeFormat format;
    const char* object;  ///< for errors
};

}  // namespace texton::detail
