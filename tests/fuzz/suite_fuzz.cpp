// Suites of regression tests. The input is the text of a suite. The parts of accepted suites that are parsed later
// (samplers, patterns) are parsed, too, and masks are inserted into the text. Nothing is run or written.
#include <algorithm>
#include <set>

#include "tests/fuzz/fuzz.h"
#include "viewer/verify/suite.h"
#include "viewer/verify/suite_text.h"

using namespace texton;

namespace {

constexpr std::size_t kLargest = 1 << 12;  // bytes of a pattern
constexpr std::size_t kCheckedCases = 8;   // whose inputs are checked; a matrix makes many that are alike

void check(const verify::Input& input) {
    ArrayInfo info;
    if (const auto* made = std::get_if<verify::Input::Made>(&input.source)) {
        info = made->info;
        const auto bytes = fuzz::accepted([&] { return packed_bytes(info); });
        if (bytes && *bytes <= kLargest) (void)fuzz::accepted([&] { return verify::draw(made->pattern, info); });
    }
    (void)fuzz::accepted([&] { return verify::sampler_of(input.sampler, input.where, info, input.range.format); });
}

void check(const verify::Case& of) {
    if (const auto* kernel = std::get_if<verify::KernelCase>(&of.work))
        fuzz::require(kernel->run.kernel != nullptr, "each case of a kernel has a kernel");
    if (const auto* command = std::get_if<verify::CommandCase>(&of.work)) {
        fuzz::require(!command->command.arguments.empty(), "each command has a program");
        fuzz::require(!command->images.empty(), "each command names its images");
    }
    if (const auto* files = std::get_if<verify::FilesCase>(&of.work))
        fuzz::require(!files->images.empty(), "each case of files names them");
    fuzz::require(of.criteria.ignored < 15, "a channel is compared");
    const verify::Criteria& here =
        verify::criteria_for(of.criteria, {.name = "a", .driver_release = "1.2", .cpu = "b"});
    fuzz::require(here.ignored < 15 && here.devices.size() <= of.criteria.devices.size(), "a device has criteria");
    for (const verify::RegionLimits& region : here.regions)
        fuzz::require(region.rectangle.extent.width > 0 && region.rectangle.extent.height > 0, "a region has texels");
}

// with_mask() compares its result with the values that it must have.
void check_masks(const std::string& text, const verify::Case& of) {
    const std::vector<Region> box{{{1, 2, 0}, {3, 4, 1}}};
    for (const std::optional<std::size_t> pattern : {std::optional<std::size_t>(), std::optional<std::size_t>(0)}) {
        const auto masked = fuzz::accepted([&] { return verify::with_mask(text, of.entry, pattern, box); });
        if (!masked) continue;
        const auto again = fuzz::accepted([&] { return verify::with_mask(*masked, of.entry, pattern, box); });
        fuzz::require(again == masked, "a mask that is there already changes nothing");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".json");
    auto suite = fuzz::accepted([&] {
        return verify::read_suite(file.with({data, size}), verify::Outside::refused, verify::Commands::allowed);
    });
    if (!suite) return 0;
    std::set<std::string> names;
    for (const verify::Case& each : suite->cases) {
        check(each);
        fuzz::require(names.insert(verify::file_name(each.name)).second, "each case has a file name of its own");
    }
    suite->cases.resize(std::min(suite->cases.size(), kCheckedCases));
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const verify::Case& each : suite->cases) check_masks(text, each);
    for (const verify::Case& each : suite->cases)
        if (const auto* kernel = std::get_if<verify::KernelCase>(&each.work))
            for (const verify::Input& input : kernel->inputs) check(input);
    return 0;
}
