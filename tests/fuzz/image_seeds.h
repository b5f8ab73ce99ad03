#pragma once
// Small valid files of every kind that OpenImageIO reads, as seeds of isolated.cpp.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/mutator.h"
#include "tests/support/file_bytes.h"

namespace texton::fuzz {

using test::FileBytes;

/// A file. The extension of the name is one of its kind.
struct ImageSeed {
    std::string name;
    Input bytes;
};

/// Returns the seeds of a kind. `folder` is used for temporary files. The seeds have equal bytes each time: where a file
/// contains a time, it is fixed. Throws std::runtime_error if a writer of OpenImageIO fails.
std::vector<ImageSeed> image_seeds(std::string_view kind, const std::filesystem::path& folder);

/// Adds the seeds that OpenImageIO or Texton writes.
void add_encoded_seeds(std::vector<ImageSeed>& seeds, std::string_view kind, const std::filesystem::path& folder);
/// Adds the seeds of kinds and variants that OpenImageIO cannot write.
void add_composed_seeds(std::vector<ImageSeed>& seeds, std::string_view kind, const std::filesystem::path& folder);

}  // namespace texton::fuzz
