#pragma once
// Limits for the difference of an image from its reference, as a suite gives them.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "viewer/verify/suite_paths.h"

namespace texton::verify {

/// Maximum number of texels that differ by more than a limit. One of `ulp` and `max` is set, or both.
struct TexelCount {
    std::size_t texels = 0;              ///< maximum number of texels
    std::optional<std::uint32_t> ulp{};  ///< a texel counts if a channel differs by more ulp
    std::optional<double> max{};         ///< a texel counts if a channel differs by more; values are read as float32
};

/// Limits for FLIP. One of `mean` and `max` is set, or both.
struct FlipLimits {
    std::optional<double> mean{};        ///< maximum mean of the compared texels
    std::optional<double> max{};         ///< maximum of the compared texels
    double pixels_per_degree = 67.0206;  ///< as in ComparisonOptions
};

/// Limits for the difference of an image from its reference. All limits that are set must be met, all tolerances of
/// `all`, and one of the tolerances of `any` unless there are none.
struct Tolerance {
    std::optional<std::uint32_t> ulp{};  ///< maximum ulp distance of any channel; 0: the stored bits must be equal
    std::optional<double> max{};         ///< maximum absolute difference of any channel
    std::optional<double> mse{};         ///< maximum mean squared error
    std::optional<double> psnr{};        ///< minimum PSNR in dB
    std::optional<double> ssim{};        ///< minimum SSIM
    std::optional<double> share{};       ///< maximum number of texels that differ, divided by the number of texels
    std::optional<TexelCount> count{};   ///< maximum number of texels that differ by more than a limit
    std::optional<FlipLimits> flip{};    ///< limits for FLIP
    /// Image of the maximum absolute difference of each texel.
    std::optional<std::filesystem::path> map{};
    std::vector<Tolerance> all{};
    std::vector<Tolerance> any{};

    /// Returns true if a limit of this tolerance, or of one inside it, needs SSIM.
    bool needs_ssim() const;
    /// Returns true if this tolerance, or one inside it, has a map.
    bool has_map() const;
};

/// Reads the object of a key. Throws Error{bad_argument}, with the key, for an invalid value, and Error{not_permitted}
/// for a map outside of the folder of the suite.
[[nodiscard]] Tolerance read_tolerance(const JsonObject& object, const std::string& key, const Json& value,
                                       const SuiteFolders& folders);

}  // namespace texton::verify
