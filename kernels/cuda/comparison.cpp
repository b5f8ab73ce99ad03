#include "kernels/cuda/comparison.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/linear.h>

#include "core/block.h"
#include "core/cuda/call.h"
#include "core/cuda/device.h"
#include "core/request.h"
#include "kernels/cuda/flip.h"
#include "kernels/cuda/kernels.h"
#include "kernels/metrics/flip_filters.h"
#include "kernels/metrics/image_pair.h"
#include "kernels/metrics/parts.h"

namespace texton::detail {
namespace {

constexpr std::uint64_t kMaxTexels = std::uint64_t{1} << 32;

ComparedImage compared(const MemoryLocation& image) { return {image.address, image.pitch, image.slice_pitch}; }

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

/// Reads and compares two images on the device of a stream.
class DeviceComparison {
public:
    DeviceComparison(const ImagePair& pair, std::size_t channels)
        : pair_(pair),
          device_(static_cast<const CudaBackend&>(pair.stream.device().backend())),
          images_{compared(pair.a),
                  compared(pair.b),
                  pair.format,
                  pair.a.extent.width,
                  pair.a.extent.height,
                  pair.a.extent.depth,
                  static_cast<unsigned>(channels)} {
        if (images_.texels() < kMaxTexels) return;
        throw Error({.code = ErrorCode::overflow,
                     .object = pair.object,
                     .problem = fmt::format("the images have {} texels", images_.texels()),
                     .remedy = "Compare them in parts of less than 2^32 texels.",
                     .numbers = {{"texels", images_.texels()}}});
    }

    void measure_differences(std::size_t worst, Comparison& result) {
        const bool has_short_codes = pair_.format.has_short_codes();
        const std::size_t segments = divide_up(images_.texels(), kSegment);
        const Linear shared = zeros<SharedSums>(1);
        const Linear worst_of_segments = memory<SegmentWorst>(worst != 0 ? segments : 1);
        const Linear sums_of_segments = memory<RoundedSums>(has_short_codes ? 1 : segments);
        bool finds_worst = worst != 0;
        auto* sums = address<SharedSums>(shared);
        auto* to_worst = address<SegmentWorst>(worst_of_segments);
        auto* to_rounded = address<RoundedSums>(sums_of_segments);
        void* arguments[] = {&images_, &finds_worst, &sums, &to_worst, &to_rounded};
        constexpr std::uint64_t kBlocksAtOnce = 6;  // blocks of a multiprocessor
        const std::uint64_t blocks =
            std::min<std::uint64_t>(divide_up(segments, DifferenceBlocks::kSegments),
                                    static_cast<unsigned>(device_.properties().multiprocessors) * kBlocksAtOnce);
        launch(differences_kernel(pair_.format), {static_cast<unsigned>(blocks), 1, 1}, DifferenceBlocks::kThreads,
               arguments);

        DifferenceSums total = sums_of(read<SharedSums>(shared, 1)[0]);
        if (!has_short_codes) {
            for (const RoundedSums& each : read<RoundedSums>(sums_of_segments, segments)) total.rounded.add(each);
        }
        if (finds_worst && total.differing != 0)
            total.worst = worst_texels(read<SegmentWorst>(worst_of_segments, segments), worst);
        finish_differences(total, pair_.format, images_.texels(), result);
    }

    /// Expects that measure_differences() has written the result.
    void measure_ssim(Comparison& result) {
        const std::vector<float> across = ssim_window(images_.width), down = ssim_window(images_.height);
        SsimWeights weights{};
        std::ranges::copy(across, weights.across);
        std::ranges::copy(down, weights.down);
        weights.across_count = static_cast<unsigned>(across.size());
        weights.down_count = static_cast<unsigned>(down.size());
        weights.scale = 1 / result.peak;
        const Extent windows{images_.width - across.size() + 1, images_.height - down.size() + 1, images_.depth};
        const std::uint64_t tiles =
            divide_up(windows.width, kSsimTileWidth) * divide_up(windows.height, kSsimTileHeight) * windows.depth;
        const Linear shared = zeros<unsigned long long>(kSsimPlanes);
        auto* sums = address<unsigned long long>(shared);
        void* arguments[] = {&images_, &weights, &sums};
        const bool has_full_windows = across.size() == kSsimWindow && down.size() == kSsimWindow;
        // The windows of planes that do not differ have a similarity of 1.
        const std::uint64_t window_count = windows.width * windows.height * windows.depth;
        std::array<std::int64_t, kSsimPlanes> of_planes;
        of_planes.fill(static_cast<std::int64_t>(window_count) << 30);
        const auto differs = [&](const Difference& channel) { return channel.differing != 0; };
        unsigned planes = 0;
        for (unsigned c = 0; c < images_.channels; ++c) {
            if (differs(result.channels[c])) weights.planes[planes++] = c;
        }
        if (images_.channels >= 3 && std::ranges::any_of(std::span(result.channels).first(3), differs))
            weights.planes[planes++] = kSsimLuma;
        if (planes != 0) {
            // There are fewer tiles than 2^31, the maximum of a grid, unless tiles have a single window.
            launch(similarity_kernel(pair_.format, has_full_windows), {static_cast<unsigned>(tiles), planes, 1},
                   SsimBlocks::kThreads, arguments, similarity_bytes(has_full_windows));
            const auto found = read<unsigned long long>(shared, kSsimPlanes);
            for (unsigned i = 0; i < planes; ++i) of_planes[weights.planes[i]] = static_cast<std::int64_t>(found[i]);
        }
        finish_ssim(of_planes, windows, result);
    }

