#pragma once
#include <optional>

#include <texton/linear.h>
#include <texton/pool.h>
#include <texton/stream.h>

namespace texton::detail {

/// Allocates the scratch memory that a kernel needs between its passes, from `pool` or else from the current pool of
/// the stream's device. The memory is freed in the stream's order, after the passes.
inline Linear scratch_of(const std::optional<Pool>& pool, std::size_t bytes, const Stream& stream) {
    return pool ? pool->allocate(bytes, stream) : Linear::async(bytes, stream);
}

}  // namespace texton::detail
