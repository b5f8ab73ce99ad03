#pragma once
// One run of texton-fuzz-isolated: a mutated file that is opened and read in isolation.
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/image_seeds.h"

namespace texton::fuzz {

// Results of a run. Larger numbers are a signal or an exit status of the reader.
constexpr std::uint8_t kNotRun = 0;
constexpr std::uint8_t kRead = 1;      ///< all texels were read
constexpr std::uint8_t kRefused = 2;   ///< the file could not be opened
constexpr std::uint8_t kDamaged = 3;   ///< the file could be opened, but not read
constexpr std::uint8_t kLate = 4;      ///< the limit of time was exceeded
constexpr std::uint8_t kMemory = 5;    ///< the limit of memory was exceeded
constexpr std::uint8_t kFinding = 6;   ///< the calling process did not get what it was promised
constexpr std::uint8_t kSignal = 64;   ///< plus a signal: the reader crashed
constexpr std::uint8_t kStatus = 160;  ///< plus a status, at most 95: the reader called exit()

/// Returns the name of a result: "read", "SIGSEGV" or "status-1".
std::string name_of(std::uint8_t result);

/// Throws std::runtime_error if the seed cannot be opened or its texels cannot be read.
void require_readable(const ImageSeed& seed, const std::filesystem::path& folder);

class IsolatedRuns {
public:
    /// Keeps references to the seeds. Files are written to the folder.
    IsolatedRuns(std::string kind, const std::vector<ImageSeed>& seeds, std::filesystem::path folder);

    /// Returns the result of a run. `finding` describes what is wrong if the result is kFinding.
    std::uint8_t run(std::uint64_t number, std::string& finding) const;
    /// Returns the file of a run.
    ImageSeed file(std::uint64_t number) const;

private:
    std::mt19937 generator(std::uint64_t number) const;
    ImageSeed file(std::mt19937& random) const;

    std::string kind_;
    const std::vector<ImageSeed>& seeds_;
    std::vector<Input> inputs_;  // bytes of the seeds
    std::filesystem::path folder_;
};

}  // namespace texton::fuzz
