// References of suites (.texref). The input is a file.
#include "tests/fuzz/fuzz.h"
#include "viewer/verify/reference.h"

using namespace texton;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
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
                      read.toolkit == reference->toolkit,
                  "a written reference is read again");
    return 0;
}
