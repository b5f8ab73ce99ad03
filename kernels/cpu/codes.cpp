// Functions of one channel on the CPU device, with a table over the 8-bit codes.
#include <algorithm>
#include <memory>

#include <texton/launch.h>

#include "kernels/cpu/kernels.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

/// A function of floats with a table of its results for the values of all 8-bit codes.
class CodeTable {
public:
    explicit CodeTable(float (*of)(float)) : of_(of) {
        for (int code = 0; code < 256; ++code) {
            fraction_[code] = static_cast<float>(code) / 255;
            result_[code] = of(fraction_[code]);
        }
    }

    /// Returns the function of a value. Calls the function for values between codes, which a texture returns if
    /// rounding moves a coordinate off the texel's center.
    float result(float value) const {
        if (!(value >= 0 && value <= 1)) return of_(value);
        const auto code = static_cast<std::size_t>(static_cast<int>(value * 255 + 0.5f));
        return fraction_[code] == value ? result_[code] : of_(value);
    }

private:
    float (*of_)(float);
    float fraction_[256];
    float result_[256];
};

}  // namespace

bool CpuKernels::map_codes(Launch& launch, float (*of)(float)) const {
    const FormatInfo& format = info(launch.state().textures[0].format());
    if (format.kind != FormatKind::unorm || format.bits != 8 || format.layout != FormatLayout::plain) return false;
    launch.run_pointwise([table = std::make_shared<const CodeTable>(of)](std::span<const PointwiseSource> sources,
                                                                         PixelPosition, std::size_t count,
                                                                         TexelPlanes& pixels) {
        const TexelPlanes& texels = sources[0].texels();
        for (std::size_t c = 0; c < 3; ++c) {
            for (std::size_t i = 0; i < count; ++i) pixels.channel[c][i] = table->result(texels.channel[c][i]);
        }
        std::copy_n(texels.channel[3], count, pixels.channel[3]);
    });
    return true;
}

}  // namespace texton::detail
