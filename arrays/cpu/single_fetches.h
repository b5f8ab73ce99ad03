#pragma once
// Plain fetches one at a time, for callers that need each result before they know the next coordinates.
#include <cstdint>

#include <texton/fetch.h>
#include <texton/sampler.h>

#include "arrays/cpu/texel_decoder.h"
#include "arrays/unit/footprint.h"
#include "arrays/unit/texture_address.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Writes the filtered sum of four stored texels to `result`, which must be zeros before. Returns false if only the
/// model computes this sum.
using FootprintFilter = bool (*)(const unsigned char* const (&texels)[4], const FootprintWeights& weights,
                                 Texel& result);

/// Performs single plain fetches of a texture. What does not depend on the coordinates is prepared once, so a fetch of
/// a 1D, 2D or layered 2D texture takes tens of nanoseconds. Fetches of other kinds, of block-compressed formats and of
/// sparse arrays use the model of the texture unit directly.
///
/// The results are bit-identical to those of the model. A fetch requires the default floating-point environment: round
/// to nearest, keep denormals. Threads may share an object.
class SingleFetches {
public:
    /// The view and the sampler must outlive the object.
    SingleFetches(const TextureView& view, const Sampler& sampler);

    /// Fetches at (x, y). 1D textures ignore `y`; only layered textures use `layer`.
    Texel fetch(float x, float y, std::int32_t layer) const;

private:
    /// An axis and the constants of scale_coordinate().
    struct FetchAxis {
        std::int32_t size;
        AddressMode mode;
        AxisKind kind;
        bool normalized;
        std::uint32_t quick_end;  ///< bits of the magnitude from which the model scales a coordinate
        double steps;             ///< steps per unit of the coordinate
        std::int64_t mask;        ///< keeps the steps of a period, or all bits
        int shift;                ///< from steps * size to 1/512 of a texel

        std::int64_t scaled(float coordinate) const;
        AxisTaps linear(float coordinate) const;
        std::int32_t nearest(float coordinate) const;
    };

    FetchAxis make_axis(int axis) const;
    const unsigned char* texel(const unsigned char* slice, std::int32_t x, std::int32_t y) const {
        return slice + y * row_pitch_ + x * bytes_;
    }

    const TextureView& view_;
    const Sampler& sampler_;
    FetchAxis x_{};
    FetchAxis y_{};
    std::int64_t row_pitch_ = 0;
    std::int64_t bytes_ = 0;
    TexelDecoder read_ = nullptr;       // for point fetches
    FootprintFilter filter_ = nullptr;  // for linear fetches; both null: the model is used
    Texel border_{};                    // result of a fetch that reads only the border color
};

}  // namespace texton::detail
