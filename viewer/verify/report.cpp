#include "viewer/verify/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>
#include <texton/image.h>
#include <texton/image_save.h>

#include "viewer/verify/image_difference.h"
#include "viewer/verify/junit.h"
#include "viewer/verify/kernel_footprint.h"
#include "viewer/verify/reported_results.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxShown = 50;  // images of a case

// Follows the light or dark color scheme of the reader's system. A table that is wider than the page has its own scroll
// bar.
constexpr const char* kStyle = R"(<style>
:root { color-scheme: light dark; --text: #222; --page: #fff; --line: #ddd; --good: #176b2c; --bad: #b00020; }
@media (prefers-color-scheme: dark) {
    :root { --text: #ddd; --page: #181a1b; --line: #3c3f41; --good: #6fcf7f; --bad: #ff7b86; }
}
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 96em; padding: 0 1em;
       color: var(--text); background: var(--page); }
h1 { font-size: 1.6em; overflow-wrap: anywhere; }
.table { overflow-x: auto; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { text-align: left; padding: .3em 1em .3em 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
code, .values { font: 13px ui-monospace, monospace; }
.values { white-space: pre; }
code { overflow-wrap: anywhere; }
figure { display: inline-block; vertical-align: top; margin: 0 1em 1em 0; max-width: 100%; }
figcaption { font-size: 13px; margin-top: .3em; }
img { image-rendering: pixelated; display: block; background: #000; max-width: 100%; height: auto; }
.wipe { position: relative; }
.wipe .top { position: absolute; left: 0; top: 0; }
input[type=range] { display: block; width: 100%; margin: .4em 0; }
pre { font: 13px ui-monospace, monospace; overflow-x: auto; padding: .5em; border: 1px solid var(--line); }
.passed { color: var(--good); } .differs, .failed, .no_reference { color: var(--bad); }
</style>
)";

// Moves the divider between the expected and the actual image with the slider.
constexpr const char* kScript = R"(<script>
for (const slider of document.querySelectorAll('input[type=range]')) {
    const top = slider.parentNode.querySelector('.top');
    const wipe = () => { top.style.clipPath = `inset(0 ${100 - slider.value}% 0 0)`; };
    slider.addEventListener('input', wipe);
    wipe();
}
</script>
)";

std::string page(const std::string& title, const std::string& body) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
           "content=\"width=device-width, initial-scale=1\">\n<title>" +
           escaped(title) + "</title>\n" + kStyle + "</head>\n<body>\n<h1>" + escaped(title) + "</h1>\n" + body +
           "</body>\n</html>\n";
}

// --- images of the pages ---------------------------------------------------------------------------------------------

float shown(float value, const FormatInfo& format) {
    if (!(value == value)) return 0;
    switch (format.kind) {
        case FormatKind::unorm:
        case FormatKind::srgb: return value;
        case FormatKind::snorm: return value * 0.5f + 0.5f;
        case FormatKind::uint: return value / std::ldexp(1.0f, format.bits);
        case FormatKind::sint: return value / std::ldexp(1.0f, format.bits) + 0.5f;
        case FormatKind::floating: break;
    }
    if (value <= 0.0031308f) return 12.92f * value;  // floats are linear light
    return 1.055f * std::pow(std::min(value, 1.0f), 1 / 2.4f) - 0.055f;
}

std::byte code_of(float value) { return static_cast<std::byte>(std::lround(255 * std::clamp(value, 0.0f, 1.0f))); }

// Returns the size of an image of all slices below each other.
Extent flat(const Extent& extent) { return {extent.width, extent.height * extent.depth}; }

// Returns the displayed values of an image, four for each texel. Images of one channel become gray. Alpha is kept in
// the fourth value and is not multiplied with the colors.
std::vector<float> shown_values(const HostImage& image) {
    const FormatInfo& format = info(image.format);
    std::vector<float> values = read_channels(image.view());
    for (std::size_t i = 0; i < values.size(); i += 4) {
        for (std::size_t c = 0; c < 4; ++c) values[i + c] = c < format.channels ? shown(values[i + c], format) : 0;
        if (format.channels == 1) values[i + 1] = values[i + 2] = values[i];
    }
    return values;
}

using Texels = std::vector<std::byte>;

Texels opaque(const std::vector<float>& values) {
    Texels texels(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) texels[i] = i % 4 == 3 ? std::byte{255} : code_of(values[i]);
    return texels;
}

// Returns an image of the absolute differences and the factor by which they are amplified: the largest difference
// becomes the maximum of a channel. A difference of alpha is added to all three colors, and so appears gray.
std::pair<Texels, float> amplified(const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> difference(a.size());
    float largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const float each = std::abs(std::clamp(a[i], 0.0f, 1.0f) - std::clamp(b[i], 0.0f, 1.0f));
        difference[i] = each;
        largest = std::max(largest, each);
    }
    const float factor = largest > 0 ? 1 / largest : 1;
    for (std::size_t i = 0; i < a.size(); i += 4)
        for (std::size_t c = 0; c < 3; ++c) difference[i + c] = std::max(difference[i + c], difference[i + 3]) * factor;
    return {opaque(difference), factor};
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t word = 0;
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t b = 0; b < 3; ++b) {
            const std::uint32_t byte = b < count ? static_cast<unsigned char>(bytes[i + b]) : 0U;
            word = word << 8 | byte;
        }
        for (std::size_t letter = 0; letter < 4; ++letter)
            out += letter <= count ? kLetters[word >> (18 - 6 * letter) & 63] : '=';
    }
    return out;
}

