#pragma once
// The commands of `texton`, in the order in which the help lists them. This header needs no library, because the
// launcher links none.
#include <array>
#include <string_view>

namespace texton::launcher {

/// A command and its description in the help of `texton`.
struct CommandName {
    const char* name;
    const char* summary;        ///< one sentence in the imperative, without a full stop
    bool reads_images = false;  ///< true: in a copy of its process, or with the program texton-reader
};

/// All commands, in alphabetical order.
inline constexpr std::array kCommandNames{
    CommandName{"approve", "Approve the results in a report of `texton verify` as references", true},
    CommandName{"batch", "Apply a pipeline of kernels to many image files, and continue where an earlier run ended"},
    CommandName{"bench", "Measure how long kernels take on a device"},
    CommandName{"compare", "Compare two images: differing texels, ulp distances, PSNR, SSIM and FLIP", true},
    CommandName{"completion", "Print a completion script for bash, fish or zsh"},
    CommandName{"convert", "Convert images to another file type, texel format or array kind", true},
    CommandName{"devices", "List the devices with their limits, array kinds and texel formats"},
    CommandName{"info", "Print the size, format, levels and metadata of image files", true},
    CommandName{"mips", "Compute the mip levels of an image and write them to a file", true},
    CommandName{"record", "Record the results of a GPU's texture unit, to replay them on any machine"},
    CommandName{"replay", "Fetch the points of texture unit recordings again, and compare every bit"},
    CommandName{"run", "Run a sampling kernel on images, and write the results to files", true},
    CommandName{"stats", "Print statistics, percentiles and histograms of image files", true},
    CommandName{"verify", "Run a suite of regression tests, and compare the results with approved references", true},
    CommandName{"view", "Open images in the viewer, texton-view"},  // makes a reader of its own
};

/// Returns whether a command reads image files.
constexpr bool reads_images(std::string_view name) {
    for (const CommandName& command : kCommandNames) {
        if (command.name == name) return command.reads_images;
    }
    return false;
}

}  // namespace texton::launcher
