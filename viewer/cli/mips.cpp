#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <texton/image_save.h>

#include "viewer/cli/commands.h"
#include "viewer/cli/image_options.h"
#include "viewer/cli/kernel_options.h"
#include "viewer/cli/progress.h"
#include "viewer/cli/terminal.h"
#include "viewer/model/document.h"
#include "viewer/model/file_reading.h"
#include "viewer/model/kernel_run.h"
#include "viewer/model/planar_files.h"
#include "viewer/model/saved_images.h"

namespace texton::cli {
namespace {

using verify::HostArray;
using verify::HostImage;

struct Options {
    std::string in;
    std::string out;
    ImageOptionText image;
    std::vector<std::string> values;  // of parameters, NAME=VALUE
    std::vector<std::string> set;     // likewise, of --set
    std::string device;
    bool drop_alpha = false;
    bool json = false;
};

// Writes level 0 of the image and all levels that the kernel computes from it as one array.
Status run(const Options& options) {
    const Kernel& kernel = kernel_named("mips");
    ImageOptions how = options.image.options();
    how.levels = 1;
    const ImageFile image = open_image(options.in, how, viewer::file_reading());
    verify::refuse_planar(image, "texton mips");
    ArrayInfo with_levels = image.info();
    with_levels.levels = full_levels(with_levels);
    ProgressBar bar("writing levels", "bytes");
    bar.show(0, static_cast<double>(packed_bytes(with_levels)));
    HostArray chain = verify::read_array(image);
    const Device device = viewer::device_named(options.device);
    const Texture texture(verify::upload(device, chain), verify::standard_sampler(chain.info));
    std::vector<std::string> values = options.set;
    values.insert(values.end(), options.values.begin(), options.values.end());
    const verify::KernelRun asked{.kernel = &kernel, .parameters = verify::parameters_of(kernel.info, values)};
    for (HostImage& level : verify::run(device, asked, std::span(&texture, 1)))
        chain.levels.push_back(std::move(level));
    chain.info.levels = static_cast<int>(chain.levels.size());
    const auto show = [&bar](const ImageProgress& progress) {
        bar.show(static_cast<double>(progress.done), static_cast<double>(progress.total));
        return true;
    };
    save(options.out, verify::upload(Device::cpu(), chain),
         {.alpha = verify::saved_alpha(options.drop_alpha, std::span(&image, 1)), .progress = show});
    bar.hide();
    if (options.json) {
        nlohmann::ordered_json json{{"path", options.out}};
        json.update(json_of(chain.info));
        json["notes"] = left_out(image);
        print_json(json);
        return Status::good;
    }
    fmt::print("{}: {} of {}, {}, {} levels\n", options.out, to_string(chain.info.extent), name(chain.info.format),
               name(chain.info.kind), chain.info.levels);
    for (const std::string& sentence : left_out(image)) fmt::print("  {}\n", sentence);
    return Status::good;
}

}  // namespace

void add_mips(CLI::App* command, Status& status) {
    const auto options = std::make_shared<Options>();
    command->add_option("IN", options->in, "Image file; only its level 0 is read")->required()->type_name("FILE");
    command
        ->add_option("OUT", options->out, "File to write, of a type that stores levels: .dds, .ktx2, .exr, .tif or .tx")
        ->required()
        ->type_name("FILE");
    add_parameters(*command, kernel_named("mips").info, options->values);
    command->add_option("--set", options->set, "Set a parameter; the same as --NAME VALUE")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    options->image.add_to(*command);
    command->add_option("--device", options->device,
                        "Device: cpu, cpu:N, cuda or cuda:N. Default: the first CUDA device, or else the CPU");
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
        "\n"
        "Exit status:\n"
        "  0  success\n"
        "  2  IN cannot be read, OUT cannot be written or its type stores no levels, or the device does not exist");
    command->callback([options, &status] { status = run(*options); });
}

}  // namespace texton::cli
