#pragma once
// KTX2 files for tests, assembled from the fields of the specification without Texton's writer.
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "tests/support/texels.h"

namespace texton::test {

/// A file: header, index, data format descriptor, keys and values, levels with the smallest one first. Members have the
/// names of the specification.
struct Ktx2File {
    std::uint32_t vk_format = 37, type_size = 1;
    std::uint32_t width = 1, height = 1, depth = 0, layer_count = 0, face_count = 1, level_count = 1;
    std::uint32_t scheme = 0;
    std::vector<std::uint32_t> descriptor{};
    std::string pairs{};
    std::vector<Bytes> levels{};                      ///< stored bytes, the largest level first
    std::vector<std::uint64_t> uncompressed_bytes{};  ///< empty: the sizes of `levels`
    std::size_t padding = 0;                          ///< bytes between all parts

    Bytes bytes() const {
        Bytes file;
        constexpr std::array<unsigned char, 12> kIdentifier{0xab, 'K',  'T',  'X',  ' ',  '2',
                                                            '0',  0xbb, '\r', '\n', 0x1a, '\n'};
        for (const unsigned char byte : kIdentifier) file.push_back(std::byte{byte});
        for (const std::uint32_t word :
             {vk_format, type_size, width, height, depth, layer_count, face_count, level_count, scheme})
            put(file, word);
        std::size_t at = 80 + 24 * levels.size() + padding;
        put(file, static_cast<std::uint32_t>(at));
        put(file, static_cast<std::uint32_t>(descriptor.size() * 4));
        at += descriptor.size() * 4 + padding;
        put(file, static_cast<std::uint32_t>(at));
        put(file, static_cast<std::uint32_t>(pairs.size()));
        at += pairs.size() + padding;
        put(file, std::uint64_t{0});
        put(file, std::uint64_t{0});
        std::vector<std::uint64_t> offsets(levels.size());
        for (std::size_t level = levels.size(); level-- > 0; at += levels[level].size() + padding) offsets[level] = at;
        for (std::size_t level = 0; level < levels.size(); ++level) {
            put(file, offsets[level]);
            put(file, static_cast<std::uint64_t>(levels[level].size()));
            put(file, uncompressed_bytes.empty() ? levels[level].size() : uncompressed_bytes[level]);
        }
        const auto pad = [&] { file.resize(file.size() + padding, std::byte{0xee}); };
        pad();
        for (const std::uint32_t word : descriptor) put(file, word);
        pad();
        for (const char byte : pairs) file.push_back(static_cast<std::byte>(byte));
        for (std::size_t level = levels.size(); level-- > 0;) {
            pad();
            file.insert(file.end(), levels[level].begin(), levels[level].end());
        }
        return file;
    }

    template <class T>
    static void put(Bytes& file, T value) {
        file.resize(file.size() + sizeof(value));
        std::memcpy(file.data() + file.size() - sizeof(value), &value, sizeof(value));
    }

    /// Returns a key and its value with their length and padding.
    static std::string pair(const std::string& key, const std::string& value) {
        const std::string both = key + '\0' + value;
        const auto length = static_cast<std::uint32_t>(both.size());
        std::string packed(sizeof(length), '\0');
        std::memcpy(packed.data(), &length, sizeof(length));
        packed += both;
        packed.resize((packed.size() + 3) / 4 * 4);
        return packed;
    }

    /// Returns the first words of a descriptor, without samples.
    static std::vector<std::uint32_t> colors(std::uint32_t model, std::uint32_t primaries, std::uint32_t transfer,
                                             std::uint32_t flags) {
        return {28, 0, 2 | 24 << 16, model | primaries << 8 | transfer << 16 | flags << 24, 0, 0, 0};
    }
};

/// Returns a frame of Zstandard as RFC 8878 defines it: one block that repeats a byte, fewer than 256 times.
inline Bytes zstd_frame_of(std::uint8_t count, std::uint8_t byte) {
    const std::uint32_t block = std::uint32_t{count} << 3 | 1 << 1 | 1;  // its size, the type RLE, the last block
    Bytes frame;
    for (const std::uint32_t value : {0x28u, 0xb5u, 0x2fu, 0xfdu, 0x20u, std::uint32_t{count}, block & 0xff,
                                      block >> 8 & 0xff, block >> 16, std::uint32_t{byte}})
        frame.push_back(static_cast<std::byte>(value));
    return frame;
}

/// Returns a stream of zlib as RFC 1950 and RFC 1951 define it, of bytes that are stored without compression.
inline Bytes zlib_stream_of(std::span<const std::byte> content) {
    std::uint32_t low = 1, high = 0;  // Adler-32
    for (const std::byte byte : content) {
        low = (low + std::to_integer<std::uint32_t>(byte)) % 65521;
        high = (high + low) % 65521;
    }
    const auto count = static_cast<std::uint32_t>(content.size());
    Bytes stream;
    const auto put = [&](std::uint32_t value) { stream.push_back(static_cast<std::byte>(value)); };
    for (const std::uint32_t value : {0x78u, 1u, 1u, count & 0xff, count >> 8, ~count & 0xff, ~count >> 8 & 0xff})
        put(value);
    stream.insert(stream.end(), content.begin(), content.end());
    for (const std::uint32_t value : {high >> 8, high & 0xff, low >> 8, low & 0xff}) put(value);
    return stream;
}

}  // namespace texton::test