    /// Computes FLIP. `report` gets the completed fraction.
    void measure_flip(const ComparisonOptions& options, const std::function<void(double)>& report, Comparison& result) {
        const FlipFilters filters(options.pixels_per_degree);
        const Linear taps = copied(weights_of(filters));
        const DeviceFilters of_device = device_filters(filters, address<float>(taps));
        const Linear lights = pair_.format.has_short_codes() ? copied(light_of_codes(pair_.format)) : Linear();
        Flip flip = pair_.format.is_float() ? exposures() : Flip();
        if (options.flip_errors) flip.errors.resize(images_.texels());

        FlipStrip strip{};
        strip.rim = static_cast<unsigned>(filters.radius_of_all);
        strip.lights = address<float>(lights);
        const std::uint64_t most = rows_of_strips(strip.rim);
        const std::uint64_t floats = images_.width * (most + 2 * strip.rim);
        const Linear opponents = memory<float>(2 * FlipStrip::kOpponents * floats);
        const Linear filtered = memory<float>(2 * FlipStrip::kFiltered * floats);
        const Linear errors = memory<float>(images_.width * most);
        const Linear shared = zeros<FlipSums>(1);
        strip.opponents = address<float>(opponents);
        strip.filtered = address<float>(filtered);
        strip.errors = address<float>(errors);
        for (strip.z = 0; strip.z < images_.depth; ++strip.z) {
            for (strip.y = 0; strip.y < images_.height; strip.y += strip.rows) {
                strip.rows = static_cast<unsigned>(std::min(most, images_.height - strip.y));
                strip.all_rows = strip.rows + 2 * strip.rim;
                measure_strip(strip, of_device, flip, address<FlipSums>(shared));
                const std::uint64_t first = (strip.z * images_.height + strip.y) * images_.width;
                if (options.flip_errors)
                    read(errors, std::span(flip.errors).subspan(first, strip.rows * images_.width));
                if (report) report(static_cast<double>(first) / static_cast<double>(images_.texels()));
            }
        }
        const FlipSums sums = read<FlipSums>(shared, 1)[0];
        flip.mean = static_cast<double>(sums.errors) * 0x1p-32 / static_cast<double>(images_.texels());
        flip.max = std::bit_cast<float>(sums.max_bits);
        result.flip = std::move(flip);
    }

private:
    template <class T>
    Linear memory(std::size_t count) const {
        return Linear::async(count * sizeof(T), pair_.stream);
    }
    template <class T>
    Linear zeros(std::size_t count) const {
        const Linear cleared = memory<T>(count);
        fill(cleared.view(), std::uint32_t{0}, pair_.stream);
        return cleared;
    }
    template <class T>
    static T* address(const Linear& memory) {
        return reinterpret_cast<T*>(memory.data());
    }
    template <class T>
    Linear copied(const std::vector<T>& values) const {
        return copied(std::span(values));
    }
    template <class T>
    Linear copied(std::span<const T> values) const {
        Linear copies = memory<T>(values.size());
        copy(copies.view(), host_view(static_cast<const void*>(values.data()), Format::r8_uint, {values.size_bytes()}),
             pair_.stream);
        return copies;
    }
    template <class T>
    void read(const Linear& memory, std::span<T> values) const {
        const Extent bytes{values.size_bytes()};
        copy(host_view(static_cast<void*>(values.data()), Format::r8_uint, bytes), memory.view(Format::r8_uint, bytes),
             pair_.stream);
        pair_.stream.synchronize();
    }
    template <class T>
    std::vector<T> read(const Linear& memory, std::size_t count) const {
        std::vector<T> values(count);
        read(memory, std::span(values));
        return values;
    }

