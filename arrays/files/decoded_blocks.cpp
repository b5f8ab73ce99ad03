#include "arrays/files/decoded_blocks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "arrays/unit/bc_decode.h"
#include "arrays/unit/texel_format.h"
#include "core/parallel.h"

namespace texton::detail {
namespace {

constexpr std::size_t kSide = 4;  // of a block

// --- as the texture unit decodes them ---

template <class Code>
void store(const std::array<std::int32_t, 4>& channels, std::size_t count, std::byte* texel) {
    for (std::size_t c = 0; c < count; ++c) {
        const auto code = static_cast<Code>(channels[c]);
        std::memcpy(texel + c * sizeof(Code), &code, sizeof(Code));
    }
}

// Stores a texel in decoded_format().
void store_texel(const BlockTexel& texel, const FormatInfo& decoded, std::byte* to) {
    const auto& [red, green, blue, alpha] = texel.channel;
    if (decoded.kind == FormatKind::floating) {
        constexpr std::int32_t kNegativeZero = 0x8000, kOne = 0x3c00;
        const auto half = [](std::int32_t code) { return code == kNegativeZero ? 0 : code; };  // recording bc6h_zero
        store<std::uint16_t>({half(red), half(green), half(blue), kOne}, 4, to);
    } else if (decoded.bits == 16) {
        store<std::uint16_t>({red, green}, decoded.channels, to);
    } else {
        store<std::uint8_t>({red / 257, green / 257, blue / 257, alpha / 257}, 4, to);
    }
}

// --- the fractions of the specification ---

struct Ratio {
    int numerator, denominator;
    float value() const noexcept { return static_cast<float>(static_cast<double>(numerator) / denominator); }
};

// Returns the value of a code between two ends, of which the first has `steps` - `step` parts and the second `step`.
Ratio between(int end0, int end1, int step, int steps, int most) noexcept {
    return {end0 * (steps - step) + end1 * step, steps * most};
}

std::array<float, 4> exact_color(const BlockBits& bits, int base, int texel, bool three_colors_allowed) noexcept {
    const int end0 = static_cast<int>(bits.at(base, 16));
    const int end1 = static_cast<int>(bits.at(base + 16, 16));
    const int code = static_cast<int>(bits.at(base + 32 + 2 * texel, 2));
    const bool four_colors = !three_colors_allowed || end0 > end1;
    if (code == 3 && !four_colors) return {0, 0, 0, 0};
    const int steps = four_colors ? 3 : 2;
    const int step = code < 2 ? code * steps : code - 1;
    const auto channel = [&](int first, int most) {
        return between(end0 >> first & most, end1 >> first & most, step, steps, most).value();
    };
    return {channel(11, 31), channel(5, 63), channel(0, 31), 1};
}

// Returns a channel of BC4 and BC5, or alpha of BC3.
float exact_channel(const BlockBits& bits, int base, int texel, bool is_signed) noexcept {
    int end0 = static_cast<int>(bits.at(base, 8));
    int end1 = static_cast<int>(bits.at(base + 8, 8));
    if (is_signed) {  // -128 counts as -127
        end0 = std::max<int>(static_cast<std::int8_t>(end0), -127);
        end1 = std::max<int>(static_cast<std::int8_t>(end1), -127);
    }
    const int code = static_cast<int>(bits.at(base + 16 + 3 * texel, 3));
    const bool eight = end0 > end1;
    if (!eight && code == 7) return 1;
    if (!eight && code == 6) return is_signed ? -1 : 0;
    const int steps = eight ? 7 : 5;
    return between(end0, end1, code < 2 ? code * steps : code - 1, steps, is_signed ? 127 : 255).value();
}

std::array<float, 4> exact_texel(const unsigned char* block, int texel, const TexelFormat& format) noexcept {
    const BlockBits bits(block, format.bytes);
    const bool is_signed = format.encoding == Encoding::snorm;
    if (format.packing == Packing::bc4) return {exact_channel(bits, 0, texel, is_signed)};
    if (format.packing == Packing::bc5)
        return {exact_channel(bits, 0, texel, is_signed), exact_channel(bits, 64, texel, is_signed)};
    if (format.packing == Packing::bc1) return exact_color(bits, 0, texel, true);
    std::array<float, 4> color = exact_color(bits, 64, texel, false);
    color[3] = format.packing == Packing::bc2 ? Ratio{static_cast<int>(bits.at(4 * texel, 4)), 15}.value()
                                              : exact_channel(bits, 0, texel, false);
    return color;
}

// --- the source ---

bool has_choice(Format format) noexcept {
    const Packing packing = texel_format(format).packing;
    return packing >= Packing::bc1 && packing <= Packing::bc5;
}

Format format_for(Format format, BlockDecoding decoding) {
    if (decoding == BlockDecoding::gpu || !has_choice(format)) return decoded_format(format);
    return with_channels(Format::r32_float, info(format).channels);
}

class DecodedBlocks : public ImageSource {
public:
    DecodedBlocks(ImageSourcePtr file, BlockDecoding decoding)
        : ImageSource(format_for(file->format(), decoding), file->srgb(), file->levels()),
          file_(std::move(file)),
          blocks_(texel_format(file_->format())),
          exact_(decoding == BlockDecoding::exact && has_choice(file_->format())) {}

