#pragma once
#include <functional>

#include <texton/picture.h>

namespace texton::viewer {

/// Returns false when the caller no longer needs the result. An empty function counts as true.
using StillWanted = std::function<bool()>;

/// Throws Cancelled if the result is no longer needed.
inline void go_on(const StillWanted& wanted) {
    if (!wanted || wanted()) return;
    throw Cancelled({.code = ErrorCode::not_permitted,
                     .object = "texton-view",
                     .problem = "the operation was canceled",
                     .remedy = "Start it again if the result is needed."});
}

}  // namespace texton::viewer
