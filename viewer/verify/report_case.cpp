#include "viewer/verify/report_case.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>
#include <texton/image_save.h>
#include <texton/metrics.h>

#include "viewer/verify/image_difference.h"
#include "viewer/verify/image_pairs.h"
#include "viewer/verify/junit.h"
#include "viewer/verify/kernel_footprint.h"
#include "viewer/verify/report_images.h"
#include "viewer/verify/report_page.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxShown = 50;                     // images of a case
constexpr std::size_t kMaxTexels = std::size_t{4} << 20;  // of an image that is displayed in its own size
constexpr std::size_t kCropSide = 512;                    // of the part of a larger image that is displayed
constexpr std::size_t kThumbSide = 92;

std::size_t texels_of(const Extent& extent) { return extent.width * extent.height * extent.depth; }

// --- images ----------------------------------------------------------------------------------------------------------

// An image of a section. All images of a section show the same texels.
struct Pane {
    const char* kind;  // attribute data-kind, and name of the file
    std::string caption;
    ShownImage image;
    Reduction reduction = Reduction::mean;
};

// Writes the sections of images of a case.
class Sections {
public:
    Sections(CaseOutput output, bool several) : output_(std::move(output)), several_(several) {}

    bool has_room() const noexcept { return output_.room > 0; }

    // Returns a section. Images that are too large are reduced, and a second section shows the part around `worst` in
    // full size. `details` is HTML that follows the images.
    std::string section(std::size_t index, const std::string& head, const std::vector<Pane>& panes,
                        const std::optional<Offset>& worst, const std::string& details) {
        Extent size;
        for (const Pane& pane : panes) {
            size.width = std::max(size.width, pane.image.extent.width);
            size.height = std::max(size.height, pane.image.extent.height);
        }
        const std::size_t factor = static_cast<std::size_t>(
            std::ceil(std::sqrt(static_cast<double>(texels_of(size)) / static_cast<double>(kMaxTexels))));
        std::string figures;
        for (const Pane& pane : panes) {
            const fs::path file = output_.folder.value_or(output_.scratch) / name(pane.kind, index, ".png");
            if (factor == 1 || output_.folder) write_png(file, pane.image);
            figures += figure(pane, factor == 1 ? url(file) : embedded(reduced(pane.image, factor, pane.reduction)),
                              pane.image.extent);
        }
        if (factor == 1) return html(size, {}, head, figures, details);
        std::string note = fmt::format(
            "<p>The images are too large for this page, so they are reduced to 1/{} of their "
            "sides. The maps keep the brightest of the texels that they combine.{}</p>\n",
            factor,
            output_.folder ? " The .png files in the folder of this page have all "
                             "texels."
                           : "");
        if (!worst) return html(size, {}, head + note, figures, details);
        return html(size, {}, head + note, figures, "") + crop(size, panes, *worst, details);
    }

    // Writes the exact texels to a .dds file.
    void save_exact(const char* kind, std::size_t index, const HostImage& image) const {
        if (!output_.folder) return;
        HostImage kept = image;
        // DDS lacks these two formats. The unorm format has the same codes.
        if (kept.format == Format::r8_srgb) kept.format = Format::r8_unorm;
        if (kept.format == Format::rg8_srgb) kept.format = Format::rg8_unorm;
        save(*output_.folder / name(kind, index, ".dds"), std::as_const(kept).view());
    }

private:
    std::string name(const char* kind, std::size_t index, const char* ending) const {
        return several_ ? fmt::format("{}_{}{}", kind, index, ending) : fmt::format("{}{}", kind, ending);
    }

    std::string url(const fs::path& png) {
        std::string out = data_url(png);
        output_.room -= std::min(output_.room, out.size());
        return out;
    }

    std::string embedded(const ShownImage& image) {
        write_png(output_.scratch / "embedded.png", image);
        return url(output_.scratch / "embedded.png");
    }

    static std::string figure(const Pane& pane, const std::string& url, const Extent& extent) {
        return fmt::format(
            "<figure data-kind=\"{}\">\n<div class=\"frame\"><img alt=\"{}\" width=\"{}\" height=\"{}\" "
            "data-width=\"{}\" data-height=\"{}\" src=\"{}\"></div>\n<figcaption>{}</figcaption>\n"
            "</figure>\n",
            pane.kind, pane.kind, extent.width, extent.height, extent.width, extent.height, url, pane.caption);
    }