// Writes an image file beside the page and returns an HTML element that embeds the contents of the file.
std::string image(const fs::path& path, Extent extent, const Texels& texels, const char* attributes = "") {
    write_image(path, Format::rgba8_unorm, extent, texels);
    std::ifstream file(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    const std::size_t enlarged = std::max<std::size_t>(1, 320 / std::max(extent.width, extent.height));
    return fmt::format("<img {}alt=\"{}\" width=\"{}\" height=\"{}\" src=\"data:image/png;base64,{}\">\n", attributes,
                       path.stem().string(), extent.width * enlarged, extent.height * enlarged, base64(bytes));
}

// Writes the exact texels to a .dds file.
void save_exact(const fs::path& path, const HostImage& image) {
    HostImage kept = image;
    // DDS lacks these two formats. The unorm format has the same codes.
    if (kept.format == Format::r8_srgb) kept.format = Format::r8_unorm;
    if (kept.format == Format::rg8_srgb) kept.format = Format::rg8_unorm;
    save(path, std::as_const(kept).view());
}

// --- a case ----------------------------------------------------------------------------------------------------------

std::string values_of(const std::array<double, 4>& values, std::size_t channels) {
    std::string out;
    for (std::size_t c = 0; c < channels; ++c) out += fmt::format("{}{:<13.9g}", c == 0 ? "" : " ", values[c]);
    return out;
}

std::string subresource_of(const Offset& at, const Extent& extent) {
    return extent.depth > 1 ? fmt::format("{}, {}, {}", at.x, at.y, at.z) : fmt::format("{}, {}", at.x, at.y);
}

std::string words_of(const std::optional<std::vector<Tap>>& taps) {
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
    std::vector<Offset> subresources;
    for (const WorstTexel& texel : comparison.worst) subresources.push_back(texel.at);
    std::vector<std::optional<std::vector<Tap>>> taps(subresources.size());
    if (const auto* kernel = std::get_if<KernelCase>(&of.work)) taps = footprints(*kernel, subresources, image);
    const bool traced = std::ranges::any_of(taps, [](const auto& each) { return each.has_value(); });
    std::string out =
        "<div class=\"table\">\n<table>\n<tr><th>worst texel<th class=\"number\">ulp<th class=\"number\">difference"
        "<th>expected<br>actual";
    out += traced ? "<th>texels read &times; weight\n" : "\n";
    for (std::size_t i = 0; i < comparison.worst.size(); ++i) {
        const WorstTexel& texel = comparison.worst[i];
        const std::size_t channels = comparison.channels.size();
        out += fmt::format(
            "<tr><td>{}<td class=\"number\">{}<td class=\"number\">{:.6g}<td "
            "class=\"values\">{}<br>{}",
            subresource_of(texel.at, extent), texel.ulp == kFarthest ? "NaN" : std::to_string(texel.ulp),
            texel.difference, values_of(texel.a, channels), values_of(texel.b, channels));
        if (traced) out += "<td class=\"values\">" + words_of(taps[i]);
        out += '\n';
    }
    return out + "</table>\n</div>\n";
}

std::string numbers_of(const Comparison& comparison) {
    const Difference& all = comparison.all;
    return fmt::format("<p>{} texels differ; max ulp {}, max difference {:.6g}, MSE {:.6g}, PSNR {:.6g} dB.</p>\n",
                       all.differing, all.max_ulp == kFarthest ? "NaN" : std::to_string(all.max_ulp), all.max, all.mse,
                       all.psnr);
}

// Returns a name, with the index of the image if the case has several.
std::string numbered(const char* name, const Result& result, std::size_t image) {
    return result.images.size() > 1 ? fmt::format("{}_{}", name, image) : name;
}

std::string figure(const std::string& image, const std::string& caption) {
    return "<figure>\n" + image + "<figcaption>" + caption + "</figcaption>\n</figure>\n";
}

// Returns the part of a page that compares an image with its reference.
std::string compared(const fs::path& folder, const Case& of, const Result& result, std::size_t i) {
    const HostImage& actual = result.images[i];
    const HostImage& expected = result.reference->images[i];
    const HostImage in_comparison = compared_image(expected, actual, *result.criteria[i]);
    const auto path = [&](const char* name) { return folder / (numbered(name, result, i) + ".png"); };
    const Extent extent = flat(actual.extent);
    const std::vector<float> shown_actual = shown_values(actual), shown_expected = shown_values(expected);
    const auto [difference, factor] = amplified(shown_expected, shown_values(in_comparison));
    std::string out = "<figure>\n<div class=\"wipe\">\n" + image(path("actual"), extent, opaque(shown_actual)) +
                      image(path("expected"), extent, opaque(shown_expected), "class=\"top\" ") +
                      "<input type=\"range\" min=\"0\" max=\"100\" value=\"50\" aria-label=\"divider between expected "
                      "and actual image\">\n</div>\n"
                      "<figcaption>left: expected, right: actual</figcaption>\n</figure>\n";
    out += figure(image(path("difference"), extent, difference), fmt::format("difference &times; {:.4g}", factor));
    out += figure(image(path("ulp"), extent, ulp_map(ulp_distances(expected.view(), in_comparison.view()))),
                  "ulp distance: black is 0, pale yellow is 65536 or more");
    return out + numbers_of(result.comparisons[i]) + worst_table(of, result.comparisons[i], actual.extent, i);
}

std::string images_of(const fs::path& folder, const Case& of, const Result& result) {
    std::string out;
    std::size_t shown = 0, left_out = 0;
    for (std::size_t i = 0; i < result.images.size(); ++i) {
        const HostImage& actual = result.images[i];
        const bool is_equal = !result.comparisons.empty() && actual.texels == result.reference->images[i].texels;
        if (result.images.size() > 1 && (is_equal || shown == kMaxShown)) {
            ++left_out;
            continue;
        }
        ++shown;
        const std::string name = actual.name.empty() ? fmt::format("Image {}", i) : escaped(actual.name);
        if (result.images.size() > 1 || !actual.name.empty()) out += fmt::format("<h2>{}</h2>\n", name);
        out += fmt::format("<p>{}</p>\n", actual.text());
        save_exact(folder / (numbered("actual", result, i) + ".dds"), actual);
        if (!result.comparisons.empty()) {
            save_exact(folder / (numbered("expected", result, i) + ".dds"), result.reference->images[i]);
            out += compared(folder, of, result, i);
            continue;
        }
        out += figure(
            image(folder / (numbered("actual", result, i) + ".png"), flat(actual.extent), opaque(shown_values(actual))),
            "actual");
    }
    if (left_out > 0)
        out += fmt::format("<p>{} other images are not shown: equal ones, and those after the first {}.</p>\n",
                           left_out, kMaxShown);
    if (!result.comparisons.empty() || !result.reference) return out;
    const std::vector<HostImage>& expected = result.reference->images;
    for (std::size_t i = 0; i < std::min(expected.size(), kMaxShown); ++i) {
        const std::string name = expected.size() > 1 ? fmt::format("expected_{}", i) : "expected";
        save_exact(folder / (name + ".dds"), expected[i]);
        out +=
            figure(image(folder / (name + ".png"), flat(expected[i].extent), opaque(shown_values(expected[i]))), name);
    }
    return out;
}

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

void write_case(const fs::path& folder, const Suite& suite, const Case& of, const Result& result) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    std::string body =
        fmt::format("<p class=\"{}\">{}</p>\n", file_name(name(result.outcome)), escaped(result.message));
    body += fmt::format("<p>{} of suite {}. <a href=\"../index.html\">All cases</a></p>\n", origin_of(of),
                        escaped(suite.name));
    if (!result.output.empty())
        body += fmt::format("<p>Last lines of the command:</p>\n<pre>{}</pre>\n", escaped(result.output));
    if (result.repetition) body += fmt::format("<p>{}.</p>\n", escaped(result.repetition->text()));
    if (result.reference) body += reference_text(*result.reference, result.equal_fields);
    body += images_of(folder, of, result) + kScript;
    write_text(folder / "index.html", page(of.name, body));
}

}  // namespace