    void read(int level, const Region& box, std::byte* packed) const override {
        const Extent whole_level = this->level(level);
        Region covering = box;
        widen(covering.offset.x, covering.extent.width, whole_level.width);
        widen(covering.offset.y, covering.extent.height, whole_level.height);
        const auto blocks = std::make_unique_for_overwrite<std::byte[]>(packed_bytes(file_->format(), covering.extent));
        file_->read(level, covering, blocks.get());
        const std::size_t columns = (covering.extent.width + kSide - 1) / kSide;
        const std::size_t rows = (covering.extent.height + kSide - 1) / kSide;
        run_in_parallel(rows * box.extent.depth, [&](std::size_t line) {
            const std::byte* from = blocks.get() + line * columns * info(file_->format()).bytes;
            std::byte* slice = packed + line / rows * box.extent.height * row_bytes(format(), box.extent.width);
            for (std::size_t column = 0; column < columns; ++column) {
                const Offset at{covering.offset.x + column * kSide, covering.offset.y + line % rows * kSide};
                decode(from + column * info(file_->format()).bytes, at, box, slice);
            }
        });
    }

    std::vector<Region> boxes(int level, std::size_t max_bytes) const override {
        const std::size_t share = max_bytes / (kSide * kSide * info(format()).bytes) * info(file_->format()).bytes;
        return file_->boxes(level, std::max<std::size_t>(share, 1));
    }
    ImageAccess access(int level) const override { return file_->access(level); }

private:
    // Widens a range to whole blocks.
    static void widen(std::size_t& offset, std::size_t& length, std::size_t side) noexcept {
        const std::size_t end = std::min(side, (offset + length + kSide - 1) / kSide * kSide);
        offset = offset / kSide * kSide;
        length = end - offset;
    }

    // Decodes the texels of a block, whose first texel is `at`, that lie in the box.
    void decode(const std::byte* block, Offset at, const Region& box, std::byte* slice) const {
        const auto* bytes = reinterpret_cast<const unsigned char*>(block);
        const std::size_t texel_bytes = info(format()).bytes;
        const std::size_t right = std::min(at.x + kSide, box.offset.x + box.extent.width);
        const std::size_t bottom = std::min(at.y + kSide, box.offset.y + box.extent.height);
        for (std::size_t y = std::max(at.y, box.offset.y); y < bottom; ++y) {
            for (std::size_t x = std::max(at.x, box.offset.x); x < right; ++x) {
                std::byte* to = slice + ((y - box.offset.y) * box.extent.width + (x - box.offset.x)) * texel_bytes;
                const int column = static_cast<int>(x - at.x), row = static_cast<int>(y - at.y);
                if (exact_) {
                    const std::array<float, 4> texel =
                        exact_texel(bytes, static_cast<int>(kSide) * row + column, blocks_);
                    std::memcpy(to, texel.data(), texel_bytes);
                } else {
                    store_texel(decode_block_texel(bytes, column, row, blocks_), info(format()), to);
                }
            }
        }
    }

    ImageSourcePtr file_;
    TexelFormat blocks_;
    bool exact_;
};

}  // namespace

Format decoded_format(Format format) noexcept {
    const FormatInfo& row = info(format);
    if (row.layout != FormatLayout::block) return format;
    if (row.kind == FormatKind::floating) return Format::rgba16_float;
    if (row.channels == 4) return row.kind == FormatKind::srgb ? Format::rgba8_srgb : Format::rgba8_unorm;
    return with_channels(row.kind == FormatKind::snorm ? Format::r16_snorm : Format::r16_unorm, row.channels);
}

ImageSourcePtr decoded_blocks(ImageSourcePtr file, BlockDecoding decoding) {
    return std::make_shared<DecodedBlocks>(std::move(file), decoding);
}

}  // namespace texton::detail
