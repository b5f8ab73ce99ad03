// Whether two images share memory, compared with marks on every byte.
#include <vector>

#include <gtest/gtest.h>

#include <texton/view.h>

#include "arrays/written_image.h"
#include "tests/support/arrays.h"

namespace texton {
namespace {

using test::Random;

constexpr std::size_t kBytes = 400;

/// Marks the bytes of the image's texels. Returns true if one of them was marked before.
bool mark(std::vector<bool>& marks, const std::byte* memory, const View& image) {
    bool met = false;
    const Extent extent = image.extent();
    for (std::size_t z = 0; z < extent.depth; ++z) {
        for (std::size_t y = 0; y < extent.height; ++y) {
            const std::byte* row = image.data() + z * image.slice_pitch() + y * image.pitch();
            for (std::size_t i = 0; i < row_bytes(image.format(), extent.width); ++i) {
                const auto at = static_cast<std::size_t>(row + i - memory);
                met = met || marks[at];
                marks[at] = true;
            }
        }
    }
    return met;
}

View random_image(Random& random, std::vector<std::byte>& memory) {
    constexpr Format kFormats[] = {Format::r8_unorm, Format::rg8_unorm, Format::rgba8_unorm};
    for (;;) {
        const Format format = kFormats[random.below(3)];
        const Extent extent{random.between(1, 6), random.between(1, 5), random.coin() ? 1 : random.between(1, 4)};
        const std::size_t pitch = row_bytes(format, extent.width) + random.below(24);
        const std::size_t slice_pitch = pitch * (extent.height + random.below(3));
        const std::size_t last = (extent.depth - 1) * slice_pitch + (extent.height - 1) * pitch;
        const std::size_t bytes = last + row_bytes(format, extent.width);
        if (bytes > kBytes) continue;
        return host_view(memory.data() + random.below(kBytes - bytes + 1), format, extent, pitch, slice_pitch);
    }
}

TEST(WrittenImageTest, ImagesMeetExactlyIfTheyShareAByte) {
    Random random(1);
    std::vector<std::byte> memory(kBytes);
    int met = 0;
    constexpr int kPairs = 20'000;
    for (int i = 0; i < kPairs; ++i) {
        const View a = random_image(random, memory);
        const View b = random_image(random, memory);
        std::vector<bool> marks(kBytes);
        (void)mark(marks, memory.data(), a);
        const bool expected = mark(marks, memory.data(), b);
        met += expected;
        ASSERT_EQ(detail::images_meet(a.location(), b.location()), expected) << i;
        ASSERT_EQ(detail::images_meet(b.location(), a.location()), expected) << i;
    }
    EXPECT_GT(met, kPairs / 10);
    EXPECT_LT(met, kPairs - kPairs / 10);
}

}  // namespace
}  // namespace texton
