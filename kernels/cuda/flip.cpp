#include "kernels/cuda/flip.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "kernels/cuda/device_comparison.h"
#include "kernels/metrics/flip_filters.h"

namespace texton::detail {
namespace {

constexpr std::size_t kFilters = 11;

std::array<const Taps*, kFilters> all_of(const FlipFilters& filters) {
    std::array<const Taps*, kFilters> all{};
    for (std::size_t i = 0; i < 4; ++i) {
        all[i] = &filters.across[i];
        all[4 + i] = &filters.down[i];
    }
    all[8] = &filters.smooth;
    all[9] = &filters.edge;
    all[10] = &filters.point;
    return all;
}

/// Returns the weights of all filters, one after the other, in the order of device_filters().
std::vector<float> weights_of(const FlipFilters& filters) {
    std::vector<float> weights;
    for (const Taps* taps : all_of(filters)) weights.insert(weights.end(), taps->begin(), taps->end());
    return weights;
}

DeviceFilters device_filters(const FlipFilters& filters, const float* weights) {
    std::array<DeviceTaps, kFilters> taps;
    for (std::size_t i = 0; const Taps* each : all_of(filters)) {
        const auto count = static_cast<unsigned>(each->size());
        taps[i++] = {weights, count, each->front() == each->back() ? 1.0f : -1.0f};
        weights += count;
    }
    DeviceFilters of_device{};
    std::copy_n(taps.begin(), 4, of_device.across);
    std::copy_n(taps.begin() + 4, 4, of_device.down);
    of_device.smooth = taps[8];
    of_device.edge = taps[9];
    of_device.point = taps[10];
    return of_device;
}

unsigned blocks_of(std::uint64_t columns) {
    return static_cast<unsigned>((columns + FlipBlocks::kThreads - 1) / FlipBlocks::kThreads);
}

/// Returns the number of rows of a strip, so that the planes of most images need at most 256 MiB.
std::uint64_t rows_of_strips(const ComparedImages& images, unsigned rim) {
    constexpr std::uint64_t kBytes = std::uint64_t{256} << 20, kMinRows = 16, kMaxRows = 32768;
    constexpr std::uint64_t kPlanes = 2 * (FlipStrip::kOpponents + FlipStrip::kFiltered);
    const std::uint64_t fitting = kBytes / (images.width * kPlanes * sizeof(float));
    const std::uint64_t rows = fitting > 2 * rim ? fitting - 2 * rim : 0;
    return std::min(std::clamp(rows, kMinRows, kMaxRows), images.height);
}

void measure_strip(const DeviceComparison& comparison, FlipStrip strip, DeviceFilters filters, const Flip& flip,
                   FlipSums* sums) {
    ComparedImages images = comparison.images();
    FlipColors colors = flip_colors();
    const unsigned columns = blocks_of(images.width);
    void* to_opponents[] = {&images, &strip, &colors};
    void* to_filtered[] = {&images, &strip, &filters};
    void* to_errors[] = {&images, &strip, &colors, &filters};
    void* to_sums[] = {&images, &strip, &sums};
    const auto launch = [&](const void* kernel, unsigned rows, unsigned count, void** arguments) {
        comparison.launch(kernel, {columns, rows, count}, FlipBlocks::kThreads, arguments);
    };
    for (int i = 0; i < flip.exposures; ++i) {
        strip.exposure = exposure_of(flip, i);
        strip.is_first = i == 0;
        launch(flip_opponents_kernel(), strip.all_rows, 2, to_opponents);
        launch(flip_rows_kernel(), strip.all_rows, 2, to_filtered);
        launch(flip_errors_kernel(), strip.rows, 1, to_errors);
    }
    launch(flip_sums_kernel(), strip.rows, 1, to_sums);
}

/// Counts luminances of image a.
LuminanceCounts luminances(const DeviceComparison& comparison, unsigned upper) {
    const Linear memory = comparison.zeros<LuminanceCounts>(1);
    ComparedImages images = comparison.images();
    LuminanceWeights weights = luminance_weights();
    auto* counts = DeviceComparison::address<LuminanceCounts>(memory);
    void* arguments[] = {&images, &weights, &upper, &counts};
    constexpr unsigned kBlocksOfMultiprocessor = 16;
    const std::uint64_t pieces = (images.texels() + FlipBlocks::kThreads - 1) / FlipBlocks::kThreads;
    comparison.launch(count_luminances_kernel(), {comparison.blocks_for(pieces, kBlocksOfMultiprocessor), 1, 1},
                      FlipBlocks::kThreads, arguments);
    return comparison.read<LuminanceCounts>(memory, 1)[0];
}

/// Returns the exposures that image a needs.
Flip exposures(const DeviceComparison& comparison) {
    const auto upper = std::make_unique<LuminanceCounts>(luminances(comparison, LuminanceCounts::kAll));
    std::uint64_t count = 0;
    for (const unsigned each : upper->counts) count += each;
    if (count == 0) return {};
    const auto value_at = [&](std::uint64_t place) {
        const auto find = [&](const LuminanceCounts& among) {
            unsigned half = 0;
            for (; place >= among.counts[half]; ++half) place -= among.counts[half];
            return half;
        };
        const unsigned half = find(*upper);
        const auto lower = std::make_unique<LuminanceCounts>(luminances(comparison, half));
        return double{std::bit_cast<float>(half << 16 | find(*lower))};
    };
    double median = value_at(count / 2);
    if (count % 2 == 0) median = (median + value_at(count / 2 - 1)) / 2;
    return exposures_of(std::bit_cast<float>(upper->max_bits), median);
}

}  // namespace

void measure_flip(const DeviceComparison& comparison, const ComparisonOptions& options,
                  const std::function<void(double)>& report, Comparison& result) {
    const ComparedImages& images = comparison.images();
    const CodeFormat& format = comparison.format();
    const FlipFilters filters(options.pixels_per_degree);
    const Linear taps = comparison.copied(weights_of(filters));
    const DeviceFilters of_device = device_filters(filters, DeviceComparison::address<float>(taps));
    const Linear lights = format.has_short_codes() ? comparison.copied(light_of_codes(format)) : Linear();
    Flip flip = format.is_float() ? exposures(comparison) : Flip();
    if (options.flip_errors) flip.errors.resize(images.texels());

    FlipStrip strip{};
    strip.rim = static_cast<unsigned>(filters.radius_of_all);
    strip.lights = DeviceComparison::address<float>(lights);
    const std::uint64_t most = rows_of_strips(images, strip.rim);
    const std::uint64_t floats = images.width * (most + 2 * strip.rim);
    const Linear opponents = comparison.memory<float>(2 * FlipStrip::kOpponents * floats);
    const Linear filtered = comparison.memory<float>(2 * FlipStrip::kFiltered * floats);
    const Linear errors = comparison.memory<float>(images.width * most);
    const Linear shared = comparison.zeros<FlipSums>(1);
    strip.opponents = DeviceComparison::address<float>(opponents);
    strip.filtered = DeviceComparison::address<float>(filtered);
    strip.errors = DeviceComparison::address<float>(errors);
    for (strip.z = 0; strip.z < images.depth; ++strip.z) {
        for (strip.y = 0; strip.y < images.height; strip.y += strip.rows) {
            strip.rows = static_cast<unsigned>(std::min(most, images.height - strip.y));
            strip.all_rows = strip.rows + 2 * strip.rim;
            measure_strip(comparison, strip, of_device, flip, DeviceComparison::address<FlipSums>(shared));
            const std::uint64_t first = (strip.z * images.height + strip.y) * images.width;
            if (options.flip_errors)
                comparison.read(errors, std::span(flip.errors).subspan(first, strip.rows * images.width));
            if (report) report(static_cast<double>(first) / static_cast<double>(images.texels()));
        }
    }
    const FlipSums sums = comparison.read<FlipSums>(shared, 1)[0];
    flip.mean = static_cast<double>(sums.errors) * 0x1p-32 / static_cast<double>(images.texels());
    flip.max = std::bit_cast<float>(sums.max_bits);
    result.flip = std::move(flip);
}

}  // namespace texton::detail
