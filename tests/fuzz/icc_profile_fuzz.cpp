// ICC profiles of image files. The input is a profile.
#include <algorithm>

#include "tests/fuzz/fuzz.h"
#include "viewer/render/icc_profile.h"

using namespace texton;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string problem;
    const viewer::RgbProfile profile = viewer::rgb_profile({data, data + size}, problem);
    if (!problem.empty()) return 0;
    const std::size_t entries = profile.curves[0].size();
    fuzz::require(entries >= 2, "a curve has a begin and an end");
    fuzz::require(entries <= std::max<std::size_t>(4096, size / 2), "long curves are in the profile");
    for (const std::vector<float>& curve : profile.curves)
        fuzz::require(curve.size() == entries, "the curves have the same size");
    return 0;
}
