#pragma once
// Mutations of inputs, for fuzz targets without libFuzzer (driver.cpp) and for image files (isolated.cpp).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace texton::fuzz {

/// Contents of a file.
using Input = std::vector<std::uint8_t>;

/// Makes inputs from seeds, with 1 to 4 mutations each. The inputs depend only on the seeds, the words and the numbers of
/// the generator, so they are the same on every machine.
class Mutator {
public:
    /// `words` are inserted at random places; there can be none. Keeps references to all arguments.
    Mutator(const std::vector<Input>& seeds, const std::vector<Input>& words, std::mt19937& random)
        : seeds_(seeds), words_(words), random_(random) {}

    /// Returns a mutated copy of a random seed.
    Input next() { return next(seeds_[below(seeds_.size())]); }
    /// Returns a mutated copy of this seed.
    Input next(const Input& seed) {
        Input input = seed;
        for (std::size_t count = 1 + below(4); count > 0; --count) mutate(input);
        return input;
    }

private:
    std::size_t below(std::size_t count) { return random_() % count; }
    void insert(Input& input, std::span<const std::uint8_t> what) {
        const auto at = static_cast<std::ptrdiff_t>(below(input.size() + 1));
        input.insert(input.begin() + at, what.begin(), what.end());
    }
    // Returns a part of up to 64 bytes.
    template <class Bytes>
    auto part(Bytes& bytes) {
        const std::size_t first = below(bytes.size());
        return std::span(bytes).subspan(first, below(std::min<std::size_t>(64, bytes.size() - first)) + 1);
    }

    // Numbers of headers are mostly near the beginning, so half of the positions are in the first 128 bytes.
    std::size_t place(const Input& input, std::size_t bytes) {
        const std::size_t places = input.size() - bytes + 1;
        return below(below(2) == 0 ? places : std::min<std::size_t>(128, places));
    }

    // Replaces an integer of 16 or 32 bits in one of the byte orders.
    void replace_number(Input& input) {
        constexpr std::array<std::uint32_t, 24> kHostile = {
            0,       1,         2,          3,          7,          16,         0x7f,       0x80,
            0xff,    0x100,     0x7fff,     0x8000,     0x8001,     0xfffe,     0xffff,     0x10000,
            0xffff0, 0x1000000, 0x3fffffff, 0x40000000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
        const std::size_t bytes = below(2) == 0 ? 2 : 4;
        if (input.size() < bytes) return;
        const std::size_t at = place(input, bytes);
        const bool big_endian = below(2) == 0;
        const auto byte = [&](std::size_t i) -> std::uint8_t& { return input[at + (big_endian ? bytes - 1 - i : i)]; };
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i) value |= std::uint32_t{byte(i)} << 8 * i;
        switch (below(8)) {
            case 0: ++value; break;
            case 1: --value; break;
            case 2: value *= 2; break;
            case 3: value = ~value + 1; break;
            default: value = kHostile[below(kHostile.size())]; break;
        }
        for (std::size_t i = 0; i < bytes; ++i) byte(i) = static_cast<std::uint8_t>(value >> 8 * i);
    }

    void mutate(Input& input) {
        constexpr std::uint8_t kBytes[] = {0, 1, 0x7f, 0x80, 0xff, '0', '9', '-', '"', '[', '{'};
        if (input.empty()) input.push_back(0);
        switch (below(12)) {
            case 0: input[place(input, 1)] ^= static_cast<std::uint8_t>(1U << below(8)); break;
            case 1: input[place(input, 1)] = kBytes[below(std::size(kBytes))]; break;
            case 2: {  // a whole word of equal bytes
                const std::size_t at = below(input.size());
                std::fill_n(input.begin() + static_cast<std::ptrdiff_t>(at),
                            std::min<std::size_t>(4, input.size() - at), kBytes[below(std::size(kBytes))]);
                break;
            }
            case 3: {
                const auto erased = part(input);
                const auto first = input.begin() + (erased.data() - input.data());
                input.erase(first, first + static_cast<std::ptrdiff_t>(erased.size()));
                break;
            }
            case 4: {  // a part of the same or of another seed
                const Input& other = seeds_[below(seeds_.size())];
                if (!other.empty()) insert(input, part(other));
                break;
            }
            case 5: input.resize(below(input.size()) + 1); break;
            case 6:
                if (!words_.empty()) insert(input, words_[below(words_.size())]);
                break;
            case 7: {  // two blocks of the same size change places; they can overlap
                const auto first = part(input);
                const std::size_t second = below(input.size() - first.size() + 1);
                for (std::size_t i = 0; i < first.size(); ++i) std::swap(first[i], input[second + i]);
                break;
            }
            case 8: {  // a block follows itself, up to 16 times
                const auto block = part(input);
                const Input copy(block.begin(), block.end());
                const auto at = static_cast<std::size_t>(block.data() - input.data());
                for (std::size_t count = 1 + below(16); count > 0; --count) {
                    input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), copy.begin(), copy.end());
                }
                break;
            }
            default: replace_number(input); break;
        }
    }

    const std::vector<Input>& seeds_;
    const std::vector<Input>& words_;
    std::mt19937& random_;
};

}  // namespace texton::fuzz
