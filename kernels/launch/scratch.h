#pragma once
#include <optional>

#include <texton/linear.h>
#include <texton/pool.h>
#include <texton/stream.h>

namespace texton::detail {

/// What a kernel needs between its passes; it is freed behind them, in the stream's order.
inline Linear scratch_of(const std::optional<Pool>& pool, std::size_t bytes, const Stream& stream) {
    return pool ? pool->allocate(bytes, stream) : Linear::async(bytes, stream);
}

}  // namespace texton::detail
