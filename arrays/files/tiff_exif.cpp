#include "arrays/files/tiff_exif.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// Declared here, since tiffutils.h of OpenImageIO includes headers of libtiff.
OIIO_NAMESPACE_BEGIN
OIIO_API bool exif_tag_lookup(string_view name, int& tag, int& tifftype, int& count);
OIIO_NAMESPACE_END

namespace texton::detail {
namespace {

using Bytes = std::vector<std::byte>;

constexpr unsigned kExifDirectory = 34665;  // tag of the field that refers to an Exif directory

// How a TIFF or a BigTIFF stores numbers.
struct Layout {
    bool large = false;  // BigTIFF

    std::size_t count_bytes() const noexcept { return large ? 8 : 2; }
    std::size_t offset_bytes() const noexcept { return large ? 8 : 4; }
    std::size_t entry_bytes() const noexcept { return large ? 20 : 12; }
    std::uint64_t first_link() const noexcept { return large ? 8 : 4; }  // offset of the offset of the first directory
};

std::uint64_t number_in(std::span<const std::byte> bytes) noexcept {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
}

void put(Bytes& out, std::uint64_t value, std::size_t bytes) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), first, first + bytes);
}

// Types of values, as TIFF numbers them.
enum Type : unsigned {
    kByte = 1,
    kText = 2,
    kShort = 3,
    kLong = 4,
    kRational = 5,
    kSignedByte = 6,
    kUndefined = 7,
    kSignedShort = 8,
    kSignedLong = 9,
    kSignedRational = 10,
    kLong8 = 16
};

// Returns the simplest fraction that is equal to a value as a float. Values that no fraction can have become 0/0, which
// means that a value is not known.
std::pair<std::int64_t, std::int64_t> fraction_of(float value, std::int64_t most) {
    if (!(std::abs(value) < static_cast<float>(most))) return {0, 0};
    std::int64_t above = 1, below = 0, old_above = 0, old_below = 1;
    for (double rest = std::abs(value);;) {  // a continued fraction
        const double whole = std::floor(rest);
        const double next_above = whole * static_cast<double>(above) + static_cast<double>(old_above);
        const double next_below = whole * static_cast<double>(below) + static_cast<double>(old_below);
        const auto limit = static_cast<double>(most);
        if (next_above > limit || next_below > limit) break;
        old_above = std::exchange(above, static_cast<std::int64_t>(next_above));
        old_below = std::exchange(below, static_cast<std::int64_t>(next_below));
        if (rest == whole || static_cast<float>(next_above / next_below) == std::abs(value)) break;
        rest = 1 / (rest - whole);
    }
    return {value < 0 ? -above : above, below};
}

// Returns an attribute as a field, if Exif has one for it.
std::optional<ExifField> field_of(const OIIO::ParamValue& attribute) {
    int tag = 0, type = 0, count = 0;
    if (!OIIO::exif_tag_lookup(attribute.name(), tag, type, count)) return std::nullopt;
    ExifField field{.tag = static_cast<unsigned>(tag), .type = static_cast<unsigned>(type), .count = 0, .values = {}};
    const bool is_text = attribute.type().basetype == OIIO::TypeDesc::STRING;
    if (is_text != (field.type == kText || field.type == kUndefined)) return std::nullopt;
    const bool is_rational = attribute.type() == OIIO::TypeRational;
    const std::size_t elements =
        is_rational ? 1 : attribute.type().basevalues() * static_cast<std::size_t>(attribute.nvalues());
    const auto each = [&](std::size_t bytes, const auto& value_of) {
        for (std::size_t i = 0; i < elements; ++i)
            put(field.values, static_cast<std::uint64_t>(value_of(static_cast<int>(i))), bytes);
        field.count = elements;
    };
    const auto integer = [&](int i) { return attribute.get_int_indexed(i); };
    switch (field.type) {
        case kText:
        case kUndefined: {
            const std::string text = attribute.get_string();
            const auto bytes = std::as_bytes(std::span(text.c_str(), text.size() + (field.type == kText ? 1 : 0)));
            field.values.assign(bytes.begin(), bytes.end());
            field.count = bytes.size();
            break;
        }
        case kByte:
        case kSignedByte: each(1, integer); break;
        case kShort:
        case kSignedShort: each(2, integer); break;
        case kLong:
        case kSignedLong: each(4, integer); break;
        case kRational:
        case kSignedRational:
            each(8, [&](int i) {
                const bool has_sign = field.type == kSignedRational;
                const float value = attribute.get_float_indexed(i);
                const auto [above, below] = value < 0 && !has_sign
                                                ? std::pair<std::int64_t, std::int64_t>()
                                                : fraction_of(value, has_sign ? 0x7fffffff : 0xffffffff);
                return (static_cast<std::uint64_t>(below) << 32) | (static_cast<std::uint64_t>(above) & 0xffffffff);
            });
            break;
        default: break;
    }
    return field.count == 0 ? std::nullopt : std::optional(std::move(field));
}

