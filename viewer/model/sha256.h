#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace texton::verify {

/// Computes the hash SHA-256 of FIPS 180-4. Not thread-safe.
class Sha256 {
public:
    /// Appends bytes to the message.
    void add(std::span<const std::byte> bytes);
    /// Returns the hash as 64 hexadecimal digits. The object must not be used afterwards.
    std::string finish();

private:
    void add_block(const std::uint8_t* block);

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> block_{};
    std::size_t in_block_ = 0;
    std::uint64_t bytes_ = 0;
};

/// Returns the hash of the bytes as 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::span<const std::byte> bytes);

}  // namespace texton::verify
