#pragma once
#include <texton/recording.h>

namespace texton::detail {

/// Throws Error{bad_argument}, with `object`, unless the recording has the texels of each level, and no results or one
/// for each point.
void check_recording(const Recording& recording, const char* object);

}  // namespace texton::detail
