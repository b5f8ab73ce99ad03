#include "viewer/verify/run_suite.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/text/error_text.h"
#include "viewer/verify/compare_folders.h"
#include "viewer/verify/image_difference.h"

namespace texton::verify {
namespace {

bool have_names(const std::vector<HostImage>& images) { return !images.empty() && !images.front().name.empty(); }

// Puts the images of a reference into the order of the images of a case. If one of both has no names, the order is that
// of the reference. Returns how their number or names differ; empty if they are equal.
std::string matched(const std::vector<HostImage>& images, std::vector<HostImage>& expected) {
    if (!have_names(images) || !have_names(expected)) {
        if (images.size() != expected.size())
            return fmt::format("there are {} images, but the reference has {}", images.size(), expected.size());
        for (std::size_t i = 0; i < images.size(); ++i) expected[i].name = images[i].name;
        return {};
    }
    std::vector<std::size_t> order;
    for (const HostImage& image : images) {
        const auto found = std::ranges::find(expected, image.name, &HostImage::name);
        if (found == expected.end()) return fmt::format("the reference has no image {}", image.name);
        order.push_back(static_cast<std::size_t>(found - expected.begin()));
    }
    for (const HostImage& image : expected)
        if (std::ranges::find(images, image.name, &HostImage::name) == images.end())
            return fmt::format("the reference has an image {}, which was not made", image.name);
    std::vector<HostImage> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(expected[i]));
    expected = std::move(sorted);
    return {};
}

// Returns how the format or the size of an image differs from the reference; empty if all are equal.
std::string other_shapes(const std::vector<HostImage>& images, const std::vector<HostImage>& expected) {
    for (std::size_t i = 0; i < images.size(); ++i) {
        const std::string shape = other_shape(expected[i], images[i]);
        if (!shape.empty()) return images[i].name.empty() ? shape : images[i].name + ": " + shape;
    }
    return {};
}

// Compares images of the same shapes with those of the reference. Returns the first limit that is exceeded.
std::string compare_all(Result& result, const MadeImages& made) {
    std::string message;
    std::size_t more = 0;
    for (std::size_t i = 0; i < made.images.size(); ++i) {
        ImageDifference difference = difference_of(result.reference->images[i], made.images[i], *made.criteria[i]);
        if (!difference.exceeded.empty() && message.empty()) {
            const std::string& name = made.images[i].name;
            std::string which = name.empty() ? "" : name + ": ";
            if (name.empty() && made.images.size() > 1) which = fmt::format("image {}: ", i);
            message = fmt::format("{}{} of {} texels differ: {}", which, difference.comparison.all.differing,
                                  difference.texels, difference.exceeded);
        } else if (!difference.exceeded.empty()) {
            ++more;
        }
        result.comparisons.push_back(std::move(difference.comparison));
    }
    return more == 0 ? message
                     : message + fmt::format("; it is the first of {} images that exceed a limit, of {} images",
                                             more + 1, made.images.size());
}

// Returns why images that are equal to their reference do not pass; empty if they do.
std::string problem_of_equal(const MadeImages& made) {
    for (std::size_t i = 0; i < made.images.size(); ++i) {
        const std::string problem = exceeded_by_equal(made.images[i], *made.criteria[i]);
        const std::string& name = made.images[i].name;
        if (!problem.empty()) return name.empty() ? problem : name + ": " + problem;
    }
    return {};
}

// Compares images with one reference.
Result judged(const MadeImages& made, Reference reference) {
    Result result;
    result.outcome = Outcome::passed;
    result.message = matched(made.images, reference.images);
    result.reference = std::move(reference);
    if (result.message.empty() && made.images == result.reference->images) {
        result.equal = true;
        result.message = problem_of_equal(made);
        result.outcome = result.message.empty() ? Outcome::passed : Outcome::differs;
        return result;
    }
    if (result.message.empty()) result.message = other_shapes(made.images, result.reference->images);
    if (result.message.empty()) result.message = compare_all(result, made);
    if (!result.message.empty()) result.outcome = Outcome::differs;
    return result;
}

// What all cases of a run share.
struct Shared {
    const Suite& suite;
    const Device& device;
    viewer::DeviceFields fields;  // of the device
    ReferenceFolder references;

