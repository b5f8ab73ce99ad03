#pragma once
// How NaN, infinity and -0 of float formats are compared.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/model/host_image.h"
#include "viewer/model/json_object.h"

namespace texton::verify {

/// How special values of one kind are compared.
enum class SpecialRule : std::uint8_t {
    equal,   ///< all NaN are equal, infinities of one sign are, and 0 and -0 are
    bits,    ///< they are equal if their stored bits are
    ignore,  ///< a texel is not compared if a channel of the reference has the value
    refuse   ///< the image must not contain the value
};

/// Rules for special values. Without a rule, values are compared as by `equal`, but a limit of 0 ulp compares all
/// stored bits.
struct SpecialValues {
    std::optional<SpecialRule> nan{};
    std::optional<SpecialRule> infinity{};  ///< `bits` is the same as `equal`
    std::optional<SpecialRule> zero{};      ///< of 0 and -0: `equal` or `bits`

    bool empty() const noexcept { return !nan && !infinity && !zero; }
};

/// Reads the value of the key `special`. Throws Error{bad_argument}, with the key, for an invalid value.
[[nodiscard]] SpecialValues read_special(const JsonObject& object, const Json& value);

/// Special values that break a rule.
struct SpecialProblems {
    std::size_t nans = 0;        ///< texels with a NaN that is refused
    std::size_t infinities = 0;  ///< texels with an infinity that is refused
    std::size_t bits = 0;        ///< texels with NaN or 0 whose stored bits differ from the reference

    /// Returns a description, empty if there are no problems.
    std::string text() const;
};

/// Applies the rules to the texels that are not excluded and to the channels whose indices are given.
///
/// Texels that are ignored become excluded. Where a rule `equal` applies, `actual` gets the stored bits of `expected`.
/// Formats that are not float formats have no special values.
[[nodiscard]] SpecialProblems apply_rules(const SpecialValues& special, const HostImage& expected, HostImage& actual,
                                          std::vector<bool>& excluded, const std::vector<std::size_t>& channels);

}  // namespace texton::verify
