#pragma once
#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// Compares the files of two folders that have equal names, also in folders inside them. A file that one of the folders
/// lacks is a difference. `device` selects the criteria. The result keeps the images that differ. Throws the errors of find_files(), read_images() and
/// difference_of().
[[nodiscard]] Result compare_folders(const Case& of, const Suite& suite, const viewer::DeviceFields& device);

}  // namespace texton::verify
