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

#include "viewer/model/file_reading.h"
#include "viewer/model/named_paths.h"
#include "viewer/model/planar_files.h"
#include "viewer/text/error_text.h"
#include "viewer/verify/table_file.h"

namespace texton::verify {
namespace {

std::vector<Comparison> compare_all(const std::vector<HostImage>& images, const Reference& reference) {
    std::vector<Comparison> comparisons;
    for (std::size_t i = 0; i < images.size(); ++i)
        comparisons.push_back(compare(reference.images[i].view(), images[i].view(), {.ssim = false, .worst = 16}));
    return comparisons;
}

// Returns how the number, formats or sizes of images differ from the reference; empty if they are equal.
std::string unlike(const std::vector<HostImage>& images, const Reference& reference) {
    const std::vector<HostImage>& expected = reference.images;
    if (images.size() != expected.size())
        return fmt::format("the kernel wrote {} images, but the reference has {}", images.size(), expected.size());
    for (std::size_t i = 0; i < images.size(); ++i) {
        if (images[i].format != expected[i].format || images[i].extent != expected[i].extent)
            return fmt::format("the image is {}, but the reference is {}", images[i].text(), expected[i].text());
    }
    return {};
}

// Describes the limits of a tolerance that are exceeded; empty if all are met.
std::string broken_limits(const Tolerance& tolerance, const Comparison& found, const Extent& extent) {
    std::string out;
    const auto check = [&out](const char* name, bool holds, double value, double allowed) {
        if (!holds) out += fmt::format("{}{} {:.9g} (allowed: {:.9g})", out.empty() ? "" : ", ", name, value, allowed);
    };
    const double texels = static_cast<double>(extent.width * extent.height * extent.depth);
    const double share = static_cast<double>(found.all.differing) / texels;
    if (tolerance.ulp) check("max ulp", found.all.max_ulp <= *tolerance.ulp, found.all.max_ulp, *tolerance.ulp);
    if (tolerance.max) check("max", found.all.max <= *tolerance.max, found.all.max, *tolerance.max);
    if (tolerance.mse) check("MSE", found.all.mse <= *tolerance.mse, found.all.mse, *tolerance.mse);
    if (tolerance.psnr) check("PSNR", found.all.psnr >= *tolerance.psnr, found.all.psnr, *tolerance.psnr);
    if (tolerance.share) check("share", share <= *tolerance.share, share, *tolerance.share);
    return out;
}

// Compares images with one reference.
Result judged(const Tolerance& tolerance, const std::vector<HostImage>& images, const Reference& reference) {
    Result result;
    result.reference = reference;
    result.outcome = Outcome::passed;
    if (images == reference.images) {
        result.equal = true;
        return result;
    }
    result.message = unlike(images, reference);
    if (result.message.empty()) {
        result.comparisons = compare_all(images, reference);
        for (std::size_t i = 0; i < images.size(); ++i) {
            const std::string broken = broken_limits(tolerance, result.comparisons[i], images[i].extent);
            if (broken.empty() || !result.message.empty()) continue;
            const std::string which = images.size() > 1 ? fmt::format("image {}: ", i) : "";
            result.message =
                fmt::format("{}{} of {} texels differ: {}", which, result.comparisons[i].all.differing,
                            images[i].extent.width * images[i].extent.height * images[i].extent.depth, broken);
        }
    }
    if (!result.message.empty()) result.outcome = Outcome::differs;
    return result;
}

bool is_nearer(const Result& a, const Result& b) {
    if (a.outcome != b.outcome) return a.outcome == Outcome::passed;
    if (a.equal != b.equal) return a.equal;
    if (a.comparisons.empty() != b.comparisons.empty()) return b.comparisons.empty();
    return a.differing() < b.differing();
}

// Returns the path of an input that is a .cube file, else nullptr.
const std::filesystem::path* table_of(const Input& input) {
    const auto* files = std::get_if<Input::Files>(&input.source);
    return files != nullptr && files->paths.size() == 1 && is_table_file(files->paths.front()) ? &files->paths.front()
                                                                                               : nullptr;
}

Result made_and_judged(const Case& of, const Suite& suite, const Device& device) {
    KernelRun asked = of.run;
    std::vector<std::string> hashes;
    std::vector<Texture> textures;
    for (std::size_t i = 0; i < of.inputs.size(); ++i) {
        const Input& input = of.inputs[i];
        const std::filesystem::path* table = table_of(input);
        const std::vector<HostArray> arrays = table != nullptr
                                                  ? std::vector{read_array(read_table(Device::cpu(), *table, asked, i))}
                                                  : read_input(input, asked);
        for (const HostArray& array : arrays) {
            hashes.push_back(array.sha256());
            textures.push_back(texture_of(input, upload(device, array)));
        }
    }
    const std::vector<HostImage> images = run(device, asked, textures);
    Result nearest;
    nearest.outcome = Outcome::no_reference;
    nearest.message = "the case has no reference; approve the result with --update";
    for (const Reference& reference : read_references(suite.references, of.name, suite.within)) {
        Result result = judged(of.tolerance, images, reference);
        if (!nearest.reference || is_nearer(result, nearest)) nearest = std::move(result);
    }
    nearest.inputs = hashes;
    if (nearest.reference && nearest.reference->inputs != hashes) {
        nearest.equal = false;
        if (nearest.outcome == Outcome::differs)
            nearest.message += "; its inputs differ from the inputs of the reference";
    }
    if (nearest.equal) {
        nearest.reference->images.clear();
    } else {
        nearest.images = images;
    }
    return nearest;
}

}  // namespace

const char* name(Outcome outcome) noexcept {
    switch (outcome) {
        case Outcome::passed: return "passed";
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

std::vector<HostArray> read_input(const Input& input, KernelRun& run) {
    if (const auto* made = std::get_if<Input::Made>(&input.source)) return {draw(made->pattern, made->info)};
    const auto& files = std::get<Input::Files>(input.source);
    for (const std::filesystem::path& path : files.paths) viewer::refuse_special_file(path);
    const ReadOptions& reading = viewer::file_reading();
    const ImageFile image = files.paths.size() == 1 ? open_image(files.paths.front(), files.options, reading)
                                                    : open_image(files.paths, files.options, reading);
    propose_planar(run, image);
    std::vector<HostArray> arrays;
    for (const ImageFile& plane : inputs_of(image)) arrays.push_back(read_array(plane));
    return arrays;
}

Texture texture_of(const Input& input, const Array& array) {
    return Texture(array, sampler_of(input.sampler, input.where + ", 'sampler'", array.info(), input.range.format),
                   input.range);
}

Result run_case(const Case& of, const Suite& suite, const Device& device) {
    const auto begin = std::chrono::steady_clock::now();
    Result result;
    try {
        result = made_and_judged(of, suite, device);
    } catch (const std::bad_alloc& error) {
        result.outcome = Outcome::failed;
        result.message = viewer::error_text(error);
    } catch (const std::exception& error) {
        result.outcome = Outcome::failed;
        result.message = error.what();
    }
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

std::vector<Result> run_cases(const std::vector<const Case*>& cases, const Suite& suite, const Device& device,
                              unsigned jobs, const std::function<void(std::size_t)>& done) {
    if (jobs == 0) jobs = std::max(1U, std::thread::hardware_concurrency());
    std::vector<Result> results(cases.size());
    std::atomic<std::size_t> next = 0;
    std::mutex one_at_a_time;
    const auto work = [&] {
        for (std::size_t i = next++; i < cases.size(); i = next++) {
            results[i] = run_case(*cases[i], suite, device);
            const std::lock_guard lock(one_at_a_time);
            if (done) done(i);
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
