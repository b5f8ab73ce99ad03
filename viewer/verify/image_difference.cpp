// Texels and channels that are not compared are made equal first, so that all metrics see no difference there. Metrics
// that are means are then divided by the number of compared texels and channels instead of all.
#include "viewer/verify/image_difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/model/named_paths.h"
#include "viewer/verify/image_files.h"

namespace texton::verify {
namespace {

constexpr std::size_t kWorst = 16;  // texels of a report

std::size_t texels_of(const Extent& extent) { return extent.width * extent.height * extent.depth; }

std::size_t channels_of(const HostImage& image) {
    const std::size_t channels = info(image.format).channels;
    return image.file_channels > 0 ? std::min(channels, static_cast<std::size_t>(image.file_channels)) : channels;
}

[[noreturn]] void refuse_mask(const Criteria& criteria, const std::string& problem, std::string remedy) {
    refuse_text(criteria.where, fmt::format("'mask' {}", problem), std::move(remedy));
}

// Sets the elements of the texels that are 0 in the mask file.
void add_file(std::vector<bool>& excluded, const HostImage& image, const Criteria& criteria) {
    const std::filesystem::path& path = *criteria.mask.file;
    viewer::refuse_special_file(path);
    const std::vector<HostImage> masks = read_images(path, path.filename().string());
    const auto fits = [&](const HostImage& mask) {
        const bool same = mask.extent.width == image.extent.width && mask.extent.height == image.extent.height;
        return same && (mask.extent.depth == 1 || mask.extent.depth == image.extent.depth);
    };
    const auto mask = std::ranges::find_if(masks, fits);
    if (mask == masks.end())
        refuse_mask(criteria,
                    fmt::format("is {}, which is {}, but the image{}{} is {}", path.filename().string(),
                                to_string(masks.front().extent), image.name.empty() ? "" : " ", image.name,
                                to_string(image.extent)),
                    "Give a mask of the same size.");
    const std::vector<float> values = read_channels(mask->view());
    const std::size_t texels = texels_of(mask->extent);
    for (std::size_t i = 0; i < excluded.size(); ++i) excluded[i] = values[4 * (i % texels)] == 0;
}

void add_rectangles(std::vector<bool>& excluded, const HostImage& image, const Criteria& criteria) {
    const Extent& extent = image.extent;
    for (const Region& box : criteria.mask.rectangles) {
        const std::size_t right = box.offset.x + box.extent.width, bottom = box.offset.y + box.extent.height;
        if (right > extent.width || bottom > extent.height)
            refuse_mask(criteria,
                        fmt::format("has a rectangle that ends at {}, {}, but the image{}{} is {}", right, bottom,
                                    image.name.empty() ? "" : " ", image.name, to_string(extent)),
                        "Give rectangles inside the image.");
        for (std::size_t row = 0; row < extent.height * extent.depth; ++row) {
            const std::size_t y = row % extent.height;
            if (y < box.offset.y || y >= bottom) continue;
            for (std::size_t x = box.offset.x; x < right; ++x) excluded[row * extent.width + x] = true;
        }
    }
}

// Returns an element for each texel, which is true if the texel is not compared. Empty if all texels are compared.
std::vector<bool> excluded_texels(const HostImage& image, const Criteria& criteria) {
    if (criteria.mask.empty()) return {};
    std::vector<bool> excluded(texels_of(image.extent));
    if (criteria.mask.file) add_file(excluded, image, criteria);
    add_rectangles(excluded, image, criteria);
    if (std::ranges::find(excluded, false) == excluded.end())
        refuse_mask(criteria, "leaves no texel to compare", "Compare a part of the image at least.");
    return excluded;
}

bool is_ignored(const Criteria& criteria, std::size_t channel) { return (criteria.ignored >> channel & 1) != 0; }

// Returns the indices of the channels that are compared.
std::vector<std::size_t> compared_channels(const HostImage& image, const Criteria& criteria) {
    std::vector<std::size_t> out;
    for (std::size_t c = 0; c < channels_of(image); ++c)
        if (!is_ignored(criteria, c)) out.push_back(c);
    if (out.empty())
        refuse_text(criteria.where,
                    fmt::format("'ignore' leaves no channel to compare: the image{}{} has {}",
                                image.name.empty() ? "" : " ", image.name, channels_of(image)),
                    "Compare one channel at least.");
    return out;
}

// Returns the bits of a texel that belong to ignored channels.
std::vector<std::byte> ignored_bits(const HostImage& image, const Criteria& criteria) {
    std::vector<std::byte> bits(info(image.format).bytes);
    for (std::size_t c = 0; c < info(image.format).channels; ++c) {
        const ChannelBits channel = channel_bits(image.format, static_cast<int>(c));
        if (!is_ignored(criteria, c)) continue;
        for (std::size_t bit = channel.first; bit < std::size_t{channel.first} + channel.count; ++bit)
            bits[bit / 8] |= std::byte{1} << (bit % 8);
    }
    return bits;
}

HostImage with_equal_texels(const HostImage& expected, HostImage actual, const Criteria& criteria,
                            const std::vector<bool>& excluded) {
    const std::size_t bytes = info(actual.format).bytes;
    if (criteria.ignored != 0) {
        const std::vector<std::byte> ignored = ignored_bits(actual, criteria);
        for (std::size_t i = 0; i < actual.texels.size(); ++i) {
            const std::byte mask = ignored[i % bytes];
            actual.texels[i] = (actual.texels[i] & ~mask) | (expected.texels[i] & mask);
        }
    }
    for (std::size_t i = 0; i < excluded.size(); ++i)
        if (excluded[i]) std::memcpy(&actual.texels[i * bytes], &expected.texels[i * bytes], bytes);
    return actual;
}

std::size_t changed_texels(const HostImage& a, const HostImage& b) {
    const std::size_t bytes = info(a.format).bytes;
    std::size_t changed = 0;
    for (std::size_t at = 0; at < a.texels.size(); at += bytes)
        changed += std::memcmp(&a.texels[at], &b.texels[at], bytes) != 0 ? 1 : 0;
    return changed;
}

// Replaces the means of all channels and texels by those of the compared ones.
void correct_means(Comparison& comparison, const std::vector<std::size_t>& channels, double share_of_texels) {
    Difference& all = comparison.all;
    all.mean = all.mse = 0;
    double ssim = 0;
    for (const std::size_t c : channels) {
        all.mean += comparison.channels[c].mean;
        all.mse += comparison.channels[c].mse;
        ssim += comparison.channels[c].ssim.value_or(0);
    }
    const auto count = static_cast<double>(channels.size());
    all.mean /= count * share_of_texels;
    all.mse /= count * share_of_texels;
    all.rmse = std::sqrt(all.mse);
    all.psnr = all.mse == 0 ? std::numeric_limits<double>::infinity()
                            : 10 * std::log10(comparison.peak * comparison.peak / all.mse);
    if (all.ssim && channels.size() < comparison.channels.size()) all.ssim = ssim / count;
}

std::size_t count_over(const TexelCount& limit, const HostImage& a, const HostImage& b) {
    const std::size_t texels = texels_of(a.extent);
    std::vector<bool> over(texels);
    if (limit.ulp) {
        const std::vector<std::uint32_t> distances = ulp_distances(a.view(), b.view());
        for (std::size_t i = 0; i < texels; ++i) over[i] = distances[i] > *limit.ulp;
    }
    if (limit.max) {
        const std::vector<float> values_a = read_channels(a.view()), values_b = read_channels(b.view());
        for (std::size_t i = 0; i < values_a.size(); ++i) {
            const float x = values_a[i], y = values_b[i];
            if (x == y || (std::isnan(x) && std::isnan(y))) continue;
            if (!(std::abs(double{x} - double{y}) <= *limit.max)) over[i / 4] = true;
        }
    }
    return static_cast<std::size_t>(std::ranges::count(over, true));
}

// Describes the limits that are exceeded; empty if all are met.
std::string exceeded_limits(const Tolerance& tolerance, const ImageDifference& found, const HostImage& a,
                            const HostImage& b) {
    std::string out;
    const Difference& all = found.comparison.all;
    const auto add = [&out](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
    const auto check = [&add](const char* name, bool holds, double value, double allowed) {
        if (!holds) add(fmt::format("{} {:.9g} (allowed: {:.9g})", name, value, allowed));
    };
    const double share = static_cast<double>(all.differing) / static_cast<double>(found.texels);
    if (tolerance.ulp) check("max ulp", all.max_ulp <= *tolerance.ulp, all.max_ulp, *tolerance.ulp);
    if (tolerance.ulp == 0U && all.max_ulp == 0 && found.changed_bits > 0)
        add(fmt::format("the values are equal, but the stored bits of {} texels differ (0 and -0, or kinds of NaN)",
                        found.changed_bits));
    if (tolerance.max) check("max", all.max <= *tolerance.max, all.max, *tolerance.max);
    if (tolerance.mse) check("MSE", all.mse <= *tolerance.mse, all.mse, *tolerance.mse);
    if (tolerance.psnr) check("PSNR", all.psnr >= *tolerance.psnr, all.psnr, *tolerance.psnr);
    if (tolerance.ssim) check("SSIM", *all.ssim >= *tolerance.ssim, *all.ssim, *tolerance.ssim);
    if (tolerance.share) check("share", share <= *tolerance.share, share, *tolerance.share);
    if (const std::optional<TexelCount>& count = tolerance.count) {
        const std::size_t over = count_over(*count, a, b);
        if (over > count->texels)
            add(fmt::format("{} texels exceed the limit of count (allowed: {})", over, count->texels));
    }
    return out;
}

}  // namespace

std::string other_shape(const HostImage& expected, const HostImage& actual) {
    const bool same = actual.format == expected.format && actual.extent == expected.extent &&
                      actual.file_channels == expected.file_channels;
    if (same) return {};
    return fmt::format("the image is {}, but the reference is {}", actual.text(), expected.text());
}

HostImage compared_image(const HostImage& expected, const HostImage& actual, const Criteria& criteria) {
    (void)compared_channels(actual, criteria);
    return with_equal_texels(expected, actual, criteria, excluded_texels(actual, criteria));
}

ImageDifference difference_of(const HostImage& expected, const HostImage& actual, const Criteria& criteria) {
    const std::vector<std::size_t> channels = compared_channels(actual, criteria);
    const std::vector<bool> excluded = excluded_texels(actual, criteria);
    const bool compares_all = criteria.ignored == 0 && excluded.empty();
    const HostImage copy = compares_all ? HostImage() : with_equal_texels(expected, actual, criteria, excluded);
    const HostImage& compared = compares_all ? actual : copy;
    ImageDifference out;
    const std::size_t texels = texels_of(actual.extent);
    out.texels = texels - static_cast<std::size_t>(std::ranges::count(excluded, true));
    out.comparison =
        compare(expected.view(), compared.view(),
                {.ssim = criteria.tolerance.ssim.has_value(), .worst = kWorst, .channels = channels_of(actual)});
    out.changed_bits = changed_texels(expected, compared);
    if (!compares_all)
        correct_means(out.comparison, channels, static_cast<double>(out.texels) / static_cast<double>(texels));
    out.exceeded = exceeded_limits(criteria.tolerance, out, expected, compared);
    return out;
}

}  // namespace texton::verify
