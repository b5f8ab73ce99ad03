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

/// A recording of a texture unit: one texture, one sampler, the coordinates of fetches and their results.
/// tests/captures/README.md describes the file format.
struct Recording {
    ArrayInfo array;  ///< the texture; pitched memory is described as a 2D array of one level
    TextureSource source = TextureSource::array;       ///< array or pitched; never linear
    Sampler sampler;                                   ///< how the texture is read
    FetchOperation operation = FetchOperation::plain;  ///< the fetch that was recorded; never texel
    int component = 0;                                 ///< the component that gather reads, 0 to 3
    std::vector<std::vector<std::byte>> levels;  ///< packed texels of each level; layers and faces are consecutive
    std::vector<FetchPoint> points;              ///< coordinates of the fetches
    std::vector<Texel> results;                  ///< one result for each point; empty if nothing was fetched
};

/// Reads a recording from a file. Throws Error{io} with the file's name and the reason if the file cannot be read or is
/// not a valid recording.
[[nodiscard]] Recording read_recording(const std::filesystem::path& path);
/// Writes a recording to a file. The file is replaced as by save(): if writing fails, an existing file is unchanged.
/// Throws Error{io} if the file cannot be written, and Error{bad_argument} if the source is linear, the operation is
/// texel, the format is planar, or the numbers of levels, texels, points and results do not fit each other.
void write_recording(const std::filesystem::path& path, const Recording& recording);

/// Constraints of random_recording(). Kind, format and operation are chosen at random if they are not set.
struct RecordingChoice {
    std::optional<ArrayKind> kind{};            ///< kind of the texture
    std::optional<Format> format{};             ///< format of the texels
    std::optional<FetchOperation> operation{};  ///< the fetch; not texel
    std::size_t points = 512;                   ///< number of coordinates
};

/// Returns a random texture, a random sampler and random coordinates. The results are empty. Some coordinates are
/// difficult cases: ties between texels, far outside, infinite or NaN. The same seed and constraints return the same
/// recording on every machine.
///
/// Throws Error{bad_argument} if the constraints contradict each other, if the operation is `texel`, or if the format
/// is planar.
[[nodiscard]] Recording random_recording(std::uint64_t seed, const RecordingChoice& choice = {});

/// Returns the results of the software model of the texture unit for the points. The stored results are ignored. Throws
/// Error{bad_argument} if the numbers of levels, texels, points and results do not fit each other.
[[nodiscard]] std::vector<Texel> replay(const Recording& recording);
/// Returns the results of the device for the points. Blocks until they are complete. Throws the errors of Array,
/// Texture, sample() and of the overload above.
[[nodiscard]] std::vector<Texel> replay(const Recording& recording, const Device& device);

}  // namespace texton
