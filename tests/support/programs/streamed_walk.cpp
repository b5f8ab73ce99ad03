// A walk over a pyramid that is about ten times as large as the memory for its tiles. A camera flies over an image of
// 32768 x 16384 texels, down to it and up again. Each frame requests what the camera sees, updates the texture, and
// samples an image. Every texel that is returned is compared with the function that the pyramid is made of. Prints
// figures. Arguments: cpu or cuda (default: both), then the number of frames (default: 120).
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <texton/array_info.h>
#include <texton/error.h>
#include <texton/streamed_texture.h>

namespace {

using namespace texton;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBudget = std::size_t{68} << 20;
constexpr int kWidth = 160;  // of the image that a frame samples
constexpr int kHeight = 90;

ArrayInfo pyramid_info() {
    ArrayInfo info{.format = Format::r8_uint, .extent = {32768, 16384}};
    info.levels = full_levels(info);
    return info;
}

// The texel at (x, y) of a level.
std::uint8_t texel_of(int level, std::size_t x, std::size_t y) {
    std::uint64_t hash = (y << 32 | x) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(level);
    hash ^= hash >> 29;
    return static_cast<std::uint8_t>(hash * 0xbf58476d1ce4e5b9u >> 56);
}

void read(const PyramidBox& box, std::span<std::byte> texels, const std::stop_token&) {
    std::size_t i = 0;
    for (std::size_t y = 0; y < box.region.extent.height; ++y) {
        for (std::size_t x = 0; x < box.region.extent.width; ++x)
            texels[i++] = std::byte{texel_of(box.level, box.region.offset.x + x, box.region.offset.y + y)};
    }
}

// Returns the processor time of the thread in milliseconds.
double processor_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

// The camera of a frame: its center, and the width of what it sees. All are relative to the image.
struct Camera {
    double x, y, width;
};

Camera camera_of(int frame, int frames) {
    const double turn = 2 * 3.14159265358979 * frame / frames;
    return {0.5 + 0.3 * std::cos(turn), 0.5 + 0.3 * std::sin(2 * turn), 0.012 * std::exp2(2 - 2 * std::cos(3 * turn))};
}

struct Figures {
    int settled = 0;  // frames in which every fetch was exact
    std::size_t exact = 0;
    std::size_t fetches = 0;
    std::size_t wrong = 0;
    double longest_update = 0;  // milliseconds
    double longest_work = 0;    // processor time of an update in milliseconds
};

// Samples the image of a camera with the nearest texel of the level whose texels are as large as its pixels.
void sample_frame(StreamedTexture& texture, const Camera& camera, float lod, Figures& figures) {
    const ArrayInfo info = texture.info();
    std::vector<FetchPoint> points;
    for (int j = 0; j < kHeight; ++j) {
        for (int i = 0; i < kWidth; ++i) {
            points.push_back({.x = static_cast<float>(camera.x + camera.width * ((i + 0.5) / kWidth - 0.5)),
                              .y = static_cast<float>(camera.y + camera.width * ((j + 0.5) / kHeight - 0.5)),
                              .lod = lod});
        }
    }
    const StreamedSamples found = texture.sample(points);
    std::size_t exact = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const int level = std::max(static_cast<int>(lod), int{found.clamps[i]});
        const Extent extent = level_extent(info, level);
        // The texture unit keeps 23 bits of the coordinate.
        const auto texel = [](float at, std::size_t size) {
            const auto fixed = static_cast<std::int64_t>(std::floor(static_cast<double>(at) * 8388608));
            const auto count = static_cast<std::int64_t>(size);
            return static_cast<std::size_t>(std::min(std::max(fixed * count >> 23, std::int64_t{0}), count - 1));
        };
        figures.wrong += found.texels[i].channel[0] !=
                         texel_of(level, texel(points[i].x, extent.width), texel(points[i].y, extent.height));
        exact += found.clamps[i] <= lod;
    }
    figures.exact += exact;
    figures.fetches += points.size();
    figures.settled += exact == points.size();
}

