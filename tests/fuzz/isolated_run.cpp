#include "tests/fuzz/isolated_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include <texton/error.h>
#include <texton/image.h>
#include <texton/image_file.h>

#include "tests/fuzz/png_chunks.h"

namespace texton::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kLimitSeconds = 0.5;
constexpr ReadOptions kAlone{.isolated = true, .limits = {.seconds = kLimitSeconds}};
constexpr ReadOptions kReused{.isolated = true, .limits = {.seconds = kLimitSeconds}, .reuses_process = true};
constexpr std::uint64_t kAloneEach = 8;  // of so many runs, one reads its file in a process of its own
// A call that takes this many seconds longer than its limits is a finding. It is much, because other programs can keep
// a process from running.
constexpr double kGraceSeconds = 20;
constexpr std::size_t kRunBytes = std::size_t{16} << 20;    // that are read in a run
constexpr std::size_t kWholeBytes = std::size_t{64} << 20;  // largest image for read_image()

// What is wrong with a run.
struct Finding : std::runtime_error {
    using runtime_error::runtime_error;
};

void require(bool holds, const std::string& property) {
    if (!holds) throw Finding("this does not hold: " + property);
}

// Calls a function that takes up to `steps` steps, each with the limit of time.
template <class Call>
auto timed(const char* what, int steps, const Call& call) {
    struct Timer {
        ~Timer() noexcept(false) {
            const double took = std::chrono::duration<double>(Clock::now() - begin).count();
            const double limit = steps * kLimitSeconds + kGraceSeconds;
            if (took > limit && std::uncaught_exceptions() == exceptions) {
                throw Finding(std::string(what) + " took " + std::to_string(took) + " seconds");
            }
        }
        const char* what;
        int steps;
        Clock::time_point begin = Clock::now();
        int exceptions = std::uncaught_exceptions();
    } const timer{what, steps};
    return call();
}

void check_claims(const ImageFile& image) {
    const ArrayInfo& info = image.info();
    require(info.levels >= 1 && info.levels <= full_levels(info), "the image has possible levels");
    require(packed_bytes(info) > 0, "the image has texels");
    require(info.layers >= 1 && slice_count(info, 0) >= 1, "the image has slices");
    require(image.metadata().parts >= 1, "the file has parts");
    for (int level = 0; level < info.levels; ++level) {
        const Extent extent = level_extent(info, level), granule = image.access(level).granule;
        require(extent.width >= 1 && extent.height >= 1 && extent.depth >= 1, "a level has texels");
        require(granule.width >= 1 && granule.height >= 1 && granule.depth >= 1, "a granule has texels");
    }
}

// Returns the level, or a box of it that has about this many bytes at most.
Region box_of(const ArrayInfo& info, int level, std::size_t max_bytes, std::mt19937& random) {
    Extent extent = level_extent(info, level);
    extent.depth = slice_count(info, level);
    if (packed_bytes(info.format, extent) <= max_bytes) return {{}, extent};
    Region box{{}, {std::min<std::size_t>(extent.width, 1024), std::min<std::size_t>(extent.height, 64), 1}};
    // A multiple of 64 fits the blocks of all formats.
    const auto offset = [&random](std::size_t side, std::size_t part) {
        return side > part ? random() % ((side - part) / 64 + 1) * 64 : 0;
    };
    box.offset.x = offset(extent.width, box.extent.width);
    box.offset.y = offset(extent.height, box.extent.height);
    box.offset.z = random() % extent.depth;
    return box;
}

void read_levels(const ImageFile& image, std::mt19937& random) {
    const ArrayInfo& info = image.info();
    std::size_t left = kRunBytes;
    for (int level = 0; level < info.levels; ++level) {
        const Region box = box_of(info, level, std::min(left, kRunBytes), random);
        const std::size_t bytes = packed_bytes(info.format, box.extent);
        if (bytes > left) return;
        left -= bytes;
        std::vector<std::byte> texels(bytes);
        // Slices can be of several files or parts, and are read in bands of 4 MiB, twice if the first process fails.
        const int steps = 2 * (static_cast<int>(box.extent.depth) + static_cast<int>(bytes >> 22) + 1);
        timed("ImageFile::read", steps, [&] { image.read({.level = level, .region = box}, texels); });
    }
}

ImageOptions random_options(std::mt19937& random) {
    switch (random() % 16) {
        case 0: return {.window = ImageWindow::display};
        case 1: return {.upright = false, .part = 1};
        case 2: return {.kind = ArrayKind::cubemap};
        case 3: return {.kind = ArrayKind::array_3d};
        case 4: return {.format = Format::rgba32_float};
        case 5: return {.kind = ArrayKind::cubemap, .cube = CubeLayout::equirectangular, .cube_side = 8};
        default: return {};
    }
}

// Returns false if a part of the image can only be read with all texels of a large file, which may take long: each band has
// its own limit.
bool is_small_source(const ImageFile& image, const ImageOptions& options) {
    if (options.cube != CubeLayout::equirectangular) return true;
    const ImageFrame& file = image.metadata().data;
    return packed_bytes(image.info().format,
                        {static_cast<std::size_t>(file.width), static_cast<std::size_t>(file.height)}) <= kWholeBytes;
}

