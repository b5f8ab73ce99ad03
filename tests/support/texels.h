#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/view.h>

namespace texton::test {

using Bytes = std::vector<std::byte>;

/// Returns bytes that depend on the position and the seed.
[[nodiscard]] Bytes pattern(std::size_t count, unsigned seed);

/// Returns the packed texels of the view, read with copy().
[[nodiscard]] Bytes download(const ConstView& view);
/// Writes packed texels to the view with copy().
void upload(const View& view, std::span<const std::byte> bytes);

/// Layout of the texels of a view in a block of bytes.
struct Layout {
    std::size_t offset = 0;
    std::size_t pitch = 0;
    std::size_t slice_pitch = 0;
};

/// Reference implementation of copy(): moves byte by byte.
void reference_copy(std::span<std::byte> destination, Layout to, std::span<const std::byte> source, Layout from,
                    std::size_t row_bytes, std::size_t rows, std::size_t slices);

/// Compares bytes. The message gives the first difference and the number of differences instead of all bytes.
[[nodiscard]] testing::AssertionResult same_bytes(std::span<const std::byte> actual,
                                                  std::span<const std::byte> expected);

/// True if every byte equals `value`.
[[nodiscard]] testing::AssertionResult all_bytes(std::span<const std::byte> actual, unsigned value);

}  // namespace texton::test