void write_report(const fs::path& folder, const Suite& suite, const Device& device,
                  const std::vector<const Case*>& cases, const std::vector<Result>& results) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    std::string rows;
    std::size_t passed = 0, skipped = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Result& result = results[i];
        std::string title = escaped(cases[i]->name);
        passed += result.outcome == Outcome::passed ? 1 : 0;
        skipped += result.outcome == Outcome::skipped ? 1 : 0;
        if (result.outcome != Outcome::passed && result.outcome != Outcome::skipped) {
            const std::string subresource = file_name(cases[i]->name);
            write_case(folder / subresource, suite, *cases[i], result);
            title = fmt::format("<a href=\"{}/index.html\">{}</a>", subresource, title);
        }
        std::string message = result.message;
        if (result.repetition && result.repetition->varies())
            message += (message.empty() ? "" : "; ") + result.repetition->text();
        rows += fmt::format(
            "<tr><td>{}<td class=\"{}\">{}<td class=\"number\">{}<td class=\"number\">{}<td "
            "class=\"number\">{:.3f}<td>{}\n",
            title, file_name(name(result.outcome)), name(result.outcome), result.differing(),
            result.max_ulp() == kFarthest ? "NaN" : std::to_string(result.max_ulp()), result.seconds, escaped(message));
    }
    const std::string body = fmt::format(
        "<p>{} of {} cases passed on {}{}.</p>\n<div class=\"table\">\n<table>\n<tr><th>case<th><th class=\"number\">"
        "differing texels<th class=\"number\">max ulp<th class=\"number\">seconds<th>\n{}</table>\n</div>\n",
        passed, cases.size(), escaped(device.name()), skipped == 0 ? "" : fmt::format("; {} were skipped", skipped),
        rows);
    write_text(folder / "index.html", page(suite.name, body));
    write_results(folder, suite, device, cases, results);
}

}  // namespace texton::verify