    static std::string html(const Extent& size, const Offset& corner, const std::string& head,
                            const std::string& figures, const std::string& details) {
        return fmt::format(
            "<section class=\"images card\" data-width=\"{}\" data-height=\"{}\" data-left=\"{}\" "
            "data-top=\"{}\">\n{}<div class=\"panes\">\n{}</div>\n{}</section>\n",
            size.width, size.height, corner.x, corner.y, head, figures, details);
    }

    std::string crop(const Extent& size, const std::vector<Pane>& panes, const Offset& worst,
                     const std::string& details) {
        const auto first = [](std::size_t at, std::size_t side) {
            return side <= kCropSide ? 0
                                     : std::clamp<std::size_t>(at, kCropSide / 2, side - kCropSide / 2) - kCropSide / 2;
        };
        const Region region{{first(worst.x, size.width), first(worst.y, size.height)},
                            {std::min(kCropSide, size.width), std::min(kCropSide, size.height)}};
        std::string figures;
        for (const Pane& pane : panes) figures += figure(pane, embedded(cropped(pane.image, region)), region.extent);
        return html(region.extent, region.offset,
                    fmt::format("<h2>Texels around the worst one, in full size</h2>\n<p class=\"faint\">{}</p>\n",
                                to_string(region)),
                    figures, details);
    }

    CaseOutput output_;
    bool several_;
};

// --- numbers ---------------------------------------------------------------------------------------------------------

std::string values_of(const std::array<double, 4>& values, std::size_t channels) {
    std::string out;
    for (std::size_t c = 0; c < channels; ++c) out += fmt::format("{}{:<13.9g}", c == 0 ? "" : " ", values[c]);
    return out;
}

std::string position_of(const Offset& at, const Extent& extent) {
    return extent.depth > 1 ? fmt::format("{}, {}, {}", at.x, at.y, at.z) : fmt::format("{}, {}", at.x, at.y);
}

// Returns the position in an image of all slices below each other.
Offset flat_position(const Offset& at, const Extent& extent) { return {at.x, at.z * extent.height + at.y}; }

std::string text_of(const std::optional<std::vector<Tap>>& taps) {
    if (!taps) return "&mdash;";
    constexpr std::size_t kMax = 9;
    std::string out;
    for (std::size_t i = 0; i < std::min(kMax, taps->size()); ++i) {
        const Tap& tap = (*taps)[i];
        out += fmt::format("{}({}, {}) &times; {:.6g}", i == 0 ? "" : "<br>", tap.at.x, tap.at.y, tap.weight);
    }
    if (taps->size() > kMax) out += fmt::format("<br>and {} more", taps->size() - kMax);
    return out;
}

std::string worst_table(const Case& of, const Comparison& comparison, const Extent& extent, std::size_t image) {
    if (comparison.worst.empty()) return {};
    std::vector<Offset> positions;
    for (const WorstTexel& texel : comparison.worst) positions.push_back(texel.at);
    std::vector<std::optional<std::vector<Tap>>> taps(positions.size());
    if (const auto* kernel = std::get_if<KernelCase>(&of.work)) taps = footprints(*kernel, positions, image);
    const bool traced = std::ranges::any_of(taps, [](const auto& each) { return each.has_value(); });
    std::string out =
        "<div class=\"table\">\n<table>\n<tr><th>worst texel<th class=\"number\">ulp<th class=\"number\">difference"
        "<th>expected<br>actual";
    out += traced ? "<th>texels read &times; weight\n" : "\n";
    for (std::size_t i = 0; i < comparison.worst.size(); ++i) {
        const WorstTexel& texel = comparison.worst[i];
        const std::size_t channels = comparison.channels.size();
        const Offset at = flat_position(texel.at, extent);
        out += fmt::format(
            "<tr><td><button type=\"button\" data-x=\"{}\" data-y=\"{}\">{}</button><td class=\"number\">{}<td "
            "class=\"number\">{:.6g}<td class=\"values\">{}<br>{}",
            at.x, at.y, position_of(texel.at, extent), ulp_text(texel.ulp), texel.difference,
            values_of(texel.a, channels), values_of(texel.b, channels));
        if (traced) out += "<td class=\"values\">" + text_of(taps[i]);
        out += '\n';
    }
    return out + "</table>\n</div>\n";
}

