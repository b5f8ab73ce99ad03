#pragma once
// The sum of the texels that a fetch reads, with functions that are compiled separately for each format. The functions
// of texture_unit.h accept it in place of TexelSum, which it equals in every bit.
#include <cstdint>

#include "arrays/cpu/fetch_axis.h"
#include "arrays/cpu/texel_decoder.h"
#include "arrays/unit/footprint.h"
#include "arrays/unit/texture_unit.h"

namespace texton::detail {

class FetchSum;

/// The functions of a format. Those of sums are null if only the model computes them, and `read` for block formats.
struct FetchSumFunctions {
    /// Adds the stored texels of a footprint.
    void (*add)(FetchSum& sum, const unsigned char* const (&texels)[4], const FootprintWeights& weights, int scale);
    /// Writes the result, which must be zeros before.
    void (*finish)(FetchSum& sum, Texel& result);
    TexelDecoder read;  ///< for point fetches
    bool floating;      ///< some channels are added up as floats
};

/// What does not depend on the coordinates of a fetch.
struct FetchPlan {
    FetchPlan(const TextureView& view, const Sampler& sampler);

    FetchSumFunctions functions;
    bool has_axes;  ///< false: a cubemap
    FetchAxis axes[kMaxLevels][3];
};

/// Accumulates the footprints of one fetch. If it fails, the model must repeat the fetch: infinite and NaN texels, sums
/// that are not normal numbers, border colors and texels that may lack memory are left to it.
class FetchSum {
public:
    explicit FetchSum(const FetchPlan& plan) : plan_(plan), functions_(plan.functions) {}

    const FetchPlan& plan() const { return plan_; }

    bool failed() const { return failed_; }
    void fail() { failed_ = true; }

    void add(const unsigned char* const (&texels)[4], const FootprintWeights& weights, int scale) {
        if (functions_.add == nullptr) return fail();
        functions_.add(*this, texels, weights, scale);
    }
    void end_position() {
        if (!functions_.floating) return;
        for (FloatingSum& channel : floats) channel.end_position();
    }
    Texel result() {
        Texel texel{};
        if (!failed_) functions_.finish(*this, texel);
        return texel;
    }
    Texel read(const unsigned char* texel) const { return functions_.read(texel); }

    /// A sum of floats, as in ChannelSum: sums of footprints are aligned to blocks of four exponents.
    class FloatingSum {
    public:
        /// Adds the sum of a footprint, in units of its largest exponent.
        void hold(std::int64_t sum, std::int32_t exponent, int scale) {
            const std::int32_t block = ((exponent + 127) & ~3) - 127;
            held_[held_count_++] = {(sum * (std::int64_t{1} << (exponent - block))) >> scale, block};
            if (block <= block_) return;
            sum_ = shift_down(sum_, block - block_);
            block_ = block;
        }
        void end_position() {
            for (int i = 0; i < held_count_; ++i) sum_ += shift_down(held_[i].sum, block_ - held_[i].block);
            held_count_ = 0;
        }
        std::int64_t sum() const { return sum_; }
        std::int32_t block() const { return block_; }

        std::uint32_t any = 0;  ///< bits that are set in any texel

    private:
        static std::int64_t shift_down(std::int64_t sum, std::int32_t shift) {
            return sum >> (shift > 63 ? 63 : shift);
        }

        struct Held {
            std::int64_t sum;
            std::int32_t block;
        };
        std::int64_t sum_ = 0;
        std::int32_t block_ = -1000;
        int held_count_ = 0;
        Held held_[kLargestPosition];
    };

    std::int32_t fixed[4] = {};  ///< sums of normalized codes times weights in 1 / (256 << kLargestScale)
    FloatingSum floats[4];

private:
    const FetchPlan& plan_;
    const FetchSumFunctions& functions_;
    bool failed_ = false;
};

LevelTaps find_taps_for(FetchSum& sum, const TextureView& view, const Sampler& sampler, int level,
                        const Coordinates& at, const Placement& placement);

/// Adds the texels of a slice of a footprint.
void add_quad(FetchSum& sum, const LevelView& level, const TexelFormat& format, const Sampler& sampler,
              const LevelTaps& taps, int slice, const FootprintWeights& weights, int scale);
/// Executes a fetch of a single texel.
Texel read_point(FetchSum& sum, const TextureView& view, const Sampler& sampler, int level, const Coordinates& at);

}  // namespace texton::detail
