#include <algorithm>
#include <bit>

#include "kernels/cuda/device_comparison.h"

namespace texton::detail {
namespace {

DifferenceSums sums_of(const SharedSums& shared) {
    DifferenceSums sums;
    sums.differing = shared.texels;
    std::ranges::copy(shared.histogram, sums.histogram.begin());
    for (std::size_t c = 0; c < 4; ++c) {
        ChannelSums& channel = sums.channels[c];
        channel.differing = shared.differing[c];
        channel.max_ulp = shared.max_ulp[c];
        channel.max = std::bit_cast<double>(shared.max_bits[c]);
        channel.differences.add(shared.differences[c]);
        channel.squares.add(shared.squares[c]);
        for (std::size_t image = 0; image < 2; ++image) {
            channel.nans[image] = shared.nans[image][c];
            channel.infinities[image] = shared.infinities[image][c];
        }
    }
    return sums;
}

WorstTexel described(const ComparedImages& images, const TexelPair& pair) {
    const CodeFormat& format = images.format;
    const std::uint64_t row = pair.at / images.width;
    WorstTexel texel{.at = {pair.at % images.width, row % images.height, row / images.height}};
    for (std::size_t c = 0; c < images.channels; ++c) {
        const std::uint32_t a = format.code(pair.a, c), b = format.code(pair.b, c), ulp = format.distance(a, b);
        texel.ulp = std::max(texel.ulp, ulp);
        texel.difference = std::max(texel.difference, format.difference(a, b, c, ulp) / format.divisor(c));
        texel.a[c] = format.value(a, c);
        texel.b[c] = format.value(b, c);
    }
    return texel;
}

/// Returns the numbers of the worst of `n` differences, worst first.
std::vector<unsigned> select_on_host(const DeviceComparison& comparison, const Linear& differences, std::size_t n,
                                     std::size_t count) {
    const auto all = comparison.read<TexelDifference>(differences, n);
    const auto is_worse = [&](unsigned one, unsigned other) {
        const TexelDifference& a = all[one];
        const TexelDifference& b = all[other];
        if (a.ulp != b.ulp) return a.ulp > b.ulp;
        return a.difference != b.difference ? a.difference > b.difference : a.at < b.at;
    };
    std::vector<unsigned> selected;
    for (unsigned i = 0; i < all.size(); ++i) {
        if (all[i].ulp != 0) selected.push_back(i);
    }
    const auto end = selected.begin() + static_cast<std::ptrdiff_t>(std::min(count, selected.size()));
    std::partial_sort(selected.begin(), end, selected.end(), is_worse);
    selected.erase(end, selected.end());
    return selected;
}

/// Returns the same. The kernel takes longer than the host if many are selected.
std::vector<unsigned> select(const DeviceComparison& comparison, const Linear& differences, std::size_t n,
                             std::size_t count) {
    constexpr std::size_t kMostByKernel = 20;
    if (count > kMostByKernel) return select_on_host(comparison, differences, n, count);
    const Linear memory = comparison.memory<unsigned>(count);
    auto* from = DeviceComparison::address<TexelDifference>(differences);
    auto all = static_cast<unsigned>(n), most = static_cast<unsigned>(count);
    auto* to = DeviceComparison::address<unsigned>(memory);
    void* arguments[] = {&from, &all, &most, &to};
    comparison.launch(select_worst_kernel(), {1, 1, 1}, DifferenceBlocks::kSelectingThreads, arguments);
    auto selected = comparison.read<unsigned>(memory, count);
    std::erase(selected, kNoneSelected);
    return selected;
}

/// Adds the worst texels of segments.
void add_worst(const DeviceComparison& comparison, const std::vector<unsigned>& segments, std::size_t count,
               std::vector<WorstTexel>& worst) {
    ComparedImages images = comparison.images();
    const std::size_t texels = segments.size() * kSegment;
    const Linear numbers = comparison.copied(segments);
    const Linear differences = comparison.memory<TexelDifference>(texels);
    auto* from_segments = DeviceComparison::address<unsigned>(numbers);
    auto* of_texels = DeviceComparison::address<TexelDifference>(differences);
    void* to_differences[] = {&images, &from_segments, &of_texels};
    comparison.launch(segment_differences_kernel(), {static_cast<unsigned>(segments.size()), 1, 1},
                      DifferenceBlocks::kThreads, to_differences);

    const std::vector<unsigned> selected = select(comparison, differences, texels, count);
    const Linear numbers_of_texels = comparison.copied(selected);
    const Linear found = comparison.memory<TexelPair>(selected.size());
    auto* from_texels = DeviceComparison::address<unsigned>(numbers_of_texels);
    auto* pairs = DeviceComparison::address<TexelPair>(found);
    auto places = static_cast<unsigned>(selected.size());
    void* to_pairs[] = {&images, &of_texels, &from_texels, &places, &pairs};
    comparison.launch(copy_texels_kernel(), {(places - 1) / DifferenceBlocks::kThreads + 1, 1, 1},
                      DifferenceBlocks::kThreads, to_pairs);
    for (const TexelPair& pair : comparison.read<TexelPair>(found, places))
        keep_worst(worst, count, described(images, pair));
}

/// Returns the worst texels. They are in the segments that have the worst of the worst texels.
std::vector<WorstTexel> worst_texels(const DeviceComparison& comparison, const Linear& of_segments, std::size_t n,
                                     std::size_t count) {
    const std::vector<unsigned> segments = select(comparison, of_segments, n, count);
    std::vector<WorstTexel> worst;
    constexpr std::ptrdiff_t kAtOnce = 4096;  // so that their differences do not need much memory
    for (auto from = segments.begin(); from != segments.end();) {
        const auto to = from + std::min(kAtOnce, segments.end() - from);
        add_worst(comparison, {from, to}, count, worst);
        from = to;
    }
    return worst;
}

}  // namespace

void measure_differences(const DeviceComparison& comparison, std::size_t worst, Comparison& result) {
    ComparedImages images = comparison.images();
    const bool has_short_codes = images.format.has_short_codes();
    const std::size_t segments = (images.texels() + kSegment - 1) / kSegment;
    const Linear shared = comparison.zeros<SharedSums>(1);
    const Linear worst_of_segments = comparison.memory<TexelDifference>(worst != 0 ? segments : 1);
    const Linear sums_of_segments = comparison.memory<RoundedSums>(has_short_codes ? 1 : segments);
    bool finds_worst = worst != 0;
    auto* sums = DeviceComparison::address<SharedSums>(shared);
    auto* to_worst = DeviceComparison::address<TexelDifference>(worst_of_segments);
    auto* to_rounded = DeviceComparison::address<RoundedSums>(sums_of_segments);
    void* arguments[] = {&images, &finds_worst, &sums, &to_worst, &to_rounded};
    constexpr unsigned kBlocksOfMultiprocessor = 6;
    const std::uint64_t pieces = (segments + DifferenceBlocks::kSegments - 1) / DifferenceBlocks::kSegments;
    comparison.launch(differences_kernel(images.format), {comparison.blocks_for(pieces, kBlocksOfMultiprocessor), 1, 1},
                      DifferenceBlocks::kThreads, arguments);

    DifferenceSums total = sums_of(comparison.read<SharedSums>(shared, 1)[0]);
    if (!has_short_codes) {
        for (const RoundedSums& each : comparison.read<RoundedSums>(sums_of_segments, segments))
            total.rounded.add(each);
    }
    if (finds_worst && total.differing != 0) total.worst = worst_texels(comparison, worst_of_segments, segments, worst);
    finish_differences(total, images.format, images.texels(), result);
}

}  // namespace texton::detail
