#pragma once
// The commands of `texton`, in the order in which the help lists them. This header needs no library, because the
// launcher links none.
#include <array>

namespace texton::launcher {

/// A command and its description in the help of `texton`.
struct CommandName {
    const char* name;
    const char* summary;  ///< one sentence in the imperative, without a full stop
};

/// All commands, in alphabetical order.
inline constexpr std::array kCommandNames{
    CommandName{"bench", "Measure how long kernels take on a device"},
    CommandName{"compare", "Compare two images: differing texels, ulp distances, PSNR, SSIM and FLIP"},
    CommandName{"completion", "Print a completion script for bash, fish or zsh"},
    CommandName{"convert", "Convert images to another file type, texel format or array kind"},
    CommandName{"devices", "List the devices with their limits, array kinds and texel formats"},
    CommandName{"info", "Print the size, format, levels and metadata of image files"},
    CommandName{"mips", "Compute the mip levels of an image and write them to a file"},
    CommandName{"record", "Record the results of a GPU's texture unit, to replay them on any machine"},
    CommandName{"replay", "Fetch the points of texture unit recordings again, and compare every bit"},
    CommandName{"run", "Run a sampling kernel on images, and write the results to files"},
    CommandName{"verify", "Run a suite of regression tests, and compare the results with approved references"},
    CommandName{"view", "Open images in the viewer, texton-view"},
};

}  // namespace texton::launcher
