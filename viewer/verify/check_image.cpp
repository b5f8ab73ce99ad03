// A check is a case of a suite whose images are given. It is compared, approved and reported as `texton verify` does.
#include <texton/check_image.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <system_error>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/error.h>
#include <texton/image.h>
#include <texton/image_file.h>
#include <texton/planar_array.h>

#include "arrays/files/decoded_blocks.h"
#include "viewer/model/device_fields.h"
#include "viewer/text/error_text.h"
#include "viewer/verify/approval.h"
#include "viewer/verify/check_report.h"

namespace texton {
namespace {

namespace fs = std::filesystem;

constexpr const char* kObject = "texton::check_image";
constexpr const char* kUpdate = "TEXTON_UPDATE_REFERENCES";
constexpr std::size_t kWorst = 5;  // texels of a message

[[noreturn]] void refuse(std::string problem, std::string remedy, ErrorCode code = ErrorCode::bad_argument) {
    throw Error({.code = code, .object = kObject, .problem = std::move(problem), .remedy = std::move(remedy)});
}

// --- settings --------------------------------------------------------------------------------------------------------

// Returns the value of an environment variable; empty if it is not set.
std::string variable(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? "" : text;
}

bool wants_update() {
    const std::string text = variable(kUpdate);
    if (text.empty() || text == "0") return false;
    if (text != "1") refuse(fmt::format("{} is '{}'", kUpdate, text), "Set it to 1 to approve images, or to 0.");
    return true;
}

// What the checks of a process share.
struct State {
    std::mutex lock;
    fs::path references;                    // the folder that the program set
    std::map<fs::path, std::string> names;  // of the checks, by the path of their reference
    std::set<fs::path> failed_pages;
    std::mutex one_update_at_a_time;
    std::set<fs::path> settled;  // references that a check was equal to or wrote; guarded by the mutex above
};

State& state() {
    static State all;
    return all;
}

fs::path references_of(const char* file) {
    if (const std::string folder = variable("TEXTON_REFERENCES"); !folder.empty()) return folder;
    const std::lock_guard lock(state().lock);
    if (!state().references.empty()) return state().references;
    return fs::path(file).parent_path() / "references";
}

// --- what is compared ------------------------------------------------------------------------------------------------

struct Given {
    std::vector<verify::HostImage> images;
    Device device = Device::cpu();
};

verify::HostImage host_image(const ConstView& view) {
    const Extent& extent = view.extent();
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
        refuse("the view is empty", "Give a view of an image.");
    if (block_side(view.format()) == 1) {
        verify::HostImage image(view.format(), extent);
        copy(image.view(), view);
        return image;
    }
    const detail::ImageSourcePtr decoded = detail::decoded_blocks(image_of(view).state()->file, BlockDecoding::gpu);
    verify::HostImage image(decoded->format(), extent);
    decoded->read(0, {{}, extent}, image.texels.data());
    return image;
}

Given given(const ConstView& view) { return {{host_image(view)}, view.device().value_or(Device::cpu())}; }

Given given(const std::vector<ConstView>& views) {
    if (views.empty()) refuse("there are no images", "Give one image at least.");
    Given out{{}, views.front().device().value_or(Device::cpu())};
    for (const ConstView& view : views) out.images.push_back(host_image(view));
    return out;
}

Given given(const Array& array) {
    Given out{{}, array.device()};
    const int levels = array.info().levels;
    for (int level = 0; level < levels; ++level) {
        out.images.push_back(host_image(array.view({.level = level})));
        if (levels > 1) out.images.back().name = fmt::format("level {}", level);
    }
    return out;
}

Given given(const PlanarArray& array) {
    Given out{{}, array.device()};
    for (int plane = 0; plane < 2; ++plane) {
        out.images.push_back(host_image(array.plane(plane).view()));
        out.images.back().name = fmt::format("plane {}", plane);
    }
    return out;
}

Given given(const Image& image) {
    if (image.texels.size() != packed_bytes(image.format, image.extent))
        refuse(fmt::format("the image has {} bytes, but {} of {} are {}", image.texels.size(), to_string(image.extent),
                           name(image.format), packed_bytes(image.format, image.extent)),
               "Give all texels.");
    Given out{{host_image(host_view(image.texels.data(), image.format, image.extent))}};
    verify::HostImage& read = out.images.front();
    if (image.file_channels > 0 && image.file_channels < info(read.format).channels)
        read.file_channels = image.file_channels;
    return out;
}

std::uint8_t ignored_channels(const std::string& letters) {
    unsigned ignored = 0;
    for (const char letter : letters) {
        const std::size_t channel = std::string_view("rgba").find(letter);
        if (channel == std::string_view::npos)
            refuse(fmt::format("ImageLimits::ignore is '{}'", letters), "Use the letters r, g, b and a.");
        ignored |= 1U << channel;
    }
    return static_cast<std::uint8_t>(ignored);
}

// Returns the criteria, in which those of `json` replace the others.
verify::Criteria with_json(verify::Criteria criteria, const std::string& json, const fs::path& references) {
    const std::string where = criteria.where + "::json";
    const verify::Json value = verify::Json::parse(json, nullptr, false);
    if (value.is_discarded())
        refuse(fmt::format("{} is not JSON: {}", where, json), "Give an object with keys of a suite.");
    verify::JsonObject object(value, where);
    verify::Criteria all = read_criteria(object, {.base = references}, std::move(criteria));
    object.refuse_others();
    return all;
}

verify::Criteria criteria_of(const ImageLimits& limits, const std::string& where, const fs::path& references) {
    verify::Criteria criteria;
    criteria.where = where;
    verify::Tolerance& tolerance = criteria.tolerance;
    tolerance = {.ulp = limits.ulp,
                 .max = limits.max,
                 .mse = limits.mse,
                 .psnr = limits.psnr,
                 .ssim = limits.ssim,
                 .share = limits.share};
    if (const std::optional<ImageTexelCount>& count = limits.count) {
        if (!count->ulp && !count->max)
            refuse("ImageLimits::count has neither ulp nor max", "Set one of them: texels that exceed it are counted.");
        tolerance.count = {.texels = count->texels, .ulp = count->ulp, .max = count->max};
    }
    if (const std::optional<ImageFlip>& flip = limits.flip) {
        if (!flip->mean && !flip->max) refuse("ImageLimits::flip has neither mean nor max", "Set one of them.");
        tolerance.flip = {.mean = flip->mean, .max = flip->max, .pixels_per_degree = flip->pixels_per_degree};
    }
    const bool has_limit = limits.ulp || limits.max || limits.mse || limits.psnr || limits.ssim || limits.share;
    if (!has_limit && !limits.count && !limits.flip) tolerance.ulp = 0;
    for (const auto& [x, y, width, height] : limits.mask)
        criteria.mask.rectangles.push_back({{x, y, 0}, {width, height, 1}});
    criteria.ignored = ignored_channels(limits.ignore);
    return limits.json.empty() ? criteria : with_json(std::move(criteria), limits.json, references);
}

// --- messages --------------------------------------------------------------------------------------------------------

std::string values_text(const std::array<double, 4>& values, std::size_t channels) {
    return fmt::format("{:.9g}",
                       fmt::join(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(channels), " "));
}

// Describes the worst texels of all images, one in each line.
std::string worst_texels(const verify::Result& result) {
    struct Line {
        const WorstTexel* texel;
        std::size_t image;
    };
    std::vector<Line> lines;
    for (std::size_t i = 0; i < result.comparisons.size(); ++i)
        for (const WorstTexel& texel : result.comparisons[i].worst) lines.push_back({&texel, i});
    std::ranges::stable_sort(lines, [](const Line& a, const Line& b) {
        return std::tie(a.texel->ulp, a.texel->difference) > std::tie(b.texel->ulp, b.texel->difference);
    });
    if (lines.empty()) return {};
    std::string out = "\n  worst texels, expected and actual:";
    for (std::size_t i = 0; i < std::min(kWorst, lines.size()); ++i) {
        const auto& [texel, index] = lines[i];
        const verify::HostImage& image = result.images[index];
        const std::size_t channels = result.comparisons[index].channels.size();
        std::string which = image.name.empty() ? "" : image.name + " ";
        if (image.name.empty() && result.images.size() > 1) which = fmt::format("image {} ", index);
        const std::string slice = image.extent.depth > 1 ? fmt::format(", {}", texel->at.z) : "";
        const std::string ulp = texel->ulp == kFarthest ? "NaN" : fmt::format("{} ulp", texel->ulp);
        out += fmt::format("\n    {}({}, {}{}): {} and {}, {}", which, texel->at.x, texel->at.y, slice,
                           values_text(texel->a, channels), values_text(texel->b, channels), ulp);
    }
    return out;
}

std::string failure_text(const verify::Result& result, const std::string& name, const fs::path& reference) {
    std::string out = fmt::format("image '{}' ", name);
    switch (result.outcome) {
        case verify::Outcome::differs: out += fmt::format("differs from its reference: {}", result.message); break;
        case verify::Outcome::no_reference: out += "has no reference"; break;
        case verify::Outcome::passed:
        case verify::Outcome::skipped:
        case verify::Outcome::failed: return out + fmt::format("cannot be checked: {}", result.message);
    }
    out += worst_texels(result);
    return out + fmt::format("\n  reference: {}\n  if the image is right, approve it: run the test again with {}=1",
                             reference.string(), kUpdate);
}

// --- the check -------------------------------------------------------------------------------------------------------

struct Check {
    verify::Suite suite;
    verify::Case of;
    Given given;
    std::string variant;  ///< name of the variant that an update writes; empty: the reference itself

