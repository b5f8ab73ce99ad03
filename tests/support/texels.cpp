#include "tests/support/texels.h"

#include <cstring>

#include <texton/copy.h>

namespace texton::test {

Bytes pattern(std::size_t count, unsigned seed) {
    Bytes bytes(count);
    std::uint64_t state = 0x9E3779B97F4A7C15ull * (seed + 1);
    for (std::size_t at = 0; at < count; at += sizeof(state)) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        std::memcpy(bytes.data() + at, &state, std::min(sizeof(state), count - at));
    }
    return bytes;
}

Bytes download(const ConstView& view) {
    Bytes bytes(packed_bytes(view.format(), view.extent()));
    copy(host_view(static_cast<void*>(bytes.data()), view.format(), view.extent()), view);
    return bytes;
}

void upload(const View& view, std::span<const std::byte> bytes) {
    ASSERT_EQ(bytes.size(), packed_bytes(view.format(), view.extent()));
    copy(view, host_view(static_cast<const void*>(bytes.data()), view.format(), view.extent()));
}

void reference_copy(std::span<std::byte> destination, Layout to, std::span<const std::byte> source, Layout from,
                    std::size_t row_bytes, std::size_t rows, std::size_t slices) {
    for (std::size_t z = 0; z < slices; ++z) {
        for (std::size_t y = 0; y < rows; ++y) {
            for (std::size_t x = 0; x < row_bytes; ++x) {
                const std::size_t target = to.offset + z * to.slice_pitch + y * to.pitch + x;
                const std::size_t origin = from.offset + z * from.slice_pitch + y * from.pitch + x;
                ASSERT_LT(target, destination.size());
                ASSERT_LT(origin, source.size());
                destination[target] = source[origin];
            }
        }
    }
}

testing::AssertionResult same_bytes(std::span<const std::byte> actual, std::span<const std::byte> expected) {
    if (actual.size() != expected.size()) {
        return testing::AssertionFailure() << actual.size() << " bytes, expected " << expected.size();
    }
    if (actual.empty() || std::memcmp(actual.data(), expected.data(), actual.size()) == 0) {
        return testing::AssertionSuccess();
    }
    std::size_t first = actual.size();
    std::size_t differing = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (actual[i] != expected[i]) {
            first = std::min(first, i);
            ++differing;
        }
    }
    return testing::AssertionFailure() << differing << " of " << actual.size() << " bytes differ, the first at "
                                       << first << ": " << static_cast<unsigned>(actual[first]) << ", expected "
                                       << static_cast<unsigned>(expected[first]);
}

testing::AssertionResult all_bytes(std::span<const std::byte> actual, unsigned value) {
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (static_cast<unsigned>(actual[i]) != value) {
            return testing::AssertionFailure() << "byte " << i << " of " << actual.size() << " is "
                                               << static_cast<unsigned>(actual[i]) << ", expected " << value;
        }
    }
    if (actual.empty()) return testing::AssertionFailure() << "there are no bytes to compare";
    return testing::AssertionSuccess();
}

}  // namespace texton::test