std::string numbers_of(const Comparison& comparison, const Extent& extent, const std::optional<Flip>& flip) {
    const Difference& all = comparison.all;
    Figures figures;
    figures.add("differing texels",
                fmt::format("{} of {} ({:.3g} %)", all.differing, texels_of(extent),
                            100 * static_cast<double>(all.differing) / static_cast<double>(texels_of(extent))));
    figures.add("max ulp", ulp_text(all.max_ulp));
    figures.add("max difference", fmt::format("{:.6g}", all.max));
    figures.add("MSE", fmt::format("{:.6g}", all.mse));
    figures.add("PSNR", fmt::format("{:.6g} dB", all.psnr));
    if (all.ssim) figures.add("SSIM", fmt::format("{:.6g}", *all.ssim));
    if (flip) figures.add("FLIP", fmt::format("mean {:.4g}, max {:.4g}", flip->mean, flip->max));
    return figures.html();
}

// --- images of a case ------------------------------------------------------------------------------------------------

std::string head_of(const HostImage& image, std::size_t index, bool several, const std::string& text) {
    std::string out;
    if (several || !image.name.empty())
        out = fmt::format("<h2>{}</h2>\n", image.name.empty() ? fmt::format("Image {}", index) : escaped(image.name));
    return out + fmt::format("<p class=\"faint\">{}</p>\n", escaped(text));
}

Pane pane_of(const char* kind, const char* caption, const HostImage& image) {
    return {kind, caption, opaque(flat(image.extent), shown_values(image))};
}

// Adds the picture of the texels that vary between runs to the panes of an image.
void add_varying(std::vector<Pane>& panes, const Repetition& repetition, const VaryingTexels& varying) {
    const auto others = static_cast<float>(std::max<std::size_t>(repetition.distinct, 2) - 1);
    std::vector<float> shares(varying.counts.size());
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = static_cast<float>(varying.counts[i]) / others;
    panes.push_back(
        {"varying",
         fmt::format("Texels that vary between runs. Black: equal in all results; pale yellow: different in "
                     "{} other results",
                     repetition.distinct - 1),
         {flat(varying.extent), heat_map(shares)},
         Reduction::brightest});
}

// Returns the varying texels of an image of a result, or nullptr.
const VaryingTexels* varying_of(const Result& result, std::size_t image) {
    if (!result.repetition) return nullptr;
    const auto found = std::ranges::find(result.repetition->images, image, &VaryingTexels::image);
    return found == result.repetition->images.end() ? nullptr : &*found;
}

// Returns the section of an image that has the same shape as its reference.
std::string compared(Sections& sections, const Case& of, const Result& result, std::size_t i) {
    const HostImage& actual = result.images[i];
    const HostImage& expected = result.reference->images[i];
    const HostImage in_comparison = compared_image(expected, actual, *result.criteria[i]);
    const Comparison& comparison = result.comparisons[i];
    const Extent extent = flat(actual.extent);
    const std::vector<float> shown_expected = shown_values(expected);
    AmplifiedDifference difference = amplified_difference(extent, shown_expected, shown_values(in_comparison));
    std::vector<Pane> panes;
    panes.push_back({"expected", "Expected", opaque(extent, shown_expected)});
    panes.push_back(pane_of("actual", "Actual", actual));
    panes.push_back({"difference", fmt::format("Difference &times; {:.4g}", difference.factor),
                     std::move(difference.image), Reduction::brightest});
    panes.push_back({"ulp",
                     "Ulp distance: black is 0, pale yellow is 65536 or more",
                     {extent, ulp_map(ulp_distances(expected.view(), in_comparison.view()))},
                     Reduction::brightest});
    std::optional<Flip> flip;
    if (texels_of(extent) <= kMaxTexels) {
        flip = compare(expected.view(), in_comparison.view(), {.ssim = false, .flip = true, .worst = 0}).flip;
        panes.push_back({"flip",
                         "FLIP, the perceived difference: black is 0, pale yellow is 1",
                         {extent, heat_map(flip->errors)},
                         Reduction::brightest});
    }
    if (const VaryingTexels* varying = varying_of(result, i)) add_varying(panes, *result.repetition, *varying);
    std::optional<Offset> worst;
    if (!comparison.worst.empty()) worst = flat_position(comparison.worst.front().at, actual.extent);
    return sections.section(
        i, head_of(actual, i, result.images.size() > 1, actual.text()), panes, worst,
        numbers_of(comparison, actual.extent, flip) + worst_table(of, comparison, actual.extent, i));
}

