#pragma once
// Names of the values of --jpeg, which the command line, the requests to workers and the journal use.
#include <array>

#include <texton/batch.h>

#include "viewer/text/enum_names.h"

namespace texton::batch {

inline constexpr std::array kJpegDecodings{viewer::Named{"full", JpegDecoding::full},
                                           viewer::Named{"shrink", JpegDecoding::shrink},
                                           viewer::Named{"gpu", JpegDecoding::gpu}};

}  // namespace texton::batch