std::uint64_t number_of(const Error& error, std::string_view name, std::uint64_t otherwise) {
    for (const auto& [key, value] : error.numbers()) {
        if (key == name) return value;
    }
    return otherwise;
}

std::uint8_t result_of(const Error& error, bool opened) {
    require(!error.problem().empty(), "an Error names the problem");
    constexpr std::uint64_t kNone = ~std::uint64_t{0};
    if (const std::uint64_t signal = number_of(error, "signal", kNone); signal != kNone) {
        return static_cast<std::uint8_t>(kSignal + std::min<std::uint64_t>(signal, 64));
    }
    if (const std::uint64_t status = number_of(error, "status", kNone); status != kNone) {
        return static_cast<std::uint8_t>(kStatus + std::min<std::uint64_t>(status, 95));
    }
    if (number_of(error, "milliseconds", kNone) != kNone) return kLate;
    for (const char* wrong : {"ended from outside", "invalid reply", "could not be started", "was not found"}) {
        if (error.problem().find(wrong) != std::string::npos) throw Finding(error.what());
    }
    if (error.code() == ErrorCode::out_of_memory) return kMemory;
    return opened ? kDamaged : kRefused;
}

const fs::path& write_file(const fs::path& path, const Input& bytes) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool written = ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    if (file < 0 || ::close(file) != 0 || !written) throw std::runtime_error(path.string() + " cannot be written");
    return path;
}

}  // namespace

std::string name_of(std::uint8_t result) {
    constexpr const char* kNames[] = {"not run", "read", "refused", "damaged", "late", "memory", "findings"};
    if (result < std::size(kNames)) return kNames[result];
    if (result >= kStatus) return "status-" + std::to_string(result - kStatus);
    const char* abbreviation = ::sigabbrev_np(result - kSignal);
    return "SIG" + (abbreviation == nullptr ? std::to_string(result - kSignal) : abbreviation);
}

void require_readable(const ImageSeed& seed, const fs::path& folder) {
    const fs::path path = write_file(folder / seed.name, seed.bytes);
    try {
        const ImageFile image = open_image(path, {}, {.isolated = true});
        check_claims(image);
        std::mt19937 random(1);
        read_levels(image, random);
    } catch (const std::exception& error) {
        throw std::runtime_error("the seed " + seed.name + " cannot be read: " + error.what());
    }
    fs::remove(path);
}

IsolatedRuns::IsolatedRuns(std::string kind, const std::vector<ImageSeed>& seeds, fs::path folder)
    : kind_(std::move(kind)), seeds_(seeds), folder_(std::move(folder)) {
    for (const ImageSeed& seed : seeds) inputs_.push_back(seed.bytes);
}

std::mt19937 IsolatedRuns::generator(std::uint64_t number) const {
    std::vector<std::uint32_t> numbers(kind_.begin(), kind_.end());
    numbers.push_back(static_cast<std::uint32_t>(number));
    numbers.push_back(static_cast<std::uint32_t>(number >> 32));
    std::seed_seq sequence(numbers.begin(), numbers.end());
    return std::mt19937(sequence);
}

ImageSeed IsolatedRuns::file(std::mt19937& random) const {
    static const std::vector<Input> no_words;
    const ImageSeed& seed = seeds_[random() % seeds_.size()];
    ImageSeed file{seed.name, Mutator(inputs_, no_words, random).next(seed.bytes)};
    if (kind_ == "png" && random() % 8 != 0) repair_png_checksums(file.bytes);
    return file;
}

ImageSeed IsolatedRuns::file(std::uint64_t number) const {
    std::mt19937 random = generator(number);
    return file(random);
}

std::uint8_t IsolatedRuns::run(std::uint64_t number, std::string& finding) const {
    std::mt19937 random = generator(number);
    const ImageSeed mutated = file(random);
    const fs::path path = write_file(folder_ / mutated.name, mutated.bytes);
    bool opened = false;
    std::uint8_t result = kFinding;
    const ReadOptions& reading = number % kAloneEach == 0 ? kAlone : kReused;
    try {
        const ImageOptions options = random_options(random);
        // A step in a process that read other files is repeated if it fails.
        const ImageFile image = timed("open_image", 4, [&] { return open_image(path, options, reading); });
        opened = true;
        check_claims(image);
        if (is_small_source(image, options)) read_levels(image, random);
        // Other options can select a small part of a large image.
        if (options == ImageOptions{} && random() % 4 == 0 && packed_bytes(image.info()) <= kWholeBytes) {
            const Image whole = timed("read_image", 40, [&] { return read_image(path, reading); });
            require(whole.texels.size() == packed_bytes(whole.format, whole.extent), "an image has all its texels");
        }
        result = kRead;
    } catch (const Error& error) {
        try {
            result = result_of(error, opened);
        } catch (const Finding& found) {
            finding = found.what();
        }
    } catch (const std::exception& error) {
        finding = error.what();
    } catch (...) {
        finding = "an exception that is no std::exception";
    }
    fs::remove(path);
    return result;
}

}  // namespace texton::fuzz