    Shared(const Suite& suite, const Device& device)
        : suite(suite), device(device), fields(viewer::fields_of(device)), references(suite.references) {}
};

bool has_device(const std::vector<std::string>& fields) { return std::ranges::find(fields, "device") != fields.end(); }

// Orders references by the number of fields that equal those of the device; among equal numbers, those of the same
// device are first.
bool fits_better(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    if (a.size() != b.size()) return a.size() > b.size();
    return has_device(a) && !has_device(b);
}

bool is_nearer(const Result& a, const Result& b) {
    if (a.outcome != b.outcome) return a.outcome == Outcome::passed;
    if (a.equal != b.equal) return a.equal;
    if (fits_better(a.equal_fields, b.equal_fields)) return true;
    if (fits_better(b.equal_fields, a.equal_fields)) return false;
    if (a.comparisons.empty() != b.comparisons.empty()) return b.comparisons.empty();
    return a.differing() < b.differing();
}

// Compares the images with the references of the case, those with the most equal fields first, and keeps the nearest
// one.
Result judged_by_all(const Case& of, const Shared& shared, const MadeImages& made) {
    Result nearest;
    nearest.outcome = Outcome::no_reference;
    nearest.message = "the case has no reference; approve the result with --update";
    std::vector<std::pair<std::vector<std::string>, Reference>> references;
    for (Reference& reference : shared.references.read(of.name, places_of(shared.suite))) {
        std::vector<std::string> fields = equal_fields(reference, shared.fields);
        references.emplace_back(std::move(fields), std::move(reference));
    }
    std::ranges::stable_sort(
        references, fits_better, [](const auto& each) -> const auto& { return each.first; });
    for (auto& [fields, reference] : references) {
        Result result = judged(made, std::move(reference));
        result.equal_fields = fields;
        if (!nearest.reference || is_nearer(result, nearest)) nearest = std::move(result);
        const bool is_best = nearest.equal && nearest.outcome == Outcome::passed;
        if (is_best || shared.suite.variants == Variants::matching) break;
    }
    return nearest;
}

// Moves the images to the result of their comparison, unless they are equal to the reference.
Result with_images(Result nearest, const Case& of, MadeImages made) {
    nearest.inputs = std::move(made.inputs);
    nearest.output = std::move(made.output);
    const bool knows_inputs = !std::holds_alternative<GivenCase>(of.work);
    if (nearest.reference && knows_inputs && nearest.reference->inputs != nearest.inputs) {
        nearest.equal = false;
        if (nearest.outcome == Outcome::differs)
            nearest.message += "; its inputs differ from the inputs of the reference";
    }
    if (nearest.equal) {
        nearest.reference->images.clear();
    } else {
        nearest.images = std::move(made.images);
        nearest.criteria = std::move(made.criteria);
    }
    return nearest;
}

// Runs the case once. Adds its images to the results of its other runs, if there are any.
Result run_once(const Case& of, const Shared& shared, const std::stop_token& stop, RepeatedResults* repeated) {
    if (std::holds_alternative<FoldersCase>(of.work)) return compare_folders(of, shared.suite, shared.fields);
    MadeImages made = made_images(of, shared.suite, shared.device, stop);
    if (!made.problem.empty()) {
        Result result;
        result.outcome = made.is_missing && of.optional ? Outcome::skipped : Outcome::failed;
        result.message = made.problem;
        result.output = made.output;
        return result;
    }
    for (const Criteria*& each : made.criteria) each = &criteria_for(*each, shared.fields);
    Result nearest = judged_by_all(of, shared, made);
    if (repeated != nullptr) repeated->add(made.images, nearest.equal);
    return with_images(std::move(nearest), of, std::move(made));
}

// Turns exceptions into a result.
Result guarded_run(const Case& of, const Shared& shared, const std::stop_token& stop, RepeatedResults* repeated) {
    Result result;
    try {
        result = run_once(of, shared, stop, repeated);
    } catch (const std::bad_alloc& error) {
        result.message = viewer::error_text(error);
    } catch (const std::exception& error) {
        result.message = error.what();
    }
    const bool has_images = result.outcome != Outcome::failed && result.outcome != Outcome::skipped;
    if (repeated != nullptr && !has_images) repeated->add({}, false);
    return result;
}

// Runs the case as often as the options request.
Result run_repeatedly(const Case& of, const Shared& shared, const RunOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    const bool is_computed =
        std::holds_alternative<KernelCase>(of.work) || std::holds_alternative<CommandCase>(of.work);
    const std::size_t runs = is_computed ? options.repeat : 1;
    RepeatedResults repeated;
    RepeatedResults* const kept = runs > 1 ? &repeated : nullptr;  // keeping and hashing the images takes time
    Result worst = guarded_run(of, shared, options.stop, kept);
    for (std::size_t i = 1; i < runs && !options.stop.stop_requested(); ++i) {
        Result result = guarded_run(of, shared, options.stop, kept);
        if (result.outcome > worst.outcome) worst = std::move(result);
    }
    if (runs > 1) worst.repetition = repeated.repetition();
    worst.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return worst;
}

}  // namespace