    void launch(const void* kernel, dim3 blocks, unsigned threads, void** arguments, unsigned shared_bytes = 0) const {
        Backend& backend = pair_.stream.device().backend();
        request(&backend, pair_.object, {{"width", images_.width}, {"height", images_.height}}, [&] {
            const DeviceScope scope(device_.ordinal());
            if (shared_bytes != 0)
                call<cudaFuncSetAttribute>(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shared_bytes));
            call<cudaLaunchKernel>(kernel, blocks, dim3{threads, 1, 1}, arguments, std::size_t{shared_bytes},
                                   native(pair_.stream.state()->handle));
        });
    }

    static DifferenceSums sums_of(const SharedSums& shared) {
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

    /// Returns the worst texels. They are in the segments that have the worst of the worst texels.
    std::vector<WorstTexel> worst_texels(const std::vector<SegmentWorst>& of_segments, std::size_t count) const {
        std::vector<std::uint32_t> segments;
        for (std::uint32_t i = 0; i < of_segments.size(); ++i) {
            if (of_segments[i].ulp != 0) segments.push_back(i);
        }
        const auto is_worse = [&](std::uint32_t one, std::uint32_t other) {
            const SegmentWorst& a = of_segments[one];
            const SegmentWorst& b = of_segments[other];
            if (a.ulp != b.ulp) return a.ulp > b.ulp;
            return a.difference != b.difference ? a.difference > b.difference : one < other;
        };
        const std::size_t chosen = std::min(count, segments.size());
        std::partial_sort(segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(chosen), segments.end(),
                          is_worse);
        std::vector<WorstTexel> worst;
        constexpr std::size_t kAtOnce = 4096;  // so that copies of segments do not need much memory
        for (std::size_t i = 0; i < chosen; i += kAtOnce)
            add_segments(std::span(segments).subspan(i, std::min(kAtOnce, chosen - i)), count, worst);
        return worst;
    }

    void add_segments(std::span<const std::uint32_t> segments, std::size_t count,
                      std::vector<WorstTexel>& worst) const {
        const CodeFormat& format = pair_.format;
        const std::size_t bytes = segments.size() * kSegment * format.texel_bytes();
        const Linear numbers = copied(segments), copies = memory<std::byte>(2 * bytes);
        ComparedImages images = images_;
        auto* from = address<std::uint32_t>(numbers);
        auto* to = address<std::byte>(copies);
        void* arguments[] = {&images, &from, &to};
        launch(copy_segments_kernel(), {static_cast<unsigned>(segments.size()), 2, 1}, DifferenceBlocks::kThreads,
               arguments);
        const std::vector<std::byte> texels = read<std::byte>(copies, 2 * bytes);
        for (std::size_t i = 0; i < segments.size(); ++i) {
            const std::uint64_t first = std::uint64_t{segments[i]} * kSegment;
            for (std::size_t k = 0; k < std::min<std::uint64_t>(kSegment, images_.texels() - first); ++k) {
                const std::byte* a = texels.data() + (i * kSegment + k) * format.texel_bytes();
                add_texel(first + k, a, a + bytes, count, worst);
            }
        }
    }

    void add_texel(std::uint64_t at, const std::byte* a, const std::byte* b, std::size_t count,
                   std::vector<WorstTexel>& worst) const {
        const CodeFormat& format = pair_.format;
        const std::uint64_t row = at / images_.width;
        WorstTexel texel{.at = {at % images_.width, row % images_.height, row / images_.height}};
        for (std::size_t c = 0; c < images_.channels; ++c) {
            const std::uint32_t one = format.code(a, c), other = format.code(b, c), ulp = format.distance(one, other);
            texel.ulp = std::max(texel.ulp, ulp);
            texel.difference = std::max(texel.difference, format.difference(one, other, c, ulp) / format.divisor(c));
            texel.a[c] = format.value(one, c);
            texel.b[c] = format.value(other, c);
        }
        if (texel.ulp != 0) keep_worst(worst, count, texel);
    }

    // --- FLIP ---

    /// Returns the weights of all filters, one after the other, in the order of device_filters().
    static std::vector<float> weights_of(const FlipFilters& filters) {
        std::vector<float> weights;
        for (const Taps* taps : all_of(filters)) weights.insert(weights.end(), taps->begin(), taps->end());
        return weights;
    }
    static DeviceFilters device_filters(const FlipFilters& filters, const float* weights) {
        std::array<DeviceTaps, kFlipFilters> taps;
        for (std::size_t i = 0; const Taps* each : all_of(filters)) {
            const auto count = static_cast<unsigned>(each->size());
            taps[i++] = {weights, count, std::equal(each->begin(), each->begin() + count / 2, each->rbegin())};
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
    static constexpr std::size_t kFlipFilters = 11;
    static std::array<const Taps*, kFlipFilters> all_of(const FlipFilters& filters) {
        std::array<const Taps*, kFlipFilters> all{};
        for (std::size_t i = 0; i < 4; ++i) {
            all[i] = &filters.across[i];
            all[4 + i] = &filters.down[i];
        }
        all[8] = &filters.smooth;
        all[9] = &filters.edge;
        all[10] = &filters.point;
        return all;
    }

    /// Returns the number of rows of a strip, so that the planes of most images need at most 256 MiB.
    std::uint64_t rows_of_strips(unsigned rim) const {
        constexpr std::uint64_t kBytes = std::uint64_t{256} << 20, kMinRows = 16, kMaxRows = 32768;
        constexpr std::uint64_t kPlanes = 2 * (FlipStrip::kOpponents + FlipStrip::kFiltered);
        const std::uint64_t fitting = kBytes / (images_.width * kPlanes * sizeof(float));
        const std::uint64_t rows = fitting > 2 * rim ? fitting - 2 * rim : 0;
        return std::min(std::clamp(rows, kMinRows, kMaxRows), images_.height);
    }

    void measure_strip(FlipStrip strip, const DeviceFilters& of_device, const Flip& flip, FlipSums* sums) const {
        ComparedImages images = images_;
        FlipColors colors = flip_colors();
        DeviceFilters filters = of_device;
        const auto columns = static_cast<unsigned>(divide_up(images.width, FlipBlocks::kThreads));
        void* to_opponents[] = {&images, &strip, &colors};
        void* to_filtered[] = {&images, &strip, &filters};
        void* to_errors[] = {&images, &strip, &colors, &filters};
        void* to_sums[] = {&images, &strip, &sums};
        for (int i = 0; i < flip.exposures; ++i) {
            strip.exposure = exposure_of(flip, i);
            strip.is_first = i == 0;
            launch(flip_opponents_kernel(), {columns, strip.all_rows, 2}, FlipBlocks::kThreads, to_opponents);
            launch(flip_rows_kernel(), {columns, strip.all_rows, 2}, FlipBlocks::kThreads, to_filtered);
            launch(flip_errors_kernel(), {columns, strip.rows, 1}, FlipBlocks::kThreads, to_errors);
        }
        launch(flip_sums_kernel(), {columns, strip.rows, 1}, FlipBlocks::kThreads, to_sums);
    }

    /// Counts luminances of image a.
    LuminanceCounts luminances(unsigned upper) const {
        const Linear memory = zeros<LuminanceCounts>(1);
        ComparedImages images = images_;
        LuminanceWeights weights = luminance_weights();
        auto* counts = address<LuminanceCounts>(memory);
        void* arguments[] = {&images, &weights, &upper, &counts};
        constexpr std::uint64_t kBlocksAtOnce = 16;  // blocks of a multiprocessor
        const std::uint64_t blocks =
            std::min<std::uint64_t>(divide_up(images.texels(), FlipBlocks::kThreads),
                                    static_cast<unsigned>(device_.properties().multiprocessors) * kBlocksAtOnce);
        launch(count_luminances_kernel(), {static_cast<unsigned>(blocks), 1, 1}, FlipBlocks::kThreads, arguments);
        return read<LuminanceCounts>(memory, 1)[0];
    }

    /// Returns the exposures that image a needs.
    Flip exposures() const {
        const auto upper = std::make_unique<LuminanceCounts>(luminances(LuminanceCounts::kAll));
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
            const auto lower = std::make_unique<LuminanceCounts>(luminances(half));
            return double{std::bit_cast<float>(half << 16 | find(*lower))};
        };
        double median = value_at(count / 2);
        if (count % 2 == 0) median = (median + value_at(count / 2 - 1)) / 2;
        return exposures_of(std::bit_cast<float>(upper->max_bits), median);
    }

    const ImagePair& pair_;
    const CudaBackend& device_;
    ComparedImages images_;
};

}  // namespace

bool CudaKernels::compare(const ImagePair& images, const ComparisonOptions& options,
                          const std::function<void(double)>& report, Comparison& result) const {
    DeviceComparison comparison(images, result.channels.size());
    comparison.measure_differences(options.worst, result);
    if (options.ssim) comparison.measure_ssim(result);
    if (options.flip) comparison.measure_flip(options, report, result);
    if (report) report(1);
    return true;
}

}  // namespace texton::detail
