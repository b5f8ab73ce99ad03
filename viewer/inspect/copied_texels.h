#pragma once
// Texels of a level of an array of any device, copied to the host where the model asks for them.
#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include <texton/array.h>

#include "arrays/unit/texture_view.h"

namespace texton::viewer {

/// Copies squares of kSide x kSide texels, each once and whole blocks of block-compressed formats, and keeps them. For an array that
/// does not change. Of one thread at a time.
class CopiedTexels final : public detail::PartialTexels {
public:
    static constexpr std::size_t kSide = 32;

    /// Keeps the array.
    CopiedTexels(const Array& array, int level);

    /// Throws what copy() throws.
    const unsigned char* find(int x, int y, int z) override;
    /// That have been copied.
    std::size_t bytes() const noexcept { return bytes_; }

private:
    std::vector<std::byte> copied(const Offset& first) const;

    Array array_;
    int level_;
    Extent extent_;
    std::map<std::array<std::size_t, 3>, std::vector<std::byte>> squares_;  // by their first texels
    std::size_t bytes_ = 0;
};

}  // namespace texton::viewer
