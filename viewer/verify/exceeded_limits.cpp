#include "viewer/verify/exceeded_limits.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "viewer/verify/sized_image.h"

namespace texton::verify {
namespace {

bool is_excluded(const ComparedPart& part, std::size_t texel) { return !part.excluded.empty() && part.excluded[texel]; }

// Returns true if two values differ by more than a limit. All NaN are equal; NaN differs from numbers by more than any
// finite limit.
bool differ_by_more(float a, float b, double limit) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return false;
    return !(std::abs(double{a} - double{b}) <= limit);
}

std::size_t count_over(const TexelCount& limit, const HostImage& a, const HostImage& b) {
    const std::size_t texels = a.extent.width * a.extent.height * a.extent.depth;
    std::vector<bool> over(texels);
    if (limit.ulp) {
        const std::vector<std::uint32_t> distances = ulp_distances(a.view(), b.view());
        for (std::size_t i = 0; i < texels; ++i) over[i] = distances[i] > *limit.ulp;
    }
    if (limit.max) {
        const std::vector<float> values_a = read_channels(a.view()), values_b = read_channels(b.view());
        for (std::size_t i = 0; i < values_a.size(); ++i)
            if (differ_by_more(values_a[i], values_b[i], *limit.max)) over[i / 4] = true;
    }
    return static_cast<std::size_t>(std::ranges::count(over, true));
}

// --- maps ------------------------------------------------------------------------------------------------------------

std::size_t channels_of(const HostImage& image) {
    return image.file_channels != 0 ? static_cast<std::size_t>(image.file_channels) : info(image.format).channels;
}

// Returns the index of a texel of the part in a map, which has the size of the whole image or of one slice of it.
std::size_t index_in_map(const ComparedPart& part, const HostImage& map, std::size_t texel) {
    const Extent& extent = part.actual.extent;
    const std::size_t x = texel % extent.width, row = texel / extent.width;
    const std::size_t y = row % extent.height, z = map.extent.depth == 1 ? 0 : row / extent.height;
    return (z * map.extent.height + y + part.offset.y) * map.extent.width + x + part.offset.x;
}

// Returns the number of texels that differ by more than the values of the map.
std::size_t count_over_map(const std::filesystem::path& path, const ComparedPart& part) {
    const HostImage map = read_sized_image(path, part.image, part.where, "map");
    const std::size_t map_channels = channels_of(map);
    if (map_channels != 1 && part.channels.back() >= map_channels)
        refuse_text(part.where,
                    fmt::format("'map' is {}, which has {} channels, but channel {} is compared",
                                path.filename().string(), map_channels, part.channels.back() + 1),
                    "Give a map with one channel, or with all channels that are compared.");
    const std::vector<float> allowed = read_channels(map.view());
    const std::vector<float> a = read_channels(part.expected.view()), b = read_channels(part.actual.view());
    std::size_t over = 0;
    for (std::size_t i = 0; i < a.size() / 4; ++i) {
        if (is_excluded(part, i)) continue;
        const std::size_t at = index_in_map(part, map, i);
        bool is_over = false;
        for (const std::size_t c : part.channels) {
            const float limit = allowed[4 * at + (map_channels == 1 ? 0 : c)];
            if (!(limit >= 0))
                refuse_text(
                    part.where,
                    fmt::format("'map' is {}, which contains {} at texel {}", path.filename().string(), limit, at),
                    "Give a map whose values are 0 or more.");
            is_over |= differ_by_more(a[4 * i + c], b[4 * i + c], limit);
        }
        over += is_over ? 1 : 0;
    }
    return over;
}

// --- FLIP ------------------------------------------------------------------------------------------------------------

// Mean and maximum of the texels that are compared.
struct FlipErrors {
    double mean = 0;
    double max = 0;
};

FlipErrors flip_errors(const FlipLimits& limits, const ComparedPart& part) {
    const Comparison compared = compare(part.expected.view(), part.actual.view(),
                                        {.ssim = false,
                                         .flip = true,
                                         .worst = 0,
                                         .channels = channels_of(part.actual),
                                         .pixels_per_degree = limits.pixels_per_degree});
    FlipErrors out;
    for (std::size_t i = 0; i < compared.flip->errors.size(); ++i) {
        if (is_excluded(part, i)) continue;
        const double error = compared.flip->errors[i];
        out.mean += error;
        out.max = std::max(out.max, error);
    }
    out.mean /= static_cast<double>(part.difference.texels);
    return out;
}

// Collects descriptions of limits that are exceeded.
class Exceeded {
public:
    void add(const std::string& text) {
        if (!text.empty()) text_ += (text_.empty() ? "" : ", ") + text;
    }
    void check(const char* name, bool holds, double value, double allowed) {
        if (!holds) add(fmt::format("{} {:.9g} (allowed: {:.9g})", name, value, allowed));
    }
    const std::string& text() const noexcept { return text_; }

private:
    std::string text_;
};

// Returns why no tolerance of a list is met; empty if one is.
std::string exceeded_by_all(const std::vector<Tolerance>& list, const ComparedPart& part) {
    std::string out;
    for (const Tolerance& each : list) {
        const std::string exceeded = exceeded_limits(each, part);
        if (exceeded.empty()) return {};
        out += (out.empty() ? "" : " or ") + exceeded;
    }
    return list.empty() ? "" : "any of (" + out + ")";
}

}  // namespace

