#include "arrays/files/tiff_directory.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace texton::detail {
namespace {

constexpr std::uint64_t kMaxFields = 0xffff;

// Returns the bytes of a value of a type of field, if its values are unsigned integers.
unsigned bytes_of(std::uint64_t type) noexcept {
    switch (type) {
        case 3: return 2;   // SHORT
        case 4: return 4;   // LONG
        case 16: return 8;  // LONG8
        default: return 0;
    }
}

std::uint64_t number_in(std::span<const std::byte> bytes, bool big_endian) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        value = value << 8 | std::to_integer<std::uint64_t>(bytes[big_endian ? i : bytes.size() - 1 - i]);
    return value;
}

}  // namespace

TiffNumbers::TiffNumbers(const std::filesystem::path& path) : file_(path) {
    constexpr std::byte kBigEndian{'M'}, kLittleEndian{'I'};
    constexpr std::uint64_t kTiff = 42, kBigTiff = 43;
    std::byte header[16];
    const std::size_t got = file_.is_open() ? file_.read_at(0, header) : 0;
    if (got < 8 || header[0] != header[1] || (header[0] != kBigEndian && header[0] != kLittleEndian)) return;
    big_endian_ = header[0] == kBigEndian;
    const std::span<const std::byte> bytes(header);
    const std::uint64_t version = number_in(bytes.subspan(2, 2), big_endian_);
    large_ = version == kBigTiff;
    if (version == kTiff) next_ = number_in(bytes.subspan(4, 4), big_endian_);
    if (large_ && got == bytes.size()) next_ = number_in(bytes.subspan(8, 8), big_endian_);
}

std::optional<std::uint64_t> TiffNumbers::number(std::uint64_t at, unsigned bytes) const {
    std::byte stored[8];
    const std::span<std::byte> wanted(stored, bytes);
    if (file_.read_at(at, wanted) != bytes) return std::nullopt;
    return number_in(wanted, big_endian_);
}

std::optional<std::vector<std::uint64_t>> TiffNumbers::numbers(std::uint64_t at, unsigned bytes,
                                                               std::size_t count) const {
    std::vector<std::byte> stored(count * bytes);
    if (file_.read_at(at, stored) != stored.size()) return std::nullopt;
    std::vector<std::uint64_t> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = number_in(std::span<const std::byte>(stored).subspan(i * bytes, bytes), big_endian_);
    return values;
}

bool TiffNumbers::next_directory() {
    fields_.clear();
    is_last_ = false;
    const std::uint64_t at = next_;
    next_ = 0;
    if (at == 0) return false;
    const unsigned count_bytes = large_ ? 8 : 2, offset_bytes = large_ ? 8 : 4;
    const std::size_t entry_bytes = large_ ? 20 : 12;
    const std::uint64_t count = std::min(number(at, count_bytes).value_or(0), kMaxFields);
    std::vector<std::byte> entries(count * entry_bytes + offset_bytes);
    if (count == 0 || file_.read_at(at + count_bytes, entries) != entries.size()) return false;
    for (std::size_t i = 0; i < count; ++i) {
        const auto entry = std::span<const std::byte>(entries).subspan(i * entry_bytes, entry_bytes);
        const auto integer = [&](std::size_t first, std::size_t bytes) {
            return number_in(entry.subspan(first, bytes), big_endian_);
        };
        TiffField field;
        field.tag = static_cast<unsigned>(integer(0, 2));
        field.value_bytes = bytes_of(integer(2, 2));
        field.count = integer(4, offset_bytes);
        // The entry contains the values if they fit, or else their offset.
        const std::size_t value_at = 4 + offset_bytes;
        field.has_value = field.value_bytes != 0 && field.count != 0 && field.count <= offset_bytes / field.value_bytes;
        if (field.has_value) {
            field.at = at + count_bytes + i * entry_bytes + value_at;
            field.value = integer(value_at, field.value_bytes);
        } else {
            field.at = integer(value_at, offset_bytes);
        }
        fields_.push_back(field);
    }
    next_ = number_in(std::span<const std::byte>(entries).last(offset_bytes), big_endian_);
    is_last_ = next_ == 0;
    return true;
}

const TiffField* TiffNumbers::field(unsigned tag) const noexcept {
    const auto found = std::ranges::find(fields_, tag, &TiffField::tag);
    return found == fields_.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> TiffNumbers::value(unsigned tag, std::uint64_t absent) const noexcept {
    const TiffField* const found = field(tag);
    if (found == nullptr) return absent;
    return found->has_value ? std::optional(found->value) : std::nullopt;
}

TiffDirectory first_tiff_directory(const std::filesystem::path& path) {
    constexpr unsigned kImageDepth = 32997;
    TiffNumbers numbers(path);
    if (!numbers.next_directory()) return {};
    return {numbers.value(kImageDepth, 1).value_or(1), numbers.is_last()};
}

}  // namespace texton::detail
