#pragma once
// Fetches one at a time, for callers that need each result before they know the next coordinates.
#include <cstdint>

#include <texton/fetch.h>
#include <texton/sampler.h>

#include "arrays/cpu/fetch_sum.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Performs single fetches of a texture. What does not depend on the coordinates is prepared once. Only the texels of
/// block-compressed formats and of sparse arrays, and footprints that mix texels and the border color, are added up by
/// the model of the texture unit.
///
/// The results are bit-identical to those of the model. A fetch requires the default floating-point environment: round
/// to nearest, keep denormals. Threads may share an object.
class SingleFetches {
public:
    /// The view and the sampler must outlive the object.
    SingleFetches(const TextureView& view, const Sampler& sampler);

    /// Performs a plain fetch at (x, y). 1D textures ignore `y`; only layered textures use `layer`.
    Texel fetch(float x, float y, std::int32_t layer) const;
    /// Performs any fetch.
    Texel fetch(const FetchPoint& at, FetchOperation operation, int component) const;

private:
    const unsigned char* texel(const unsigned char* slice, std::int32_t x, std::int32_t y) const {
        return slice + y * row_pitch_ + x * bytes_;
    }

    const TextureView& view_;
    const Sampler& sampler_;
    FetchPlan plan_;
    std::int64_t row_pitch_ = 0;
    std::int64_t bytes_ = 0;
    bool quick_ = false;  // plain fetches use what is prepared here
    Texel border_{};      // result of a fetch that reads only the border color
};

}  // namespace texton::detail
