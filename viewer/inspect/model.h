#pragma once
// The model of the texture unit, asked for what leads to a fetch's result: its levels of detail, and every texel.
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

/// What the unit decides before it reads texels. Levels of detail are in 1/256; kNoDetail: the coordinates do not
/// change at all.
struct LevelChoice {
    std::int32_t lod = 0;      ///< as asked for, or as the gradients have it (of the minor axis, with anisotropy)
    std::int32_t biased = 0;   ///< with the sampler's bias, and its optimization
    std::int32_t clamped = 0;  ///< within the sampler's limits and the levels that there are
    int level = 0;
    int next_weight = 0;               ///< of level + 1, in 1/256
    double ratio = 1;                  ///< of the axes, as far as samples lie along the longer one
    std::array<int, 2> samples{1, 0};  ///< places that are sampled in the level, and in the next
    bool operator==(const LevelChoice&) const = default;
};
inline constexpr std::int32_t kNoDetail = -(1 << 24);

/// A texel that has a part in a fetch's result.
struct FootprintTexel {
    int sample = 0;  ///< along an anisotropic footprint, from -n to n - 1; else 0
    int level = 0;
    std::array<std::int64_t, 3> asked{};  ///< column, row and slice before the address mode
    bool border = false;                  ///< the border colour in its place
    std::array<std::int32_t, 3> found{};  ///< after it; not of the border. z: the slice of a volume, the layer or cube
    int face = -1;                        ///< of a cubemap
    double weight = 0;  ///< a whole number of 1/256, along an anisotropic footprint of 1/512 or 1/1024
    std::array<double, 4> value{};
    std::array<double, 4> contribution{};
    std::array<double, 4> sum{};  ///< of the contributions up to here
};

struct Footprint {
    std::vector<FootprintTexel> texels;  ///< in the order in which the unit adds them
    LevelChoice levels;
    Texel result{};  ///< the model's: the last sum, as the unit rounds it
};

/// What the texture unit does with an array, fetch by fetch. The array may be one of any device: of its texels those are copied that
/// fetches read, and some around them. For an array that does not change. Of one thread at a time.
class Model {
public:
    /// Keeps the array. Throws what Texture throws.
    Model(const Array& array, const Sampler& sampler);
    ~Model();
    Model(Model&&) noexcept;
    Model& operator=(Model&&) noexcept;

    const Texture& texture() const;
    Texel fetch(const Fetch& fetch) const;
    LevelChoice levels(const Fetch& fetch) const;
    /// A texel is listed as often as it is read. Those of weight 0 are, where their being infinite or no number would
    /// show.
    Footprint footprint(const Fetch& fetch) const;

    /// Of texels that have been copied.
    std::size_t copied_bytes() const;
    const detail::TextureView& view() const;  ///< for tests

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace texton::viewer
