#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/view.h>

namespace texton::test {

using Bytes = std::vector<std::byte>;

/// Bytes that differ from place to place and from seed to seed.
[[nodiscard]] Bytes pattern(std::size_t count, unsigned seed);

/// What the view covers, packed, through copy().
[[nodiscard]] Bytes download(const ConstView& view);
/// Packed bytes into the view, through copy().
void upload(const View& view, std::span<const std::byte> bytes);

/// Where the texels of a view lie in a block of bytes.
struct Layout {
    std::size_t offset = 0;
    std::size_t pitch = 0;
    std::size_t slice_pitch = 0;
};

/// One byte after the other: what copy() must do, in bytes and rows.
void reference_copy(std::span<std::byte> destination, Layout to, std::span<const std::byte> source, Layout from,
                    std::size_t row_bytes, std::size_t rows, std::size_t slices);

/// Compares without printing thousands of bytes: the first difference and how many there are.
[[nodiscard]] testing::AssertionResult same_bytes(std::span<const std::byte> actual,
                                                  std::span<const std::byte> expected);

/// True if every byte is `value`.
[[nodiscard]] testing::AssertionResult all_bytes(std::span<const std::byte> actual, unsigned value);

}  // namespace texton::test
