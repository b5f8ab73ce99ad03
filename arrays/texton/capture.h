#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <texton/array_info.h>
#include <texton/fetch.h>
#include <texton/sampler.h>
#include <texton/texture.h>

namespace texton {

/// A recording of a texture unit: one texture, one sampler, where it was fetched, and what came back. tests/captures/README.md
/// has the format of the files.
struct Capture {
    ArrayInfo array;                              ///< also of pitched memory: a 2D array of one level
    TextureSource source = TextureSource::array;  ///< array or pitched
    Sampler sampler;
    FetchOperation operation = FetchOperation::plain;  ///< not texel
    int component = 0;                                 ///< of gather
    std::vector<std::vector<std::byte>> levels;        ///< packed texels, layers and faces behind each other
    std::vector<FetchPoint> points;
    std::vector<Texel> results;  ///< one a point
};

/// Error{io} with the file's name, and what is wrong, if it cannot be read or is no whole capture.
[[nodiscard]] Capture read_capture(const std::filesystem::path& path);
/// Writes beside the path, then renames: what was there stays whole if anything fails. Error{io}.
void write_capture(const std::filesystem::path& path, const Capture& capture);

/// What a random experiment may be; what is empty is drawn.
struct CaptureChoice {
    std::optional<ArrayKind> kind{};
    std::optional<Format> format{};
    std::optional<FetchOperation> operation{};
    std::size_t points = 512;
};

/// A texture, a sampler and points drawn at random, hostile ones (ties, far outside, infinite, no numbers) among them; without
/// results. The same seed and choice give the same on every machine. Error{bad_argument} for a choice that cannot be.
[[nodiscard]] Capture random_capture(std::uint64_t seed, const CaptureChoice& choice = {});

/// What the model of the texture unit returns for the points.
[[nodiscard]] std::vector<Texel> replay(const Capture& capture);
/// What the device returns.
[[nodiscard]] std::vector<Texel> replay(const Capture& capture, const Device& device);

}  // namespace texton