// Returns the section of an image without a comparison: it has no reference, or a reference of another shape.
std::string not_compared(Sections& sections, const Result& result, const HostImage* expected, const HostImage* actual,
                         std::size_t i, bool several) {
    std::vector<Pane> panes;
    std::string text;
    if (expected != nullptr) {
        panes.push_back(pane_of("expected", "Expected", *expected));
        text = "Expected: " + expected->text();
    }
    if (actual != nullptr) {
        panes.push_back(pane_of("actual", "Actual", *actual));
        text += (text.empty() ? "Actual: " : "; actual: ") + actual->text();
    }
    if (const VaryingTexels* varying = actual != nullptr ? varying_of(result, i) : nullptr)
        add_varying(panes, *result.repetition, *varying);
    if (actual == nullptr) text += "; there is no such image in the result";
    return sections.section(i, head_of(actual != nullptr ? *actual : *expected, i, several, text), panes, {}, "");
}

// Returns the sections of a case whose result is equal to a reference, but varies: the texels that vary.
std::string varying_images(Sections& sections, const Repetition& repetition) {
    std::string out;
    for (const VaryingTexels& each : repetition.images) {
        if (!sections.has_room()) break;
        std::vector<Pane> panes;
        add_varying(panes, repetition, each);
        const std::string name = each.name.empty() ? fmt::format("Image {}", each.image) : escaped(each.name);
        out += sections.section(each.image, fmt::format("<h2>{}</h2>\n", name), panes, {}, "");
    }
    return out;
}

// Tells which image is the first one that differs, in the order of frames, parts and levels.
std::string first_difference(const std::vector<ImagePair>& pairs) {
    const auto is_equal = [](const ImagePair& pair) {
        return pair.expected != nullptr && pair.actual != nullptr && *pair.expected == *pair.actual;
    };
    const auto first = std::ranges::find_if_not(pairs, is_equal);
    if (pairs.size() < 2 || first == pairs.end()) return {};
    const std::string& name = (first->actual != nullptr ? first->actual : first->expected)->name;
    const auto index = first - pairs.begin();
    return fmt::format(
        "<p>The first image that differs is <b>{}</b>, after {} equal images. {} of {} images differ.</p>\n",
        name.empty() ? fmt::format("image {}", index) : escaped(name), index,
        pairs.size() - static_cast<std::size_t>(std::ranges::count_if(pairs, is_equal)), pairs.size());
}

std::string images_of(Sections& sections, const Case& of, const Result& result) {
    if (result.images.empty() && result.repetition) return varying_images(sections, *result.repetition);
    std::string out;
    std::size_t shown = 0, left_out = 0, equal = 0;
    const std::vector<ImagePair> pairs = image_pairs(result);
    if (result.reference && has_references(of)) out += first_difference(pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const HostImage *expected = pairs[i].expected, *actual = pairs[i].actual;
        const bool is_equal = expected != nullptr && actual != nullptr && *actual == *expected;
        if (is_equal) ++equal;
        const bool is_of_interest = !is_equal || (actual != nullptr && varying_of(result, i) != nullptr);
        if (pairs.size() > 1 && (!is_of_interest || shown == kMaxShown || !sections.has_room())) {
            ++left_out;
            continue;
        }
        ++shown;
        if (actual != nullptr) sections.save_exact("actual", i, *actual);
        if (expected != nullptr) sections.save_exact("expected", i, *expected);
        out += result.comparisons.empty() ? not_compared(sections, result, expected, actual, i, pairs.size() > 1)
                                          : compared(sections, of, result, i);
    }
    if (left_out == 0) return out;
    std::string reason =
        equal == left_out
            ? "They are equal to the reference."
            : fmt::format("{} of them are equal to the reference. For the others, this page has no space.", equal);
    return out + fmt::format("<p class=\"faint\">{} other images are not shown. {}</p>\n", left_out, reason);
}

// --- description -----------------------------------------------------------------------------------------------------

// Describes where the images come from.
std::string origin_of(const Case& of) {
    if (const auto* kernel = std::get_if<KernelCase>(&of.work))
        return fmt::format("Kernel <code>{}</code>", escaped(kernel->run.kernel->info.name));
    if (const auto* command = std::get_if<CommandCase>(&of.work)) {
        std::string out = "Command";
        for (const std::string& each : command->command.arguments)
            out += fmt::format(" <code>{}</code>", escaped(each));
        return out;
    }
    if (const auto* folders = std::get_if<FoldersCase>(&of.work))
        return fmt::format("Folder <code>{}</code>", escaped(folders->actual.string()));
    return std::holds_alternative<GivenCase>(of.work) ? "Test image" : "Files";
}