const char* name(Outcome outcome) noexcept {
    switch (outcome) {
        case Outcome::passed: return "passed";
        case Outcome::skipped: return "skipped";
        case Outcome::differs: return "differs";
        case Outcome::no_reference: return "no reference";
        case Outcome::failed: return "failed";
    }
    return "";
}

std::size_t Result::differing() const {
    std::size_t texels = 0;
    for (const Comparison& comparison : comparisons) texels += comparison.all.differing;
    return texels;
}

std::uint32_t Result::max_ulp() const {
    std::uint32_t ulp = 0;
    for (const Comparison& comparison : comparisons) ulp = std::max(ulp, comparison.all.max_ulp);
    return ulp;
}

bool has_references(const Case& of) noexcept { return !std::holds_alternative<FoldersCase>(of.work); }

Result compare_images(const Case& of, const Suite& suite, const Device& device, MadeImages made) {
    Result nearest = judged_by_all(of, Shared(suite, device), made);
    return with_images(std::move(nearest), of, std::move(made));
}

Result run_case(const Case& of, const Suite& suite, const Device& device, const RunOptions& options) {
    return run_repeatedly(of, Shared(suite, device), options);
}

std::vector<Result> run_cases(const std::vector<const Case*>& cases, const Suite& suite, const Device& device,
                              const RunOptions& options) {
    const unsigned jobs = options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
    const Shared shared(suite, device);
    std::vector<Result> results(cases.size());
    std::atomic<std::size_t> next = 0;
    std::mutex one_at_a_time;
    const auto work = [&] {
        for (std::size_t i = next++; i < cases.size(); i = next++) {
            if (options.stop.stop_requested()) {
                results[i].message = "the case was not run";
                continue;
            }
            results[i] = run_repeatedly(*cases[i], shared, options);
            const std::lock_guard lock(one_at_a_time);
            if (options.done) options.done(i);
        }
    };
    std::vector<std::jthread> threads;
    try {
        for (std::size_t i = 1; i < std::min<std::size_t>(jobs, cases.size()); ++i) threads.emplace_back(work);
    } catch (const std::system_error&) {
        // The system has no more threads. The threads that were started, and this one, run all cases.
    }
    work();
    threads.clear();  // joins them
    return results;
}

}  // namespace texton::verify