    fs::path reference() const { return verify::reference_path(suite.references, of.name, variant); }
};

// Throws if the references of another name have the same file name.
void refuse_other_name(const fs::path& reference, const std::string& name) {
    if (name.empty()) refuse("the name is empty", "Give each image a name.");
    const std::lock_guard lock(state().lock);
    const auto [entry, is_new] = state().names.try_emplace(reference, name);
    if (!is_new && entry->second != name)
        refuse(fmt::format("the names '{}' and '{}' have the same reference {}", entry->second, name,
                           reference.filename().string()),
               "Choose names that differ in letters, digits, '-' or '.'.");
}

// Throws if the folder exists, but cannot be read: its references would seem to be missing.
void refuse_unreadable(const fs::path& folder) {
    std::error_code failed;
    const fs::directory_iterator entries(folder, failed);
    if (failed && failed != std::errc::no_such_file_or_directory)
        refuse(fmt::format("the folder of the references, {}, cannot be read: {}", folder.string(), failed.message()),
               "Check the folder, or set TEXTON_REFERENCES to another one.", ErrorCode::io);
}

Check check_of(const std::string& name, const std::string& test, const ImageLimits& limits, const char* file) {
    Check check;
    check.suite.name = test;
    check.suite.references = references_of(file);
    check.suite.own_references = false;
    check.of.name = name;
    check.of.where = "ImageLimits";
    check.of.work = verify::GivenCase{};
    refuse_other_name(check.reference(), name);
    refuse_unreadable(check.suite.references);
    check.of.criteria = criteria_of(limits, check.of.where, check.suite.references);
    check.variant = variable("TEXTON_UPDATE_AS");
    return check;
}

verify::Result compared(Check& check) {
    verify::MadeImages made;
    const verify::Criteria& criteria = criteria_for(check.of.criteria, viewer::fields_of(check.given.device));
    made.criteria.assign(check.given.images.size(), &criteria);
    made.images = std::move(check.given.images);
    verify::Result result = verify::compare_images(check.of, check.suite, check.given.device, std::move(made));
    if (result.outcome == verify::Outcome::no_reference)
        result.message = fmt::format("the image has no reference; approve it with {}=1", kUpdate);
    return result;
}

// Makes the image a reference if it is not equal to one, and if no check of the process was equal to the reference or
// wrote it. Returns true if the reference was written.
bool approve(const Check& check, const std::vector<verify::Result>& results) {
    const std::vector<const verify::Case*> cases{&check.of};
    const verify::Update update = verify::update_of(cases, results);
    const fs::path reference = check.reference();
    const bool is_settled = state().settled.contains(reference);
    if (!update.empty() && is_settled && results.front().outcome != verify::Outcome::passed)
        refuse(fmt::format("it differs from another image with the name '{}' in this process, which is the reference",
                           check.of.name),
               "Give each image a name of its own. If devices give different results, approve those of each device in "
               "a run of its own, with TEXTON_UPDATE_AS.");
    if (!update.empty() && !is_settled)
        verify::write_update(check.suite, check.given.device, check.variant, cases, results, update);
    state().settled.insert(reference);
    return !update.empty() && !is_settled;
}

// Writes or removes the page of the check.
void report(const Check& check, const std::vector<verify::Result>& results, ImageCheck& out) {
    const std::string folder = variable("TEXTON_REPORT");
    if (folder.empty()) {
        if (!out.passed) out.message += "\n  report: none; set TEXTON_REPORT to a folder for one with images";
        return;
    }
    const fs::path page = verify::check_page(folder, check.suite.name, check.of.name);
    try {
        std::unique_lock lock(state().lock);
        const bool failed_before = state().failed_pages.contains(page);
        if (!out.passed) state().failed_pages.insert(page);
        lock.unlock();
        if (out.passed && !failed_before) verify::remove_check_page(page);
        if (out.passed) return;
        verify::write_check_page(page, check.suite, check.given.device, check.of, results);
        out.report = page / "index.html";
        out.message += fmt::format("\n  report: {}", out.report.string());
    } catch (const Error& error) {
        out.message += fmt::format("\n  the report could not be written: {}", viewer::error_text(error));
    }
}

ImageCheck checked_image(Check& check) {
    const bool update = wants_update();
    std::unique_lock updating(state().one_update_at_a_time, std::defer_lock);
    if (update) updating.lock();
    std::vector<verify::Result> results;
    results.push_back(compared(check));
    const verify::Result& result = results.front();
    ImageCheck out;
    out.approved = update && approve(check, results);
    if (update) updating.unlock();
    out.passed = out.approved || result.outcome == verify::Outcome::passed;
    out.reference = result.reference && !out.approved ? result.reference->path : check.reference();
    if (!out.passed) out.message = failure_text(result, check.of.name, out.reference);
    report(check, results, out);
    return out;
}

template <class T>
ImageCheck guarded_check(const T& image, std::string_view name, const ImageLimits& limits, std::string_view test,
                         const char* file) {
    ImageCheck failure;
    try {
        const std::string label(test.empty() ? std::string_view(program_invocation_short_name) : test);
        Check check = check_of(std::string(name), label, limits, file);
        check.given = given(image);
        return checked_image(check);
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const Error& error) {
        failure.message = viewer::error_text(error);
    } catch (const std::exception& error) {
        failure.message = error.what();
    }
    failure.message = fmt::format("image '{}' cannot be checked: {}", name, failure.message);
    return failure;
}

}  // namespace

ImageCheck check_image(const ConstView& image, std::string_view name, const ImageLimits& limits, std::string_view test,
                       const char* file) {
    return guarded_check(image, name, limits, test, file);
}

ImageCheck check_image(const Array& image, std::string_view name, const ImageLimits& limits, std::string_view test,
                       const char* file) {
    return guarded_check(image, name, limits, test, file);
}

ImageCheck check_image(const PlanarArray& image, std::string_view name, const ImageLimits& limits,
                       std::string_view test, const char* file) {
    return guarded_check(image, name, limits, test, file);
}

ImageCheck check_image(const Image& image, std::string_view name, const ImageLimits& limits, std::string_view test,
                       const char* file) {
    return guarded_check(image, name, limits, test, file);
}

ImageCheck check_image(const std::vector<ConstView>& images, std::string_view name, const ImageLimits& limits,
                       std::string_view test, const char* file) {
    return guarded_check(images, name, limits, test, file);
}

void set_image_references(const fs::path& folder) {
    const std::lock_guard lock(state().lock);
    state().references = folder;
}

}  // namespace texton