std::string reference_text(const Reference& reference, const std::vector<std::string>& equal_fields) {
    if (reference.toolkit.empty())
        return fmt::format("<p>Reference: the folder <code>{}</code>.</p>\n", escaped(reference.path.string()));
    std::string driver = reference.driver != 0 ? fmt::format(", driver {}", reference.driver) : "";
    if (!reference.driver_release.empty()) driver = ", driver " + escaped(reference.driver_release);
    const std::string equal = equal_fields.empty() ? "none" : fmt::format("{}", fmt::join(equal_fields, ", "));
    return fmt::format(
        "<p>Reference: <code>{}</code>, created on {}{} by Texton {}. Fields that equal those of the device: {}.</p>\n",
        escaped(reference.path.filename().string()), escaped(reference.device), driver, escaped(reference.toolkit),
        equal);
}

std::string bar_of(const CaseLinks& links) {
    std::string out = fmt::format(
        "<div class=\"bar\"><nav>\n<a rel=\"up\" href=\"{}\">All cases</a>\n<span "
        "class=\"space\"></span>\n",
        links.all);
    if (!links.previous.empty())
        out += fmt::format("<a rel=\"prev\" href=\"{}\">&larr; Previous</a>\n", links.previous);
    out += fmt::format("<span class=\"faint\">{}</span>\n", links.position);
    if (!links.next.empty()) out += fmt::format("<a rel=\"next\" href=\"{}\">Next &rarr;</a>\n", links.next);
    return out + "<button type=\"button\" class=\"show-keys\" title=\"Key ?\">Keys</button>\n</nav></div>\n";
}

}  // namespace

std::string article_id(const Case& of) { return "case-" + file_name(of.name); }

std::string badge(Outcome outcome) {
    return fmt::format("<span class=\"badge {}\">{}</span>", file_name(name(outcome)), name(outcome));
}

std::string ulp_text(std::uint32_t ulp) { return ulp == kFarthest ? "NaN" : std::to_string(ulp); }

std::string case_article(const Suite& suite, const Case& of, const Result& result, CaseOutput output,
                         const CaseLinks& links, const std::string& extra) {
    std::string out = fmt::format("<article id=\"{}\">\n{}<div class=\"page\">\n<h1>{}</h1>\n", article_id(of),
                                  bar_of(links), escaped(of.name));
    out += fmt::format("<p>{} {}</p>\n", badge(result.outcome), escaped(result.message));
    out += fmt::format("<p>{} of suite {}.</p>\n", origin_of(of), escaped(suite.name));
    if (!result.output.empty())
        out += fmt::format("<p>Last lines of the command:</p>\n<pre>{}</pre>\n", escaped(result.output));
    if (result.repetition) out += fmt::format("<p>{}.</p>\n", escaped(result.repetition->text()));
    if (result.reference) out += reference_text(*result.reference, result.equal_fields);
    out += extra;
    const std::size_t images = std::max({result.images.size(), result.reference ? result.reference->images.size() : 0,
                                         result.repetition ? result.repetition->images.size() : 0});
    Sections sections(std::move(output), images > 1);
    return out + images_of(sections, of, result) + "</div>\n</article>\n";
}

std::string thumbnails(const Result& result, const fs::path& scratch) {
    if (result.images.empty()) return {};
    std::size_t worst = 0;
    for (std::size_t i = 0; i < result.comparisons.size(); ++i)
        if (result.comparisons[i].all.rmse > result.comparisons[worst].all.rmse) worst = i;
    const auto thumb = [&](const ShownImage& image, Reduction reduction, const char* alt) {
        const std::size_t side = std::max(image.extent.width, image.extent.height);
        const fs::path file = scratch / "thumb.png";
        write_png(file, reduced(image, (side + kThumbSide - 1) / kThumbSide, reduction));
        return fmt::format("<img alt=\"{}\" src=\"{}\">", alt, data_url(file));
    };
    const HostImage& actual = result.images[worst];
    const std::string of_actual = thumb(pane_of("", "", actual).image, Reduction::mean, "actual");
    if (result.comparisons.empty()) return of_actual;
    const HostImage& expected = result.reference->images[worst];
    const HostImage in_comparison = compared_image(expected, actual, *result.criteria[worst]);
    const ShownImage map{flat(actual.extent), ulp_map(ulp_distances(expected.view(), in_comparison.view()))};
    return of_actual + thumb(map, Reduction::brightest, "ulp map");
}

}  // namespace texton::verify
