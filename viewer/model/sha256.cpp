// FIPS 180-4, sections 4.1.2 (functions), 4.2.2 (constants), 5.1.1 (padding) and 6.2 (computation).
#include "viewer/model/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace texton::verify {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kConstants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace

void Sha256::add_block(const std::uint8_t* block) {
    std::array<std::uint32_t, 64> text;
    for (std::size_t i = 0; i < 16; ++i) {
        text[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
                  std::uint32_t{block[4 * i + 2]} << 8 | std::uint32_t{block[4 * i + 3]};
    }
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t early = text[i - 15], late = text[i - 2];
        text[i] = text[i - 16] + (std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3) + text[i - 7] +
                  (std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                                    kConstants[i] + text[i];
        const std::uint32_t second =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    const std::array<std::uint32_t, 8> sums{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state_[i] += sums[i];
}

void Sha256::add(std::span<const std::byte> bytes) {
    bytes_ += bytes.size();
    while (!bytes.empty()) {
        const std::size_t count = std::min(bytes.size(), block_.size() - in_block_);
        std::memcpy(block_.data() + in_block_, bytes.data(), count);
        bytes = bytes.subspan(count);
        in_block_ += count;
        if (in_block_ < block_.size()) return;
        add_block(block_.data());
        in_block_ = 0;
    }
}

std::string Sha256::finish() {
    const std::uint64_t bits = bytes_ * 8;
    // The padding is a 1 bit, 0 bits, and the length of the message in bits in the last 8 bytes of a block.
    std::array<std::byte, 72> padding{std::byte{0x80}};
    const std::size_t zeros_end = in_block_ < 56 ? 56 - in_block_ : 120 - in_block_;
    for (std::size_t i = 0; i < 8; ++i) padding[zeros_end + i] = static_cast<std::byte>(bits >> (56 - 8 * i));
    add(std::span(padding).first(zeros_end + 8));
    std::string out;
    for (const std::uint32_t word : state_) out += fmt::format("{:08x}", word);
    return out;
}

std::string sha256(std::span<const std::byte> bytes) {
    Sha256 hash;
    hash.add(bytes);
    return hash.finish();
}

}  // namespace texton::verify
