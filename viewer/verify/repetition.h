#pragma once
// Results of a case that is run several times: whether they vary, and where.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "viewer/model/host_image.h"

namespace texton::verify {

/// The texels of an image that vary between the runs of a case.
struct VaryingTexels {
    std::size_t image = 0;  ///< index of the image in the case
    std::string name;       ///< name of the image
    Extent extent;
    std::vector<std::uint32_t> counts;  ///< for each texel: distinct results in which it differs from the first result
};

/// How the results of the runs of a case vary. Results are compared by their stored bits.
struct Repetition {
    std::size_t runs = 0;        ///< all runs
    std::size_t failed = 0;      ///< runs that gave no images
    std::size_t distinct = 0;    ///< distinct results of the other runs
    std::size_t varying = 0;     ///< texels that differ between two results
    bool other_shapes = false;   ///< results differ in number, names, size or format of their images
    bool has_reference = false;  ///< one of the results is equal to a reference
    /// The first image of the case that differs between two results: "frame_3.png", or "image 3" if it has no name.
    /// Empty if the case has one image, or if no image differs.
    std::string first{};
    std::vector<VaryingTexels> images{};  ///< the images that have varying texels

    /// Returns true if the runs did not all give the same images.
    bool varies() const noexcept { return distinct > 1 || (failed > 0 && failed < runs); }
    /// Returns a description: "10 runs gave 3 distinct results, 12 texels vary, and a reference is among the results".
    std::string text() const;
};

/// Collects the results of the runs of a case. Keeps the images of the first result, and hashes of the others.
class RepeatedResults {
public:
    /// Adds the images of a run. They are empty if the run failed.
    void add(const std::vector<HostImage>& images, bool equals_reference);
    /// Returns how the results that were added vary.
    Repetition repetition() const;

private:
    void compare(const std::vector<HostImage>& images);

    Repetition counts_;  ///< without `distinct`, `varying`, `first` and `images`
    std::set<std::string> hashes_;
    std::vector<HostImage> first_;
    std::optional<std::size_t> first_different_;       ///< index of the first image that differs between two results
    std::string first_name_;                           ///< name of this image
    std::vector<std::vector<std::uint32_t>> varying_;  ///< VaryingTexels::counts of each image of `first_`
};

}  // namespace texton::verify
