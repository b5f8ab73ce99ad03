#pragma once
// What an image of a case must meet to pass, and which of its texels and channels are compared.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <texton/view.h>

#include "viewer/verify/device_match.h"
#include "viewer/verify/special_values.h"
#include "viewer/verify/suite_paths.h"
#include "viewer/verify/tolerance.h"

namespace texton::verify {

/// Whose alpha decides whether a texel is compared. It is not compared where the alpha is 0.
enum class AlphaMask : std::uint8_t {
    reference,  ///< the alpha of the reference
    image,      ///< the alpha of the image
    both        ///< both are 0
};

/// Texels that are not compared: those that are 0 in the first channel of a file, those in rectangles, and those whose
/// alpha is 0.
struct Mask {
    std::optional<std::filesystem::path> file{};
    std::vector<Region> rectangles;  ///< of all slices; their depth is 1
    std::optional<AlphaMask> alpha{};

    bool empty() const noexcept { return !file && rectangles.empty() && !alpha; }
};

/// A rectangle of an image that has limits of its own.
struct RegionLimits {
    Region rectangle;     ///< of all slices; its depth is 1
    Tolerance tolerance;  ///< instead of that of the image
    std::string name{};   ///< for messages; empty if it has none
};

struct DeviceCriteria;

/// What an image must meet.
struct Criteria {
    Tolerance tolerance{.ulp = 0};
    Mask mask;
    std::uint8_t ignored = 0;  ///< bit c is set if channel c is not compared
    std::string where;         ///< position in the suite, for messages
    /// Regions with limits of their own. The first region that contains a texel applies to it.
    std::vector<RegionLimits> regions{};
    SpecialValues special{};  ///< how NaN, infinity and -0 are compared
    /// Criteria that apply instead of these on devices that match. The first one that matches applies.
    std::vector<DeviceCriteria> devices;
};

/// Criteria for the devices that match.
struct DeviceCriteria {
    DeviceMatch match;
    Criteria criteria;  ///< without criteria of devices
};

/// Returns the criteria that apply on a device: `criteria`, or those of one of its devices.
[[nodiscard]] const Criteria& criteria_for(const Criteria& criteria, const viewer::DeviceFields& fields);

/// Reads the keys tolerance, mask, ignore, regions, special and devices of a suite, a case or an image. Keys that are
/// not given keep the values of `defaults`. Keys that are given replace also those of the devices of `defaults`. Throws
/// Error{bad_argument}, with the key, for an invalid value, and Error{not_permitted} for a mask or a map outside of the
/// folder of the suite.
[[nodiscard]] Criteria read_criteria(JsonObject& object, const SuiteFolders& folders, Criteria defaults = {});

}  // namespace texton::verify
