#pragma once
// Explains the result of a fetch with the model of the texture unit: its levels of detail, and each texel with its
// weight.
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <texton/texture.h>

#include "viewer/inspect/fetches.h"

namespace texton::detail {
struct TextureView;
}

namespace texton::viewer {

/// Decisions of the texture unit before it reads texels. Levels of detail are in 1/256; kNoDetail means that all
/// gradients are zero.
struct LevelChoice {
    std::int32_t lod = 0;      ///< requested, or computed from the gradients (of the minor axis with anisotropy)
    std::int32_t biased = 0;   ///< lod after the sampler's bias and trilinear optimization
    std::int32_t clamped = 0;  ///< biased after the limits of the sampler and of the array's levels
    int level = 0;             ///< the level, or the finer one of two
    int next_weight = 0;       ///< weight of level + 1, in 1/256
    double ratio = 1;          ///< length of the line of samples relative to the minor axis; 1 without anisotropy
    std::array<int, 2> samples{1, 0};  ///< numbers of samples in `level` and in level + 1
    bool operator==(const LevelChoice&) const = default;
};
/// The level of detail of gradients that are zero.
inline constexpr std::int32_t kNoDetail = -(1 << 24);

/// A texel that contributes to a fetch.
struct FootprintTexel {
    int sample = 0;  ///< index along an anisotropic footprint, -n to n - 1; otherwise 0
    int level = 0;
    std::array<std::int64_t, 3> asked{};   ///< column, row and slice before the address mode
    bool border = false;                   ///< true if the border color is used instead of a texel
    std::array<std::int32_t, 3> found{};   ///< column, row and slice, layer or cube that is read; undefined if `border`
    int face = -1;                         ///< cubemap face, or -1
    double weight = 0;                     ///< a multiple of 1/256; of 1/512 or 1/1024 along an anisotropic footprint
    std::array<double, 4> value{};         ///< decoded channels
    std::array<double, 4> contribution{};  ///< weight * value
    std::array<double, 4> sum{};           ///< sum of the contributions up to this texel
};

/// Result of Model::footprint().
struct Footprint {
    std::vector<FootprintTexel> texels;  ///< in the order in which the texture unit adds them
    LevelChoice levels;                  ///< decisions before texels were read
    Texel result{};                      ///< result of the model: the last sum after the rounding of the texture unit
};

/// Runs the model of the texture unit on an array of any device, one fetch at a time. Texels are copied to the host
/// when fetches need them (see CopiedTexels), so the array must not change.
///
/// The object keeps the array alive. It is not thread-safe: const member functions also copy texels.
class Model {
public:
    /// Throws the errors of Texture.
    Model(const Array& array, const Sampler& sampler);
    ~Model();
    Model(Model&&) noexcept;
    Model& operator=(Model&&) noexcept;

    /// Returns a texture of the array with the sampler.
    const Texture& texture() const;
    /// Returns the model's result of a fetch. Throws the errors of copy().
    Texel fetch(const Fetch& fetch) const;
    /// Returns the level choice of a fetch. Reads no texels.
    LevelChoice levels(const Fetch& fetch) const;
    /// Returns the texels of a fetch. A texel that is read several times is listed several times. Texels with weight 0
    /// are listed if the format can contain infinity or NaN, which would change the result. Throws the errors of
    /// copy().
    Footprint footprint(const Fetch& fetch) const;

    /// Returns the bytes of texels that were copied so far.
    std::size_t copied_bytes() const;
    /// Returns the model's view of the texture. For tests.
    const detail::TextureView& view() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace texton::viewer
