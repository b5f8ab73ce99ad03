#include "viewer/verify/table_file.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include <fmt/format.h>

#include <texton/cube_file.h>
#include <texton/error.h>

#include "viewer/model/named_paths.h"

namespace texton::verify {
namespace {

void check_input(const Kernel& kernel, std::size_t input, const std::filesystem::path& path, ArrayKind kind) {
    if (input >= kernel.info.inputs.size()) return;  // shapes() refuses a wrong number of inputs
    const InputInfo& expected = kernel.info.inputs[input];
    if (std::ranges::find(expected.kinds, kind) != expected.kinds.end()) return;
    throw Error(
        {.code = ErrorCode::bad_argument,
         .object = "texton::" + kernel.info.name,
         .problem = fmt::format("{} contains a table that is read as {}, but the input '{}' does not accept this kind",
                                path.string(), name(kind), expected.name),
         .remedy = "Use tables of 1 dimension with lut_1d, and tables of 3 dimensions with lut_3d."});
}

void propose(KernelRun& run, const char* parameter, const float (&values)[3]) {
    const auto& known = run.kernel->info.parameters;
    if (std::ranges::find(known, parameter, &ParameterInfo::name) == known.end()) return;
    run.parameters.try_emplace(parameter, std::vector<double>(std::begin(values), std::end(values)));
}

}  // namespace

bool is_table_file(const std::filesystem::path& path) {
    std::string ending = path.extension().string();
    for (char& letter : ending) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return ending == ".cube";
}

Array read_table(const Device& device, const std::filesystem::path& path, KernelRun& run, std::size_t input) {
    viewer::refuse_special_file(path);
    const CubeLut lut = read_cube_file(path);
    check_input(*run.kernel, input, path, lut.dimensions == 1 ? ArrayKind::array_1d : ArrayKind::array_3d);
    propose(run, "domain_min", lut.domain.low);
    propose(run, "domain_max", lut.domain.high);
    return cube_array(device, lut);
}

}  // namespace texton::verify