std::string exceeded_limits(const Tolerance& tolerance, const ComparedPart& part) {
    Exceeded out;
    const ImageDifference& found = part.difference;
    const Difference& all = found.comparison.all;
    const double share = static_cast<double>(all.differing) / static_cast<double>(found.texels);
    if (tolerance.ulp) out.check("max ulp", all.max_ulp <= *tolerance.ulp, all.max_ulp, *tolerance.ulp);
    if (tolerance.ulp == 0U && all.max_ulp == 0 && found.changed_bits > 0)
        out.add(fmt::format("the values are equal, but the stored bits of {} texels differ (0 and -0, or kinds of NaN)",
                            found.changed_bits));
    if (tolerance.max) out.check("max", all.max <= *tolerance.max, all.max, *tolerance.max);
    if (tolerance.mse) out.check("MSE", all.mse <= *tolerance.mse, all.mse, *tolerance.mse);
    if (tolerance.psnr) out.check("PSNR", all.psnr >= *tolerance.psnr, all.psnr, *tolerance.psnr);
    if (tolerance.ssim) out.check("SSIM", *all.ssim >= *tolerance.ssim, *all.ssim, *tolerance.ssim);
    if (tolerance.share) out.check("share", share <= *tolerance.share, share, *tolerance.share);
    if (const std::optional<TexelCount>& count = tolerance.count) {
        const std::size_t over = count_over(*count, part.expected, part.actual);
        if (over > count->texels)
            out.add(fmt::format("{} texels exceed the limit of count (allowed: {})", over, count->texels));
    }
    if (const std::optional<FlipLimits>& flip = tolerance.flip) {
        const FlipErrors errors = flip_errors(*flip, part);
        if (flip->mean) out.check("FLIP", errors.mean <= *flip->mean, errors.mean, *flip->mean);
        if (flip->max) out.check("max FLIP", errors.max <= *flip->max, errors.max, *flip->max);
    }
    if (tolerance.map) {
        const std::size_t over = count_over_map(*tolerance.map, part);
        if (over > 0) out.add(fmt::format("{} texels exceed the map {}", over, tolerance.map->filename().string()));
    }
    for (const Tolerance& each : tolerance.all) out.add(exceeded_limits(each, part));
    out.add(exceeded_by_all(tolerance.any, part));
    return out.text();
}

}  // namespace texton::verify
