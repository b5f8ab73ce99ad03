#pragma once
// The folder for temporary files of tests.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

namespace texton::test {

/// Returns a folder in memory, if there is one with 1 GiB of free space, or else the folder for temporary files. Texton
/// waits until a file is stored, which takes milliseconds on a disk.
inline std::filesystem::path temporary_files() {
    constexpr std::uintmax_t kFree = std::uintmax_t{1} << 30;
    const std::filesystem::path memory = "/dev/shm";
    std::error_code failure;
    const std::filesystem::space_info space = std::filesystem::space(memory, failure);
    const bool usable = !failure && space.available >= kFree && ::access(memory.c_str(), W_OK | X_OK) == 0;
    return usable ? memory : std::filesystem::temp_directory_path();
}

}  // namespace texton::test
