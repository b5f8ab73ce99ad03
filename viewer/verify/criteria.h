#pragma once
// What an image of a case must meet to pass, and which of its texels and channels are compared.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <texton/view.h>

#include "viewer/verify/suite_paths.h"

namespace texton::verify {

/// Maximum number of texels that differ by more than a limit. One of `ulp` and `max` is set, or both.
struct TexelCount {
    std::size_t texels = 0;              ///< maximum number of texels
    std::optional<std::uint32_t> ulp{};  ///< a texel counts if a channel differs by more ulp
    std::optional<double> max{};         ///< a texel counts if a channel differs by more; values are read as float32
};

/// Limits for the difference of an image from its reference. All limits that are set must be met.
struct Tolerance {
    std::optional<std::uint32_t> ulp{};  ///< maximum ulp distance of any channel; 0: the stored bits must be equal
    std::optional<double> max{};         ///< maximum absolute difference of any channel
    std::optional<double> mse{};         ///< maximum mean squared error
    std::optional<double> psnr{};        ///< minimum PSNR in dB
    std::optional<double> ssim{};        ///< minimum SSIM
    std::optional<double> share{};       ///< maximum number of texels that differ, divided by the number of texels
    std::optional<TexelCount> count{};   ///< maximum number of texels that differ by more than a limit
};

/// Texels that are not compared: those that are 0 in the first channel of a file, or those in rectangles.
struct Mask {
    std::optional<std::filesystem::path> file{};
    std::vector<Region> rectangles;  ///< of all slices; their depth is 1

    bool empty() const noexcept { return !file && rectangles.empty(); }
};

/// What an image must meet.
struct Criteria {
    Tolerance tolerance{.ulp = 0};
    Mask mask;
    std::uint8_t ignored = 0;  ///< bit c is set if channel c is not compared
    std::string where;         ///< position in the suite, for messages
};

/// Reads the keys tolerance, mask and ignore of a case or an image. Keys that are not given keep the values of
/// `defaults`. Throws Error{bad_argument}, with the key, for an invalid value, and Error{not_permitted} for a mask
/// outside of the folder of the suite.
[[nodiscard]] Criteria read_criteria(JsonObject& object, const SuiteFolders& folders, Criteria defaults = {});

}  // namespace texton::verify
