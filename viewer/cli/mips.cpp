#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <texton/error.h>
#include <texton/image_save.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/frame_sequence.h"
#include "viewer/cli/image_options.h"
#include "viewer/cli/kernel_options.h"
#include "viewer/cli/progress.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/document.h"
#include "viewer/model/kernel_run.h"
#include "viewer/model/planar_files.h"
#include "viewer/model/saved_images.h"
#include "viewer/text/memory_size.h"
#include "viewer/tiles/image_levels.h"
#include "viewer/verify/pattern_image.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;

using verify::HostArray;
using verify::HostImage;

struct Options {
    std::string in;
    std::string out;
    std::string pattern;  // instead of `in`
    ImageOptionText image;
    std::vector<std::string> values;  // of parameters, NAME=VALUE
    std::vector<std::string> set;     // likewise, of --set
    std::string device;
    std::string memory;
    bool drop_alpha = false;
    bool json = false;
};

// Returns an error without the proposal of save() to read fewer levels.
Error refusal_of_levels(const Error& error) {
    return Error(
        {.code = error.code(),
         .object = std::string(error.object()),
         .problem = std::string(error.problem()),
         .remedy = "Use .dds, .ktx2, .tif or .exr. `texton run mips` writes each level to a file of its own."});
}

// Writes an image or an array.
template <class Image>
void save_levels(const fs::path& out, const Image& chain, const SaveOptions& how) try {
    save(out, chain, how);
} catch (const Error& error) {
    if (!error.problem().ends_with("cannot hold levels")) throw;
    throw refusal_of_levels(error);
}

// Throws the error of save_levels() before levels are computed for a long time.
void check_holds_levels(const fs::path& out) {
    if (verify::holds_levels(out)) return;
    throw refusal_of_levels(Error({.code = ErrorCode::unsupported,
                                   .object = "texton mips",
                                   .problem = fmt::format("{} cannot hold levels", out.string())}));
}

// Writes the levels of the images of one command line, and remembers what was written.
class Chains {
public:
    explicit Chains(const Options& options) : options_(options), device_(viewer::device_named(options.device)) {
        std::vector<std::string> values = options.set;
        values.insert(values.end(), options.values.begin(), options.values.end());
        const Kernel& kernel = kernel_named("mips");
        kernel_ = {.kernel = &kernel, .parameters = verify::parameters_of(kernel.info, values)};
        if (options.memory.empty()) return;
        memory_ = viewer::memory_size(options.memory, "--memory");
        if (options.device.empty()) device_ = Device::cpu();
        if (device_.kind() != DeviceKind::cpu)
            throw Error({.code = ErrorCode::bad_argument,
                         .object = "texton mips --memory",
                         .problem = fmt::format("levels are computed in parts on the CPU device only, not on {}",
                                                device_.name()),
                         .remedy = "Omit --device, or use --device cpu."});
    }

    void run() {
        if (!options_.pattern.empty()) {
            const Format format = options_.image.options().format.value_or(Format::rgba8_unorm);
            return write(verify::pattern_image(options_.pattern, format), options_.out);
        }
        ImageOptions how = options_.image.options();
        how.levels = 1;
        FrameInput input(options_.in, options_.image, how);
        std::error_code unreadable;
        numbers_files_ = viewer::is_numbered(options_.out) && !fs::exists(options_.out, unreadable);
        if (!numbers_files_) {
            if (input.is_numbered()) refuse_one_file(input.frames());
            return write(input.first(), options_.out);
        }
        ProgressBar bar("writing levels", "files");
        for (std::size_t frame = 0; frame < input.frames(); ++frame) {
            bar.show(static_cast<double>(frame), static_cast<double>(input.frames()));
            write(input.open(frame), viewer::numbered_path(options_.out, input.first_number() + frame), &bar);
        }
    }

