// Recordings of texture units. The input is a file. Accepted recordings are written and read again, and replayed with
// the model and on the CPU device, which must return the same bits.
#include <texton/recording.h>

#include <algorithm>
#include <cmath>

#include "tests/fuzz/fuzz.h"

using namespace texton;

namespace {

bool same(const Sampler& a, const Sampler& b) {
    Sampler rest = b;
    bool equal =
        fuzz::same(a.mip_bias, b.mip_bias) && fuzz::same(a.mip_min, b.mip_min) && fuzz::same(a.mip_max, b.mip_max);
    for (int i = 0; i < 4; ++i) {
        equal = equal && fuzz::same(a.border[i], b.border[i]);
        rest.border[i] = a.border[i];
    }
    rest.mip_bias = a.mip_bias;
    rest.mip_min = a.mip_min;
    rest.mip_max = a.mip_max;
    // A NaN differs from itself, so the numbers are compared above.
    Sampler first = a;
    for (Sampler* each : {&first, &rest}) {
        each->mip_bias = each->mip_min = each->mip_max = 0;
        std::ranges::fill(each->border, 0.0f);
    }
    return equal && first == rest;
}

bool same(const FetchPoint& a, const FetchPoint& b) {
    bool equal = fuzz::same(a.x, b.x) && fuzz::same(a.y, b.y) && fuzz::same(a.z, b.z) && a.layer == b.layer &&
                 fuzz::same(a.lod, b.lod);
    for (int i = 0; i < 3; ++i) equal = equal && fuzz::same(a.dx[i], b.dx[i]) && fuzz::same(a.dy[i], b.dy[i]);
    return equal;
}

bool same(const Recording& a, const Recording& b) {
    const auto same_point = [](const FetchPoint& first, const FetchPoint& second) { return same(first, second); };
    return a.array == b.array && a.source == b.source && same(a.sampler, b.sampler) && a.operation == b.operation &&
           a.component == b.component && a.levels == b.levels && a.results == b.results &&
           std::ranges::equal(a.points, b.points, same_point);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".cap"), again("-again.cap");
    auto recording = fuzz::accepted([&] { return read_recording(file.with({data, size})); });
    if (!recording) return 0;
    std::size_t bytes = recording->results.size() * sizeof(Texel);
    for (const auto& level : recording->levels) bytes += level.size();
    fuzz::require(bytes <= size, "texels and results are in the file");
    write_recording(again.path(), *recording);
    fuzz::require(same(read_recording(again.path()), *recording), "a written recording is read again");

    constexpr std::size_t kPoints = 32;
    recording->points.resize(std::min(kPoints, recording->points.size()));
    const auto on_device = fuzz::accepted([&] { return replay(*recording, Device::cpu()); });
    if (on_device) fuzz::require(replay(*recording) == *on_device, "the model returns the same bits as the CPU device");
    return 0;
}
