// References of suites (.texref, .texref.json) and results of a report (results.json). The input is a file of any of
// them.
#include <filesystem>

#include "tests/fuzz/fuzz.h"
#include "viewer/verify/reference.h"
#include "viewer/verify/reported_results.h"
#include "viewer/verify/stored_reference.h"

using namespace texton;

namespace {

// Reads the input as JSON that names other files, which do not exist.
void read_json_files(fuzz::Bytes bytes) {
    static const fuzz::ScratchFile header(".texref.json"), results(".results");
    const std::filesystem::path store = header.path().string() + "-store";
    (void)fuzz::accepted([&] { return verify::read_reference(header.with(bytes), {.store = store, .within = {}}); });
    (void)verify::files_of_reference(header.path());
    (void)fuzz::accepted([&] { return verify::read_results_file(results.with(bytes)); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    read_json_files({data, size});
    static const fuzz::ScratchFile file(".texref"), again("-again.texref");
    auto reference = fuzz::accepted([&] { return verify::read_reference(file.with({data, size})); });
    if (!reference) return 0;
    std::size_t bytes = 0;
    for (const verify::HostImage& image : reference->images) bytes += image.texels.size();
    fuzz::require(bytes <= size, "the file contains all texels");
    reference->path = again.path();
    verify::write_reference(*reference);
    const verify::Reference read = verify::read_reference(again.path());
    fuzz::require(read.images == reference->images && read.inputs == reference->inputs &&
                      read.device == reference->device && read.driver == reference->driver &&
                      read.toolkit == reference->toolkit && read.cpu == reference->cpu &&
                      read.compute_capability == reference->compute_capability &&
                      read.driver_release == reference->driver_release,
                  "a written reference is read again");
    return 0;
}
