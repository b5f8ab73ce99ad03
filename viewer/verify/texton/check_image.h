#pragma once
// Tests of images in programs of any kind: an image is compared with references that somebody approved.
// <texton/expect_image.h> contains the assertions for GoogleTest.
//
// References, limits and reports are those of `texton verify`. Environment variables:
//
//   TEXTON_UPDATE_REFERENCES=1   approves images that differ from their references: they become the references
//   TEXTON_UPDATE_AS=NAME        keeps existing references then, and writes variants with this name, such as sm_90
//   TEXTON_REFERENCES=FOLDER     the folder of the references
//   TEXTON_REPORT=FOLDER         receives an HTML page for each check that fails, and index.html, which lists them
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <texton/view.h>

namespace texton {

class Array;
class PlanarArray;
struct Image;

/// Maximum number of texels that differ by more than a limit. `ulp` or `max` must be set, or both.
struct ImageTexelCount {
    std::size_t texels = 0;              ///< maximum number of texels
    std::optional<std::uint32_t> ulp{};  ///< a texel counts if a channel differs by more steps of the format
    std::optional<double> max{};         ///< a texel counts if a channel differs by more
};

/// Limits for FLIP, the difference that a person sees. `mean` or `max` must be set, or both.
struct ImageFlip {
    std::optional<double> mean{};        ///< maximum mean
    std::optional<double> max{};         ///< maximum of a texel
    double pixels_per_degree = 67.0206;  ///< as in ComparisonOptions
};

/// A rectangle of texels, of all slices.
struct ImageRectangle {
    std::size_t x = 0;       ///< of the left column
    std::size_t y = 0;       ///< of the top row
    std::size_t width = 0;   ///< in texels
    std::size_t height = 0;  ///< in texels
};

/// Limits for the difference of an image from its reference. All limits that are set must be met. If none is set, the
/// stored bits must be equal.
///
/// Values are compared as they are stored: unorm values are 0 to 1, sRGB values are code / 255. <texton/metrics.h>
/// defines the measures.
struct ImageLimits {
    std::optional<std::uint32_t> ulp{};      ///< maximum ulp distance of any channel; 0: the stored bits must be equal
    std::optional<double> max{};             ///< maximum absolute difference of any channel
    std::optional<double> mse{};             ///< maximum mean squared error
    std::optional<double> psnr{};            ///< minimum PSNR in dB
    std::optional<double> ssim{};            ///< minimum SSIM
    std::optional<double> share{};           ///< maximum number of texels that differ, divided by the number of texels
    std::optional<ImageTexelCount> count{};  ///< maximum number of texels that differ by more than a limit
    std::optional<ImageFlip> flip{};         ///< limits for FLIP
    std::vector<ImageRectangle> mask{};      ///< texels that are not compared
    std::string ignore{};                    ///< channels that are not compared: letters of "rgba"
    /// JSON object with criteria of a suite, for all that the other members do not express. Its keys are `tolerance`,
    /// `mask`, `ignore`, `regions`, `special` and `devices`. `tolerance`, `mask` and `ignore` replace the members.
    /// Relative paths start from the folder of the references.
    ///
    /// \code
    /// {.json = R"({"devices": [{"match": {"compute_capability": "7.5"}, "tolerance": {"ulp": 1}}]})"}
    /// \endcode
    std::string json{};
};

/// The result of check_image().
struct ImageCheck {
    bool passed = false;                ///< the image meets the limits with one of its references, or was approved
    bool approved = false;              ///< the image became a reference
    std::string message{};              ///< why the check failed; empty if it passed
    std::filesystem::path reference{};  ///< the reference with the smallest difference, or the one that was written
    std::filesystem::path report{};     ///< page of the report; empty if none was written

    explicit operator bool() const noexcept { return passed; }  ///< Returns `passed`.
};

/// Compares an image in memory of any kind with all references of its name, as `texton verify` compares images: the
/// nearest one decides.
///
/// The references of a name are the files NAME.texref and NAME@VARIANT.texref in a folder, which is
/// - the folder in the environment variable TEXTON_REFERENCES, or else
/// - the folder given to set_image_references(), or else
/// - the folder `references` beside the source file of the call.
///
/// All checks with the same name and folder compare with the same references, for example the results of several
/// devices. In an update, the first check of a name in a process decides whether its image becomes the reference. Later
/// ones write nothing, and fail unless they meet the limits.
///
/// `test` names the test in reports, which have one page for each test and name. A test without a name has that of the
/// program. A check that passes removes its page of an earlier run.
///
/// The texels are copied as copy() does without a stream: the caller must wait for pending writes of other streams
/// first. Block-compressed texels are decoded. Several threads may call this function at once. It throws only
/// std::bad_alloc: all errors are failures of the check, with a message that says what to do.
///
/// \code
/// const texton::ImageCheck check = texton::check_image(result.view(), "blur", {.max = 0.01});
/// if (!check) std::cerr << check.message << '\n';
/// \endcode
[[nodiscard]] ImageCheck check_image(const ConstView& image, std::string_view name, const ImageLimits& limits = {},
                                     std::string_view test = {}, const char* file = __builtin_FILE());
/// Compares all levels of an array, each with the image of the same level in the references. Layers and faces are
/// slices of their level.
[[nodiscard]] ImageCheck check_image(const Array& image, std::string_view name, const ImageLimits& limits = {},
                                     std::string_view test = {}, const char* file = __builtin_FILE());
/// Compares both planes of a planar array.
[[nodiscard]] ImageCheck check_image(const PlanarArray& image, std::string_view name, const ImageLimits& limits = {},
                                     std::string_view test = {}, const char* file = __builtin_FILE());
/// Compares an image in host memory.
[[nodiscard]] ImageCheck check_image(const Image& image, std::string_view name, const ImageLimits& limits = {},
                                     std::string_view test = {}, const char* file = __builtin_FILE());
/// Compares several images, for example the frames of a sequence, with those in one reference, in the same order.
[[nodiscard]] ImageCheck check_image(const std::vector<ConstView>& images, std::string_view name,
                                     const ImageLimits& limits = {}, std::string_view test = {},
                                     const char* file = __builtin_FILE());

/// Sets the folder of the references of all later checks, unless TEXTON_REFERENCES names one. An empty path means the
/// folder `references` beside the source file of each check. Several threads may call this function at once.
void set_image_references(const std::filesystem::path& folder);

}  // namespace texton
