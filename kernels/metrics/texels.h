// Reads texels in host memory as ordered codes, and converts codes to values.
#pragma once
#include <span>

#include "kernels/metrics/codes.h"

namespace texton::detail {

class TexelReader : public CodeFormat {
public:
    /// Expects a view of host memory with a plain or packed format.
    explicit TexelReader(const ConstView& view);

    Extent extent() const { return extent_; }

    /// Returns the address of the texel at `at`. The texels to its right follow.
    const std::byte* bytes(Offset at) const {
        return data_ + at.z * slice_pitch_ + at.y * pitch_ + at.x * texel_bytes();
    }

    /// Writes the codes of `count` texels, with the channels of each texel together.
    void read(Offset at, std::size_t count, std::uint32_t* codes) const;
    /// Writes finite_value() of the first `values.size()` channels of `count` texels.
    void read_finite(Offset at, std::size_t count, double scale, std::span<float* const> values) const;

private:
    const std::byte* data_;
    std::size_t pitch_;
    std::size_t slice_pitch_;
    Extent extent_;
};

}  // namespace texton::detail
