// Texels and channels that are not compared are made equal first, so that all metrics see no difference there. Metrics
// that are means are then divided by the number of compared texels and channels instead of all.
#include "viewer/verify/image_difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/verify/exceeded_limits.h"
#include "viewer/verify/sized_image.h"

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
    const HostImage mask = read_sized_image(*criteria.mask.file, image, criteria.where, "mask");
    const std::vector<float> values = read_channels(mask.view());
    const std::size_t texels = texels_of(mask.extent);
    for (std::size_t i = 0; i < excluded.size(); ++i) excluded[i] = values[4 * (i % texels)] == 0;
}

// Sets the elements of the texels whose alpha is 0.
void add_alpha(std::vector<bool>& excluded, const HostImage& expected, const HostImage& actual,
               const Criteria& criteria) {
    if (channels_of(actual) < 4)
        refuse_mask(criteria,
                    fmt::format("is an alpha, but the image{}{} has {} channels", actual.name.empty() ? "" : " ",
                                actual.name, channels_of(actual)),
                    "Give another mask, or compare all texels.");
    const AlphaMask of = *criteria.mask.alpha;
    std::vector<float> alpha_a, alpha_b;
    if (of != AlphaMask::image) alpha_a = read_channels(expected.view());
    if (of != AlphaMask::reference) alpha_b = read_channels(actual.view());
    for (std::size_t i = 0; i < excluded.size(); ++i) {
        const bool a = alpha_a.empty() || alpha_a[4 * i + 3] == 0, b = alpha_b.empty() || alpha_b[4 * i + 3] == 0;
        if (a && b) excluded[i] = true;
    }
}

void refuse_outside(const Region& box, const HostImage& image, const std::string& where, const char* key) {
    const std::size_t right = box.offset.x + box.extent.width, bottom = box.offset.y + box.extent.height;
    if (right > image.extent.width || bottom > image.extent.height)
        refuse_text(where,
                    fmt::format("'{}' has a rectangle that ends at {}, {}, but the image{}{} is {}", key, right, bottom,
                                image.name.empty() ? "" : " ", image.name, to_string(image.extent)),
                    "Give rectangles inside the image.");
}

void add_rectangle(std::vector<bool>& excluded, const Extent& extent, const Region& box) {
    for (std::size_t row = 0; row < extent.height * extent.depth; ++row) {
        const std::size_t y = row % extent.height;
        if (y < box.offset.y || y >= box.offset.y + box.extent.height) continue;
        for (std::size_t x = box.offset.x; x < box.offset.x + box.extent.width; ++x)
            excluded[row * extent.width + x] = true;
    }
}

bool excludes_all(const std::vector<bool>& excluded) {
    return !excluded.empty() && std::ranges::find(excluded, false) == excluded.end();
}

