#pragma once
#include <functional>

#include <texton/picture.h>

namespace texton::viewer {

/// Says whether what is being worked out is still wanted; empty: always.
using StillWanted = std::function<bool()>;

/// Throws Cancelled once it is not.
inline void go_on(const StillWanted& wanted) {
    if (!wanted || wanted()) return;
    throw Cancelled({.code = ErrorCode::not_permitted,
                     .object = "texton-view",
                     .problem = "the work was stopped before its end",
                     .remedy = "Start it again."});
}

}  // namespace texton::viewer
