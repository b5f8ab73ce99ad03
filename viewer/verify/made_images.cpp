#include "viewer/verify/made_images.h"

#include <algorithm>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/model/file_reading.h"
#include "viewer/model/named_paths.h"
#include "viewer/model/planar_files.h"
#include "viewer/text/error_text.h"
#include "viewer/verify/table_file.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOutputLines = 20;  // of a command, in messages and reports

MadeImages missing(std::string problem) {
    MadeImages made;
    made.problem = std::move(problem);
    made.is_missing = true;
    return made;
}

// Returns the path of an input that is a .cube file, else nullptr.
const fs::path* table_of(const Input& input) {
    const auto* files = std::get_if<Input::Files>(&input.source);
    return files != nullptr && files->paths.size() == 1 && is_table_file(files->paths.front()) ? &files->paths.front()
                                                                                               : nullptr;
}

// Returns the first file of an input that does not exist, else nullptr.
const fs::path* missing_file(const Input& input) {
    const auto* files = std::get_if<Input::Files>(&input.source);
    if (files == nullptr) return nullptr;
    const auto found = std::ranges::find_if(files->paths, [](const fs::path& path) {
        std::error_code failed;
        return fs::status(path, failed).type() == fs::file_type::not_found;
    });
    return found == files->paths.end() ? nullptr : &*found;
}

MadeImages computed(const KernelCase& kernel, const Case& of, const Device& device) {
    KernelRun asked = kernel.run;
    MadeImages made;
    std::vector<Texture> textures;
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
        const Input& input = kernel.inputs[i];
        if (const fs::path* path = missing_file(input); path != nullptr && of.optional)
            return missing(fmt::format("{}: 'file' does not exist: {}", input.where, path->string()));
        const fs::path* table = table_of(input);
        const std::vector<HostArray> arrays = table != nullptr
                                                  ? std::vector{read_array(read_table(Device::cpu(), *table, asked, i))}
                                                  : read_input(input, asked);
        for (const HostArray& array : arrays) {
            made.inputs.push_back(array.sha256());
            textures.push_back(texture_of(input, array, device));
        }
    }
    made.images = run(device, asked, textures);
    made.criteria.assign(made.images.size(), &of.criteria);
    return made;
}

// Reads the files that the patterns name.
MadeImages read_files(const fs::path& folder, const std::optional<fs::path>& within,
                      const std::vector<ImagePattern>& patterns, const std::string& no_match) {
    const ImagePattern* unmatched = nullptr;
    const std::vector<FoundFile> files = find_files(folder, within, patterns, unmatched);
    if (unmatched != nullptr)
        return missing(
            fmt::format("{}: 'file' is '{}', but {}", unmatched->criteria.where, unmatched->files, no_match));
    MadeImages made;
    for (const FoundFile& file : files) {
        std::vector<HostImage> images = read_images(file.path, file.name);
        made.criteria.insert(made.criteria.end(), images.size(), file.criteria);
        std::ranges::move(images, std::back_inserter(made.images));
    }
    return made;
}

MadeImages run_and_read(const CommandCase& asked, const Case& of, const Suite& suite, const std::stop_token& stop) {
    const fs::path suite_folder = fs::absolute(suite.folder.empty() ? "." : suite.folder).lexically_normal();
    if (!has_program(asked.command, suite_folder))
        return missing(fmt::format("{}: 'command' names the program {}, which does not exist or is not executable",
                                   of.where, program_of(asked.command, suite_folder).string()));
    const WorkingFolder folder;
    const CommandEnd end = run_command(asked.command, folder.path(), suite_folder, stop);
    const std::string output = last_lines(end.output, kOutputLines);
    MadeImages made;
    const bool as_expected = end.reason == CommandEnd::Reason::exited && end.number == asked.command.exit_status;
    if (as_expected) {
        const std::optional<fs::path> within = suite.within ? std::optional(folder.path()) : std::nullopt;
        try {
            made = read_files(folder.path(), within, asked.images, "the command wrote no such file");
        } catch (const std::exception& error) {  // the output of the command is part of the result
            made.problem = fmt::format("{}: {}", of.where, viewer::error_text(error));
        }
        made.is_missing = false;
    } else {
        made.problem = fmt::format("{}: the command {}", of.where, text_of(end, asked.command));
        made.is_missing = end.reason == CommandEnd::Reason::exited && end.number == kSkipStatus;
    }
    made.output = output;
    return made;
}

}  // namespace

std::vector<HostArray> read_input(const Input& input, KernelRun& run) {
    if (const auto* made = std::get_if<Input::Made>(&input.source)) return {draw(made->pattern, made->info)};
    const auto& files = std::get<Input::Files>(input.source);
    for (const fs::path& path : files.paths) viewer::refuse_special_file(path);
    const ReadOptions& reading = viewer::file_reading();
    const ImageFile image = files.paths.size() == 1 ? open_image(files.paths.front(), files.options, reading)
                                                    : open_image(files.paths, files.options, reading);
    propose_planar(run, image);
    std::vector<HostArray> arrays;
    for (const ImageFile& plane : inputs_of(image)) arrays.push_back(read_array(plane));
    return arrays;
}

Texture texture_of(const Input& input, const HostArray& texels, const Device& device) {
    const Sampler sampler = sampler_of(input.sampler, input.where + ", 'sampler'", texels.info, input.range.format);
    return upload(device, texels, input.memory, sampler, input.range);
}

MadeImages made_images(const Case& of, const Suite& suite, const Device& device, std::stop_token stop) {
    if (const auto* kernel = std::get_if<KernelCase>(&of.work)) return computed(*kernel, of, device);
    if (const auto* command = std::get_if<CommandCase>(&of.work)) return run_and_read(*command, of, suite, stop);
    return read_files(suite.folder, suite.within, std::get<FilesCase>(of.work).images, "no file matches");
}

}  // namespace texton::verify
