// Pipelines of kernels. The input is the text of a JSON file. No image file is read or written.
#include <fstream>
#include <iterator>

#include "tests/fuzz/fuzz.h"
#include "viewer/model/pipeline.h"

using namespace texton;

namespace {

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".json"), written(".written.json"), again(".again.json");
    const auto pipeline = fuzz::accepted([&] { return verify::read_pipeline(file.with({data, size}), true); });
    if (!pipeline) return 0;
    fuzz::require(!pipeline->empty(), "a pipeline has steps");
    for (const verify::PipelineStep& step : *pipeline) {
        fuzz::require(step.run.kernel != nullptr, "each step has a kernel");
        fuzz::require(step.files.size() < step.run.kernel->info.inputs.size(), "the first input is not a file");
    }
    verify::write_pipeline(written.path(), *pipeline);
    verify::write_pipeline(again.path(), verify::read_pipeline(written.path(), true));
    fuzz::require(text_of(again.path()) == text_of(written.path()), "a written pipeline is the same");
    return 0;
}