    void print() const {
        if (options_.json) {
            nlohmann::ordered_json json{{"path", options_.out}};
            json.update(json_of(info_));
            if (numbers_files_) json["files"] = files_;
            json["notes"] = notes_;
            return print_json(json);
        }
        for (const std::string& sentence : notes_) fmt::print("  {}\n", sentence);
    }

private:
    [[noreturn]] void refuse_one_file(std::size_t files) const {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton mips",
                     .problem = fmt::format("{} stands for {} files, but OUT for one", options_.in, files),
                     .remedy = "Write numbered files too, for example out_%03d.dds."});
    }

    // Writes level 0 of the image and all levels that the kernel computes from it as one array. `files` is the progress
    // of all files; without it, the progress of this file is shown.
    void write(const ImageFile& image, const fs::path& out, ProgressBar* files = nullptr) {
        verify::refuse_planar(image, "texton mips");
        std::optional<ProgressBar> bytes;
        if (files == nullptr) {
            ArrayInfo with_levels = image.info();
            with_levels.levels = full_levels(with_levels);
            bytes.emplace("writing levels", "bytes");
            bytes->show(0, static_cast<double>(packed_bytes(with_levels)));
        }
        const auto show = [&bytes](const ImageProgress& progress) {
            if (bytes) bytes->show(static_cast<double>(progress.done), static_cast<double>(progress.total));
            return true;
        };
        const SaveOptions how{.alpha = verify::saved_alpha(options_.drop_alpha, std::span(&image, 1)),
                              .progress = show};
        const ArrayInfo made = memory_ ? write_in_parts(image, out, how) : write_at_once(image, out, how);
        if (bytes) bytes->hide();
        if (files_.empty()) info_ = made;
        files_.push_back(out.string());
        for (std::string& sentence : left_out(image)) {
            if (std::ranges::find(notes_, sentence) == notes_.end()) notes_.push_back(std::move(sentence));
        }
        if (options_.json) return;
        if (files != nullptr) files->hide();
        fmt::print("{}: {} of {}, {}, {} {}\n", files_.back(), to_string(made.extent), name(made.format),
                   name(made.kind), made.levels, made.levels == 1 ? "level" : "levels");
    }

    ArrayInfo write_at_once(const ImageFile& image, const fs::path& out, const SaveOptions& how) const {
        HostArray chain = verify::read_array(image);
        const Texture texture(verify::upload(device_, chain), verify::standard_sampler(chain.info));
        for (HostImage& level : verify::run(device_, kernel_, std::span(&texture, 1)))
            chain.levels.push_back(std::move(level));
        chain.info.levels = static_cast<int>(chain.levels.size());
        save_levels(out, verify::upload(Device::cpu(), chain), how);
        return chain.info;
    }

    // The levels are in a temporary file beside the output until they are saved.
    ArrayInfo write_in_parts(const ImageFile& image, const fs::path& out, const SaveOptions& how) const {
        check_holds_levels(out);
        // save() reads parts of 16 MiB or rows of tiles, and encodes them in other memory.
        constexpr std::size_t kSaving = std::size_t{48} << 20;
        const fs::path folder = out.has_parent_path() ? out.parent_path() : fs::path(".");
        const ImageFile chain =
            tiles::with_levels(image, kernel_, *memory_ - std::min(*memory_ / 2, kSaving), folder, how.progress);
        save_levels(out, chain, how);
        return chain.info();
    }

    const Options& options_;
    Device device_;
    verify::KernelRun kernel_;
    std::optional<std::size_t> memory_;
    bool numbers_files_ = false;
    ArrayInfo info_;  // of the first file
    std::vector<std::string> files_;
    std::vector<std::string> notes_;
};

Status run(const Options& options) {
    Chains chains(options);
    chains.run();
    chains.print();
    return Status::good;
}

}  // namespace

void add_mips(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command
        ->add_option("IN", options->in,
                     "Image file; only its level 0 is read. in_%03d.png stands for numbered files. Omitted with "
                     "--pattern")
        ->type_name("FILE");
    command
        ->add_option(
            "OUT,-o,--out", options->out,
            "File to write, of a type that stores levels: .dds, .ktx2, .exr, .tif or .tx. Of numbered files, each is "
            "written to its own: out_%03d.dds")
        ->type_name("FILE");
    command
        ->add_option("--pattern", options->pattern,
                     "Draw this image instead of reading IN: a pattern of suites, its size, and optionally a seed, for "
                     "example smooth:20000x20000 or noise:512x512:7, in --format (default: rgba8_unorm)")
        ->type_name("PATTERN");
    add_parameters(*command, kernel_named("mips").info, options->values);
    command->add_option("--set", options->set, "Set a parameter; the same as --NAME VALUE")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    options->image.add_to(*command);
    command->add_option("--device", options->device,
                        "Device: cpu, cpu:N, cuda or cuda:N. Default: the first CUDA device, or else the CPU");
    command
        ->add_option("--memory", options->memory,
                     "Compute the levels on the CPU device, with about this memory for texels, for example 1GiB. They "
                     "are kept in a temporary file beside OUT until OUT is complete")
        ->type_name("SIZE");
    add_drop_alpha(*command, options->drop_alpha);
    command->add_flag("--json", options->json, "Print one JSON object instead of text");
    command->footer(
        "`texton run mips --help` prints the values of the parameters. Texels of sRGB formats are averaged as linear "
        "light; use\n"
        "--format rgba8_srgb or --color srgb if the file does not state its color space.\n"
        "\n"
        "Examples:\n"
        "  texton mips card.png card.dds --color srgb\n"
        "  texton mips sky.exr sky.tx --filter kaiser\n"
        "  texton mips frame_%03d.png frame_%03d.dds               # each file\n"
        "  texton mips map.tif levels.tif --memory 1GiB            # larger than memory\n"
        "  texton mips --pattern smooth:100000x100000 big.tx --memory 512MiB\n"
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  IN cannot be read, OUT cannot be written or its type stores no levels, or the device does not exist");
    command->callback([options, &status] {
        if (!options->pattern.empty()) {
            // The only file is the output.
            if (!options->in.empty() && !options->out.empty()) throw CLI::ExcludesError("--pattern", "IN");
            if (options->out.empty()) std::swap(options->in, options->out);
        } else if (options->in.empty()) {
            throw CLI::RequiredError("IN");
        }
        if (options->out.empty()) throw CLI::RequiredError("OUT");
        status = run(*options);
    });
}

}  // namespace texton::cli
