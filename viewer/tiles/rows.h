#pragma once
#include "arrays/row_range.h"

namespace texton::tiles {

using Rows = detail::RowRange;

}  // namespace texton::tiles
