#pragma once
// Texels of an array level on any device, copied to the host when the model of the texture unit reads them.
#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include <texton/array.h>

#include "arrays/unit/texture_view.h"

namespace texton::viewer {

/// Host cache of a level's texels. A miss copies a square of kSide x kSide texels, which is kept until destruction.
/// Later changes of the array are not seen for squares that are already copied.
///
/// The object keeps the array alive. It is not thread-safe.
class CopiedTexels final : public detail::PartialTexels {
public:
    static constexpr std::size_t kSide = 32;  ///< texels; a multiple of every block size

    /// Copies nothing yet.
    CopiedTexels(const Array& array, int level);

    /// Returns the memory of the texel, or of the block that contains it. The texel must be inside the level. The
    /// pointer is valid as long as this object. Blocks if the texel must be copied. Throws the errors of copy().
    const unsigned char* find(int x, int y, int z) override;
    /// Returns the number of bytes that were copied so far.
    std::size_t bytes() const noexcept { return bytes_; }

private:
    std::vector<std::byte> copied(const Offset& first) const;

    Array array_;
    int level_;
    Extent extent_;
    std::map<std::array<std::size_t, 3>, std::vector<std::byte>> squares_;  // keys: x, y, z of the first texel
    std::size_t bytes_ = 0;
};

}  // namespace texton::viewer
