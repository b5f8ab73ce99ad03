#pragma once
// Conversion of floats to the stored codes of channels. All formats share it. Host and device compute the same bits.
#include <cstdint>

#include <texton/host_device.h>

namespace texton::detail {

/// Interpretation of the bits of a channel.
enum class Encoding : std::uint8_t { uint, sint, floating, unorm, snorm, srgb };

/// Bits of the NaN that fetches return and that float32 images store. Arithmetic gives different NaNs on host and
/// device, so NaNs are replaced by this one.
inline constexpr std::uint32_t kNanBits = 0x7fffffffu;
/// Bits of the float16 NaN that results from a filtered fetch of float16 texels.
inline constexpr std::uint32_t kHalfNanBits = 0x7fffu;
/// The same NaN, converted to float32.
inline constexpr std::uint32_t kWidenedHalfNanBits = 0x7fffe000u;

/// Returns the bits of a float.
TEXTON_HD inline std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

/// Returns the float with these bits.
TEXTON_HD inline float float_of(std::uint32_t bits) {
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

/// Returns the bits of a float. All NaNs return kNanBits.
TEXTON_HD inline std::uint32_t plain_bits_of(float value) { return value == value ? bits_of(value) : kNanBits; }

/// The lowest linear values with the sRGB codes 1 to 255. They were found by bisection on an H200; see the recordings
/// border_srgb_step0 and border_srgb_step1.
struct SrgbSteps {
    float of[255] = {
        0.00015176351f, 0.0004552905f, 0.00075881754f, 0.0010623444f, 0.0013658716f, 0.0016693984f, 0.0019729256f,
        0.0022764525f,  0.0025799798f, 0.0028835065f,  0.0031880087f, 0.003508943f,  0.0038479741f, 0.0042053815f,
        0.0045814393f,  0.004976417f,  0.005390576f,   0.005824173f,  0.0062774634f, 0.006750689f,  0.007244101f,
        0.0077579287f,  0.008292416f,  0.008847784f,   0.009424273f,  0.01002209f,   0.010641468f,  0.0112826135f,
        0.011945751f,   0.012631077f,  0.013338814f,   0.014069156f,  0.01482231f,   0.01559847f,   0.016397838f,
        0.017220603f,   0.01806696f,   0.018937098f,   0.019831207f,  0.020749466f,  0.02169206f,   0.022659173f,
        0.02365098f,    0.02466766f,   0.025709389f,   0.026776342f,  0.027868683f,  0.028986586f,  0.030130222f,
        0.031299755f,   0.032495353f,  0.03371717f,    0.034965377f,  0.03624013f,   0.03754159f,   0.038869914f,
        0.040225267f,   0.04160779f,   0.043017637f,   0.044454966f,  0.045919925f,  0.047412667f,  0.04893334f,
        0.050482087f,   0.05205907f,   0.053664397f,   0.055298265f,  0.056960758f,  0.05865208f,   0.060372323f,
        0.06212166f,    0.06390019f,   0.06570809f,    0.06754546f,   0.069412485f,  0.071309246f,  0.07323593f,
        0.07519261f,    0.077179484f,  0.079196624f,   0.081244215f,  0.083322324f,  0.08543115f,   0.08757077f,
        0.08974135f,    0.09194295f,   0.094175786f,   0.09643989f,   0.098735474f,  0.10106259f,   0.10342142f,
        0.10581202f,    0.10823459f,   0.11068917f,    0.11317596f,   0.11569499f,   0.11824648f,   0.12083047f,
        0.12344712f,    0.1260965f,    0.12877879f,    0.13149403f,   0.13424242f,   0.13702397f,   0.13983892f,
        0.14268726f,    0.14556922f,   0.1484848f,     0.15143421f,   0.15441746f,   0.15743478f,   0.16048618f,
        0.16357182f,    0.16669172f,   0.16984618f,    0.17303507f,   0.17625873f,   0.17951708f,   0.18281034f,
        0.18613853f,    0.18950185f,   0.19290029f,    0.19633411f,   0.1998032f,    0.20330793f,   0.20684813f,
        0.21042415f,    0.21403585f,   0.2176836f,     0.22136723f,   0.22508708f,   0.22884308f,   0.23263544f,
        0.2364641f,     0.2403294f,    0.24423116f,    0.24816978f,   0.25214505f,   0.25615737f,   0.26020655f,
        0.26429296f,    0.26841643f,   0.27257732f,    0.27677545f,   0.2810112f,    0.28528437f,   0.28959537f,
        0.293944f,      0.2983306f,    0.30275503f,    0.30721763f,   0.31171823f,   0.3162572f,    0.32083437f,
        0.32545006f,    0.33010414f,   0.33479697f,    0.3395283f,    0.34429857f,   0.34910765f,   0.35395575f,
        0.35884276f,    0.36376902f,   0.3687344f,     0.3737392f,    0.3787833f,    0.38386703f,   0.38899016f,
        0.39415315f,    0.3993557f,    0.40459827f,    0.40988058f,   0.4152031f,    0.42056555f,   0.42596835f,
        0.43141124f,    0.43689466f,   0.44241837f,    0.44798276f,   0.4535876f,    0.45923328f,   0.4649196f,
        0.47064695f,    0.47641504f,   0.48222438f,    0.48807463f,   0.49396625f,   0.4998991f,    0.5058734f,
        0.5118889f,     0.5179461f,    0.5240448f,     0.53018534f,   0.5363674f,    0.5425916f,    0.54885745f,
        0.5551656f,     0.56151557f,   0.56790787f,    0.5743423f,    0.58081925f,   0.5873383f,    0.5939002f,
        0.60050434f,    0.6071514f,    0.61384094f,    0.6205735f,    0.6273487f,    0.63416713f,   0.64102834f,
        0.6479329f,     0.6548804f,    0.6618714f,     0.6689055f,    0.67598325f,   0.6831044f,    0.6902692f,
        0.6974774f,     0.7047296f,    0.71202534f,    0.71936524f,   0.72674876f,   0.73417664f,   0.7416483f,
        0.7491644f,     0.7567245f,    0.76432914f,    0.77197796f,   0.7796715f,    0.7874093f,    0.795192f,
        0.8030191f,     0.8108912f,    0.81880796f,    0.8267698f,    0.8347764f,    0.8428283f,    0.8509251f,
        0.85906726f,    0.8672545f,    0.8754873f,     0.8837654f,    0.8920891f,    0.90045816f,   0.908873f,
        0.91733336f,    0.9258397f,    0.9343916f,     0.9429897f,    0.9516335f,    0.96032363f,   0.9690596f,
        0.977842f,      0.9866704f,    0.9955453f};
};

/// Returns the 8-bit sRGB code of a linear value: the nearest code of a curve with the exponent 0.41666. NaN becomes 0.
TEXTON_HD inline std::uint32_t srgb_code_of(float linear) {
    static constexpr SrgbSteps kSteps{};
    std::uint32_t code = 0;
    for (std::uint32_t step = 128; step > 0; step /= 2) {
        if (linear >= kSteps.of[code + step - 1]) code += step;
    }
    return code;
}

/// Returns the unorm code of a value: 0 to 1 maps to 0 to `largest`. Other values are clamped. NaN becomes 0.
TEXTON_HD inline std::uint32_t unorm_code_of(float value, float largest) {
    const float clamped = value > 0 ? (value < 1 ? value : 1) : 0;
    return static_cast<std::uint32_t>(clamped * largest + 0.5f);
}

/// Returns the snorm code of a value: -1 to 1 maps to -largest to `largest`. Other values are clamped, halves are
/// rounded away from zero, and NaN becomes 0.
TEXTON_HD inline std::uint32_t snorm_code_of(float value, float largest) {
    const std::uint32_t magnitude = unorm_code_of(value < 0 ? -value : value, largest);
    return value < 0 ? 0 - magnitude : magnitude;
}

/// Returns the nearest float16; ties go to the even code. Values that are too large become infinite. A NaN keeps its
/// upper bits and becomes quiet.
TEXTON_HD inline std::uint32_t half_code_of(float value) {
    const std::uint32_t bits = bits_of(value);
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u | (magnitude >> 13 & 0x3ffu);
    if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // rounds to infinity
    if (magnitude >= 0x38800000u) return sign | (((magnitude + 0xfffu + (magnitude >> 13 & 1)) >> 13) - (112u << 10));
    // Float32 values from 1/2 on are spaced like denormal float16 values, so the addition rounds to them.
    return sign | (bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f));
}

}  // namespace texton::detail