// Returns a directory that will be at `at`, followed by the values that do not fit into it.
Bytes directory_of(const Layout& layout, std::span<const ExifField> fields, std::uint64_t at) {
    Bytes directory, values;
    const std::uint64_t values_at =
        at + layout.count_bytes() + fields.size() * layout.entry_bytes() + layout.offset_bytes();
    put(directory, fields.size(), layout.count_bytes());
    for (const ExifField& field : fields) {
        put(directory, field.tag, 2);
        put(directory, field.type, 2);
        put(directory, field.count, layout.offset_bytes());
        if (field.values.size() <= layout.offset_bytes()) {
            directory.insert(directory.end(), field.values.begin(), field.values.end());
            directory.resize(directory.size() + layout.offset_bytes() - field.values.size());
        } else {
            put(directory, values_at + values.size(), layout.offset_bytes());
            values.insert(values.end(), field.values.begin(), field.values.end());
            values.resize(values.size() + values.size() % 2);  // offsets are even
        }
    }
    put(directory, 0, layout.offset_bytes());  // no other directory
    directory.insert(directory.end(), values.begin(), values.end());
    return directory;
}

// Reads and changes a TIFF file that is written.
class Editor {
public:
    explicit Editor(NewFile& file) : file_(file) {
        constexpr unsigned kBigTiff = 43;
        layout_.large = number(2, 2) == kBigTiff;
        const std::optional<std::uint64_t> size = file_.size();
        if (!size) file_.fail(errno);
        end_ = *size + *size % 2;
        link_ = layout_.first_link();
    }

    // Goes to the next directory. Returns false if there is none.
    bool next() {
        const std::uint64_t at = number(link_, layout_.offset_bytes());
        if (at == 0) return false;
        const std::uint64_t count = number(at, layout_.count_bytes());
        if (count > kMaxEntries) file_.fail(EIO);
        entries_.resize(count * layout_.entry_bytes());
        read(at + layout_.count_bytes(), entries_);
        previous_link_ = std::exchange(link_, at + layout_.count_bytes() + entries_.size());
        return true;
    }

    // Moves the directory to the end of the file, with a reference to an Exif directory.
    void add(std::span<const ExifField> fields) {
        const std::uint64_t next = number(link_, layout_.offset_bytes());
        const std::uint64_t exif_at = append(directory_of(layout_, fields, end_));
        Bytes entry;
        put(entry, kExifDirectory, 2);
        put(entry, layout_.large ? kLong8 : kLong, 2);
        put(entry, 1, layout_.offset_bytes());
        put(entry, exif_at, layout_.offset_bytes());
        std::size_t place = 0;  // the entries are sorted by their tags
        while (place < entries_.size() && number_in(std::span(entries_).subspan(place, 2)) < kExifDirectory)
            place += layout_.entry_bytes();
        entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(place), entry.begin(), entry.end());
        Bytes directory;
        put(directory, entries_.size() / layout_.entry_bytes(), layout_.count_bytes());
        directory.insert(directory.end(), entries_.begin(), entries_.end());
        put(directory, next, layout_.offset_bytes());
        const std::uint64_t moved_to = append(directory);
        Bytes link;
        put(link, moved_to, layout_.offset_bytes());
        write(previous_link_, link);
        link_ = moved_to + layout_.count_bytes() + entries_.size();
    }

private:
    static constexpr std::uint64_t kMaxEntries = 0xffff;

    void read(std::uint64_t at, std::span<std::byte> bytes) {
        errno = 0;
        if (file_.read_at(at, bytes) != bytes.size()) file_.fail(errno != 0 ? errno : EIO);
    }
    std::uint64_t number(std::uint64_t at, std::size_t bytes) {
        std::byte stored[8];
        read(at, std::span(stored, bytes));
        return number_in(std::span(stored, bytes));
    }
    void write(std::uint64_t at, std::span<const std::byte> bytes) {
        if (const int error = file_.write_at(at, bytes); error != 0) file_.fail(error);
    }
    std::uint64_t append(const Bytes& bytes) {
        const std::uint64_t at = end_;
        end_ += bytes.size() + bytes.size() % 2;
        if (!layout_.large && end_ > std::numeric_limits<std::uint32_t>::max()) file_.fail(EFBIG);
        write(at, bytes);
        return at;
    }

    NewFile& file_;
    Layout layout_;
    std::uint64_t end_ = 0;            // where the next bytes are appended
    std::uint64_t link_ = 0;           // offset of the offset of the next directory
    std::uint64_t previous_link_ = 0;  // offset of the offset of this directory
    Bytes entries_;                    // of this directory
};

}  // namespace

std::vector<ExifField> exif_fields(const OIIO::ImageSpec& spec) {
    OIIO::ImageSpec described = spec;
    if (spec.get_string_attribute("oiio:ColorSpace") == "sRGB") described.attribute("Exif:ColorSpace", 1);
    std::vector<ExifField> fields;
    for (const OIIO::ParamValue& attribute : described.extra_attribs) {
        const std::string_view name(attribute.name().c_str());
        if (!name.starts_with("Exif:") && name != "ExposureTime" && name != "FNumber") continue;
        if (std::optional<ExifField> field = field_of(attribute)) fields.push_back(*std::move(field));
    }
    std::ranges::sort(fields, {}, &ExifField::tag);
    return fields;
}

void add_exif(NewFile& file, std::span<const std::vector<ExifField>> images) {
    if (std::ranges::all_of(images, [](const auto& fields) { return fields.empty(); })) return;
    Editor editor(file);
    for (const std::vector<ExifField>& fields : images) {
        if (!editor.next()) return;
        if (!fields.empty()) editor.add(fields);
    }
}

}  // namespace texton::detail
