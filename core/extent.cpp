#include <texton/extent.h>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton {

std::string to_string(Extent extent) {
    if (extent.depth == 1) return fmt::format("{} x {}", extent.width, extent.height);
    return fmt::format("{} x {} x {}", extent.width, extent.height, extent.depth);
}

std::string to_string(Region region) {
    const Offset& at = region.offset;
    if (region.extent.depth == 1 && at.z == 0) {
        return fmt::format("{} at ({}, {})", to_string(region.extent), at.x, at.y);
    }
    return fmt::format("{} x {} x {} at ({}, {}, {})", region.extent.width, region.extent.height, region.extent.depth,
                       at.x, at.y, at.z);
}

bool contains(Extent outer, Region inner) noexcept {
    const auto fits = [](std::size_t side, std::size_t offset, std::size_t length) {
        return length > 0 && length <= side && offset <= side - length;
    };
    return fits(outer.width, inner.offset.x, inner.extent.width) &&
           fits(outer.height, inner.offset.y, inner.extent.height) &&
           fits(outer.depth, inner.offset.z, inner.extent.depth);
}

std::size_t checked_product(std::size_t a, std::size_t b, const char* object, const char* what) {
    std::size_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) {
        throw Error({.code = ErrorCode::overflow,
                     .object = object,
                     .problem = fmt::format("{} is {} * {}, which does not fit in 64 bits", what, a, b),
                     .remedy = "Use smaller values.",
                     .numbers = {{"left", a}, {"right", b}}});
    }
    return product;
}

}  // namespace texton
