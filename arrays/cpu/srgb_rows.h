#pragma once
// Tables that convert rows of sRGB colors.
#include <cstdint>

namespace texton::detail {

/// The floats from kFirst to kLast are divided into intervals, 128 of each power of two. An interval contains at most
/// one step between two codes. Floats below have the code 0, and those above have the code of kLast.
struct SrgbRowTables {
    static constexpr float kFirst = 0x1p-13F;
    static constexpr float kLast = 0x1.fffffep-1F;
    static constexpr std::int32_t kFirstInterval = (127 - 13) << 7;  ///< upper 16 bits of kFirst

    float colors[256];  ///< of each code
    /// For each interval the code of its first float times 2^16, plus what the lower 16 bits of a float must be
    /// increased by to overflow if its code is one larger.
    std::int32_t steps[13 * 128];
};

/// Returns the tables, which are computed by the first call. Thread-safe.
[[nodiscard]] const SrgbRowTables& srgb_row_tables();

}  // namespace texton::detail