StreamedView view_of(const ArrayInfo& info, const Camera& camera, int level) {
    const Extent extent = level_extent(info, level);
    const auto range = [](double center, double width, std::size_t size, std::size_t& offset, std::size_t& length) {
        const auto last = static_cast<double>(size - 1);
        const double first = std::min(std::max((center - width / 2) * static_cast<double>(size), 0.0), last);
        const double end = std::min(std::max((center + width / 2) * static_cast<double>(size), 0.0), last);
        offset = static_cast<std::size_t>(first);
        length = static_cast<std::size_t>(end) - offset + 1;
    };
    Region region;
    range(camera.x, camera.width, extent.width, region.offset.x, region.extent.width);
    range(camera.y, camera.width, extent.height, region.offset.y, region.extent.height);
    return {.level = level, .region = region};
}

std::size_t walk(const Device& device, int frames) {
    const Stream stream(device);
    StreamedTexture texture(device, {pyramid_info(), read},
                            {.sampler = {.normalized_coordinates = true}, .budget = kBudget});
    Figures figures;
    const auto begin = Clock::now();
    for (int frame = 0; frame < frames; ++frame) {
        const Camera camera = camera_of(frame, frames);
        const double texels = camera.width * static_cast<double>(texture.info().extent.width) / kWidth / 8;
        const auto lod = static_cast<float>(std::max(0.0, std::floor(std::log2(texels))));
        texture.request(std::vector<StreamedView>{view_of(texture.info(), camera, static_cast<int>(lod))});
        const auto start = Clock::now();
        const double worked = processor_time();
        (void)texture.update(stream, std::chrono::milliseconds(2));
        const double milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        figures.longest_update = std::max(figures.longest_update, milliseconds);
        figures.longest_work = std::max(figures.longest_work, processor_time() - worked);
        sample_frame(texture, camera, lod, figures);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const StreamingStatistics counts = texture.statistics();
    const auto mebibytes = [](std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
    std::printf("%s: %d frames in %.2f s over a pyramid of %.0f MiB with a budget of %.0f MiB\n",
                device.kind() == DeviceKind::cpu ? "cpu" : "cuda", frames, seconds,
                mebibytes(texture.array().slots() * kTileBytes), mebibytes(texture.budget()));
    std::printf("  fetches: %zu, %.1f %% exact, %zu wrong; frames that are exact everywhere: %d\n", figures.fetches,
                100.0 * static_cast<double>(figures.exact) / static_cast<double>(figures.fetches), figures.wrong,
                figures.settled);
    std::printf(
        "  tiles: %llu read (%.0f per second, %.0f MiB), %llu evicted, %llu hits, %llu misses, %llu discarded\n",
        static_cast<unsigned long long>(counts.loaded_tiles), counts.tiles_per_second(), mebibytes(counts.loaded_bytes),
        static_cast<unsigned long long>(counts.evicted_tiles), static_cast<unsigned long long>(counts.hits),
        static_cast<unsigned long long>(counts.misses), static_cast<unsigned long long>(counts.discarded_reads));
    std::printf("  memory: %.0f MiB of tiles, %.0f MiB held; longest update: %.1f ms (processor time %.1f ms)\n",
                mebibytes(counts.resident_bytes), mebibytes(counts.held_bytes), figures.longest_update,
                figures.longest_work);
    return figures.wrong + (counts.resident_bytes <= texture.budget() ? 0 : 1);
}

}  // namespace

int main(int count, char** arguments) try {
    const std::string kind = count > 1 ? arguments[1] : "";
    const int frames = count > 2 && std::atoi(arguments[2]) > 0 ? std::atoi(arguments[2]) : 120;
    std::size_t problems = 0;
    if (kind != "cuda") problems += walk(Device::cpu(), frames);
    if (kind == "cuda" || (kind.empty() && Device::why_no_cuda().empty())) problems += walk(Device::cuda(), frames);
    return problems == 0 ? 0 : 1;
} catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