// Returns an element for each texel, which is true if the texel is not compared. Empty if the criteria compare all
// texels in the same way.
std::vector<bool> excluded_texels(const HostImage& expected, const HostImage& actual, const Criteria& criteria) {
    if (criteria.mask.empty() && criteria.regions.empty() && criteria.special.empty()) return {};
    std::vector<bool> excluded(texels_of(actual.extent));
    if (criteria.mask.file) add_file(excluded, actual, criteria);
    for (const Region& box : criteria.mask.rectangles) {
        refuse_outside(box, actual, criteria.where, "mask");
        add_rectangle(excluded, actual.extent, box);
    }
    if (criteria.mask.alpha) add_alpha(excluded, expected, actual, criteria);
    if (excludes_all(excluded))
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

// Copies the excluded texels.
void copy_texels(const HostImage& from, HostImage& to, const std::vector<bool>& excluded) {
    const std::size_t bytes = info(to.format).bytes;
    for (std::size_t i = 0; i < excluded.size(); ++i)
        if (excluded[i]) std::memcpy(&to.texels[i * bytes], &from.texels[i * bytes], bytes);
}

// Copies the excluded texels and the ignored channels.
void make_equal(const HostImage& expected, HostImage& actual, const Criteria& criteria,
                const std::vector<bool>& excluded) {
    if (criteria.ignored != 0) {
        const std::vector<std::byte> ignored = ignored_bits(actual, criteria);
        for (std::size_t i = 0; i < actual.texels.size(); ++i) {
            const std::byte mask = ignored[i % ignored.size()];
            actual.texels[i] = (actual.texels[i] & ~mask) | (expected.texels[i] & mask);
        }
    }
    copy_texels(expected, actual, excluded);
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

// Which texels and channels of an image are compared, and the image with equal values where they are not.
struct Prepared {
    std::optional<HostImage> copy;      // unset if all of the image is compared
    std::vector<bool> excluded;         // an element for each texel; empty if all are compared
    std::vector<std::size_t> channels;  // that are compared
    SpecialProblems problems;
};

Prepared prepared(const HostImage& expected, const HostImage& actual, const Criteria& criteria) {
    Prepared out{.copy = {},
                 .excluded = excluded_texels(expected, actual, criteria),
                 .channels = compared_channels(actual, criteria),
                 .problems = {}};
    if (out.excluded.empty() && criteria.ignored == 0) return out;
    out.copy = actual;
    out.problems = apply_rules(criteria.special, expected, *out.copy, out.excluded, out.channels);
    if (excludes_all(out.excluded))
        refuse_text(criteria.where, "'special' leaves no texel to compare",
                    "Do not ignore all values of the reference.");
    make_equal(expected, *out.copy, criteria, out.excluded);
    return out;
}

// Compares images that are equal where they are not compared. `exceeded` stays empty.
ImageDifference measured(const HostImage& expected, const HostImage& actual, const std::vector<bool>& excluded,
                         const std::vector<std::size_t>& channels, bool ssim, std::size_t worst) {
    ImageDifference out;
    const std::size_t texels = texels_of(actual.extent);
    out.texels = texels - static_cast<std::size_t>(std::ranges::count(excluded, true));
    out.comparison =
        compare(expected.view(), actual.view(), {.ssim = ssim, .worst = worst, .channels = channels_of(actual)});
    out.changed_bits = changed_texels(expected, actual);
    if (out.texels < texels || channels.size() < channels_of(actual))
        correct_means(out.comparison, channels, static_cast<double>(out.texels) / static_cast<double>(texels));
    return out;
}

// --- regions ---------------------------------------------------------------------------------------------------------

HostImage cropped(const HostImage& image, const Region& box) {
    HostImage out(image.format, {box.extent.width, box.extent.height, image.extent.depth});
    out.file_channels = image.file_channels;
    const std::size_t bytes = info(image.format).bytes, bytes_of_row = box.extent.width * bytes;
    for (std::size_t row = 0; row < box.extent.height * image.extent.depth; ++row) {
        const std::size_t y = row % box.extent.height + box.offset.y, z = row / box.extent.height;
        const std::size_t from = (z * image.extent.height + y) * image.extent.width + box.offset.x;
        std::memcpy(&out.texels[row * bytes_of_row], &image.texels[from * bytes], bytes_of_row);
    }
    return out;
}

std::vector<bool> cropped(const std::vector<bool>& excluded, const Extent& extent, const Region& box) {
    std::vector<bool> out;
    for (std::size_t row = 0; row < box.extent.height * extent.depth; ++row) {
        const std::size_t y = row % box.extent.height + box.offset.y, z = row / box.extent.height;
        for (std::size_t x = 0; x < box.extent.width; ++x)
            out.push_back(excluded[(z * extent.height + y) * extent.width + box.offset.x + x]);
    }
    return out;
}

std::string name_of(const Criteria& criteria, std::size_t region) {
    const std::string& name = criteria.regions[region].name;
    return name.empty() ? fmt::format("region {}", region + 1) : "region " + name;
}

// Returns the limits that are exceeded in regions, and outside of them.
std::string exceeded_in_regions(const HostImage& expected, const HostImage& actual, const Prepared& both,
                                const Criteria& criteria) {
    std::string out;
    std::vector<bool> excluded = both.excluded;  // by the mask, and by regions before
    const auto add = [&out](const std::string& name, const std::string& text) {
        if (!text.empty()) out += (out.empty() ? "" : "; ") + name + text;
    };
    for (std::size_t i = 0; i < criteria.regions.size(); ++i) {
        const auto& [box, tolerance, name] = criteria.regions[i];
        const std::string where = fmt::format("{}, 'regions', {}", criteria.where, i + 1);
        refuse_outside(box, actual, where, "rectangle");
        const std::vector<bool> outside = cropped(excluded, actual.extent, box);
        if (excludes_all(outside))
            refuse_text(where, "'rectangle' has no texel that is compared",
                        "Remove it: the mask or regions before it have all of its texels.");
        const HostImage a = cropped(expected, box);
        HostImage b = cropped(actual, box);
        copy_texels(a, b, outside);
        const ImageDifference found = measured(a, b, outside, both.channels, tolerance.needs_ssim(), 0);
        add(name_of(criteria, i) + ": ", exceeded_limits(tolerance, {.expected = a,
                                                                     .actual = b,
                                                                     .difference = found,
                                                                     .excluded = outside,
                                                                     .channels = both.channels,
                                                                     .image = actual,
                                                                     .offset = box.offset,
                                                                     .where = where}));
        add_rectangle(excluded, actual.extent, box);
    }
    if (excludes_all(excluded)) return out;
    HostImage rest = actual;
    copy_texels(expected, rest, excluded);
    const ImageDifference found = measured(expected, rest, excluded, both.channels, criteria.tolerance.needs_ssim(), 0);
    add("outside of the regions: ", exceeded_limits(criteria.tolerance, {.expected = expected,
                                                                         .actual = rest,
                                                                         .difference = found,
                                                                         .excluded = excluded,
                                                                         .channels = both.channels,
                                                                         .image = actual,
                                                                         .offset = {},
                                                                         .where = criteria.where}));
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
    return prepared(expected, actual, criteria).copy.value_or(actual);
}

ImageDifference difference_of(const HostImage& expected, const HostImage& actual, const Criteria& criteria) {
    const Prepared both = prepared(expected, actual, criteria);
    const HostImage& compared = both.copy ? *both.copy : actual;
    ImageDifference out =
        measured(expected, compared, both.excluded, both.channels, criteria.tolerance.needs_ssim(), kWorst);
    const std::string exceeded = criteria.regions.empty()
                                     ? exceeded_limits(criteria.tolerance, {.expected = expected,
                                                                            .actual = compared,
                                                                            .difference = out,
                                                                            .excluded = both.excluded,
                                                                            .channels = both.channels,
                                                                            .image = compared,
                                                                            .offset = {},
                                                                            .where = criteria.where})
                                     : exceeded_in_regions(expected, compared, both, criteria);
    out.exceeded = both.problems.text();
    if (!exceeded.empty()) out.exceeded += (out.exceeded.empty() ? "" : ", ") + exceeded;
    return out;
}

std::string exceeded_by_equal(const HostImage& image, const Criteria& criteria) {
    const bool has_maps = criteria.tolerance.has_map() || std::ranges::any_of(criteria.regions, [](const auto& each) {
                              return each.tolerance.has_map();
                          });
    if (criteria.mask.empty() && criteria.regions.empty() && criteria.special.empty() && !has_maps) return {};
    return difference_of(image, image, criteria).exceeded;
}

}  // namespace texton::verify
