#include "viewer/inspect/copied_texels.h"

#include <algorithm>

#include <texton/copy.h>

namespace texton::viewer {

CopiedTexels::CopiedTexels(const Array& array, int level)
    : array_(array.block()), level_(level), extent_(level_extent(array.info(), level)) {}

std::vector<std::byte> CopiedTexels::copied(const Offset& first) const {
    const Format format = array_.info().format;
    const Extent extent{std::min(kSide, extent_.width - first.x), std::min(kSide, extent_.height - first.y)};
    std::vector<std::byte> texels(packed_bytes(format, extent));
    copy(host_view(texels.data(), format, extent), array_.view({.level = level_, .region = Region{first, extent}}));
    return texels;
}

const unsigned char* CopiedTexels::find(int x, int y, int z) {
    const auto column = static_cast<std::size_t>(x), row = static_cast<std::size_t>(y);
    const Offset first{column / kSide * kSide, row / kSide * kSide, static_cast<std::size_t>(z)};
    auto square = squares_.find({first.x, first.y, first.z});
    if (square == squares_.end()) {
        square = squares_.emplace(std::array{first.x, first.y, first.z}, copied(first)).first;
        bytes_ += square->second.size();
    }
    const Format format = array_.info().format;
    const std::size_t side = block_side(format);
    const std::size_t pitch = row_bytes(format, std::min(kSide, extent_.width - first.x));
    return reinterpret_cast<const unsigned char*>(square->second.data()) + (row - first.y) / side * pitch +
           (column - first.x) / side * info(format).bytes;
}

}  // namespace texton::viewer
