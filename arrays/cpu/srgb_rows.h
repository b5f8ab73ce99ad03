#pragma once
// Tables that convert sRGB colors on vectors, see srgb_vectors.h.
#include <cstdint>

namespace texton::detail {

/// The floats from kFirst to kLast are divided into intervals, 128 of each power of two. An interval contains at most
/// one step between two codes. Floats below have the code 0, and those above have the code of kLast.
///
/// They are also divided into 1024 units of each power of two, which are the float16s.
struct SrgbRowTables {
    static constexpr float kFirst = 0x1p-13F;
    static constexpr float kLast = 1;
    static constexpr std::int32_t kFirstBits = (127 - 13) << 23;  ///< of kFirst
    static constexpr std::int32_t kUnitBits = 13;                 ///< lower bits of a float that its unit does not have
    static constexpr std::int32_t kUnits = 13 * 1024;             ///< from kFirst to kLast

    std::uint32_t colors[256];  ///< bits of the float of each code
    /// For each interval the code of its first float times 2^16, plus what the lower 16 bits of a float must be
    /// increased by to overflow if its code is one larger.
    std::uint32_t steps[13 * 128 + 1];

    /// Upper halves of the colors. The lower halves are 0.
    alignas(64) std::uint16_t upper_halves[256];
    /// Lines that are below the codes of all units by less than 1, and nowhere above them: for 256 units each the first
    /// code and the codes from there to the next line, both in 1/256.
    std::uint16_t first_codes[64];
    std::uint16_t more_codes[64];
    /// Parabolas that have the codes of all units: for 256 units each the first code, and the slope and the curve from
    /// there to the next parabola, all in 1/256 of a code. See SrgbUnitCodes.
    std::uint16_t parabola_codes[64];
    std::uint16_t parabola_slopes[64];
    std::uint16_t parabola_curves[64];
    /// For each code the first unit whose floats all have a larger code, and the lower bits of the floats of the unit
    /// before it that also have a larger code, or more than there are.
    std::uint16_t next_units[256];
    std::uint16_t next_bits[256];
    std::uint16_t filter_words[256];  ///< what the filter adds for each code, see rows_srgb.h
};

/// Returns the tables, which are computed by the first call. Thread-safe.
[[nodiscard]] const SrgbRowTables& srgb_row_tables();

}  // namespace texton::detail
