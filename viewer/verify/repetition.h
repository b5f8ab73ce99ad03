#pragma once
// Results of a case that is run several times: whether they vary, and where.
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "viewer/model/host_image.h"

namespace texton::verify {

/// How the results of the runs of a case vary. Results are compared by their stored bits.
struct Repetition {
    std::size_t runs = 0;        ///< all runs
    std::size_t failed = 0;      ///< runs that gave no images
    std::size_t distinct = 0;    ///< distinct results of the other runs
    std::size_t varying = 0;     ///< texels that differ between two results
    bool other_shapes = false;   ///< results differ in number, names, size or format of their images
    bool has_reference = false;  ///< one of the results is equal to a reference

    /// Returns true if the runs did not all give the same images.
    bool varies() const noexcept { return distinct > 1 || (failed > 0 && failed < runs); }
    /// Returns a description: "10 runs gave 3 distinct results, 12 texels vary, and a reference is among the results".
    std::string text() const;
};

/// Collects the results of the runs of a case. Keeps the images of the first run, and hashes of the others.
class RepeatedResults {
public:
    /// Adds the images of a run. They are empty if the run failed.
    void add(const std::vector<HostImage>& images, bool equals_reference);
    /// Returns how the results that were added vary.
    Repetition repetition() const;

private:
    Repetition counts_;  ///< without `distinct` and `varying`
    std::set<std::string> hashes_;
    std::vector<HostImage> first_;
    std::vector<std::vector<bool>> varying_;  ///< texels of each image of `first_`
};

}  // namespace texton::verify
