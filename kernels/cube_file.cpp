// Cube files contain lines with keywords, followed by one line per entry. Comments and empty lines may be anywhere.
#include <texton/cube_file.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/pixel_encode.h>

#include "arrays/unit/texel_format.h"
#include "core/file_error.h"
#include "core/new_file.h"
#include "core/request.h"
#include "kernels/launch/checks.h"

namespace texton {
namespace {

constexpr const char* kRead = "texton::read_cube_file";
constexpr const char* kParse = "texton::parse_cube";
constexpr const char* kWrite = "texton::write_cube_file";
constexpr const char* kArray = "texton::cube_array";

constexpr std::size_t max_entries(int dimensions) { return dimensions == 1 ? 65536 : 256; }  // along an axis
constexpr std::size_t all_entries(int dimensions, std::size_t size) {
    return dimensions == 1 ? size : size * size * size;
}

/// Returns the first channel whose low is not below its high, if there is one.
std::optional<int> bad_channel(const LutDomain& domain) {
    for (int i = 0; i < 3; ++i) {
        if (!(domain.low[i] < domain.high[i])) return i;
    }
    return std::nullopt;
}

// --- reading ---------------------------------------------------------------------------------------------------------

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Splits a trimmed text into its first word and the trimmed rest.
std::pair<std::string_view, std::string_view> split_word(std::string_view text) {
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    return {text.substr(0, end), trimmed(text.substr(end))};
}

template <class Number>
std::errc parse_number(std::string_view word, Number& number) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return end == word.data() + word.size() ? error : std::errc::invalid_argument;
}

std::optional<float> parse_float(std::string_view word) {
    if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
    float number = 0;
    std::errc error = parse_number(word, number);
    if (error == std::errc::result_out_of_range) {  // too large for a float, or so small that it is 0
        double wide = 0;
        error = parse_number(word, wide);
        number = static_cast<float>(wide);
    }
    if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
    return number;
}

class CubeParser {
public:
    CubeParser(const char* object, std::string_view name) : object_(object), name_(name) {}

    CubeLut parse(std::string_view text) {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            ++line_;
            take_line(trimmed(text.substr(0, end)));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        if (lut_.size == 0) refuse("there is no LUT_1D_SIZE or LUT_3D_SIZE", "Add one of them before the entries.");
        if (lut_.entries.size() != 3 * wanted_)
            refuse(fmt::format("the file ends after {} of {} entries", lut_.entries.size() / 3, wanted_),
                   "The file may be truncated: check it, or correct the size.");
        check_domain();
        return std::move(lut_);
    }

private:
    [[noreturn]] void refuse(const std::string& problem, std::string remedy) const {
        throw Error({.code = ErrorCode::io,
                     .object = object_,
                     .problem = fmt::format("{}, line {}: {}", name_, line_, problem),
                     .remedy = std::move(remedy),
                     .numbers = {{"line", line_}}});
    }

    void take_line(std::string_view line) {
        if (line.empty() || line[0] == '#') return;
        const auto [word, rest] = split_word(line);
        if (parse_float(word)) return take_entry(line);
        if (!lut_.entries.empty())
            refuse(fmt::format("{} follows the first entry", detail::quoted(word)),
                   "Write all keywords before the entries, which are three numbers per line.");
        take_keyword(word, rest);
    }

    void take_entry(std::string_view line) {
        if (lut_.size == 0)
            refuse("an entry is before LUT_1D_SIZE or LUT_3D_SIZE", "Write all keywords before the entries.");
        if (lut_.entries.size() == 3 * wanted_)
            refuse(fmt::format("there are more entries than the {} that the size specifies", wanted_),
                   "Remove the additional entries, or correct the size.");
        float values[3];
        parse_three(line, values);
        lut_.entries.insert(lut_.entries.end(), std::begin(values), std::end(values));
    }

    void take_keyword(std::string_view word, std::string_view rest) {
        if (std::ranges::find(seen_, word) != seen_.end())
            refuse(fmt::format("{} is given a second time", detail::quoted(word)), "Use each keyword once.");
        seen_.push_back(word);
        if (word == "TITLE") return take_title(rest);
        if (word == "LUT_1D_SIZE") return take_size(1, rest);
        if (word == "LUT_3D_SIZE") return take_size(3, rest);
        if (word == "DOMAIN_MIN") return take_domain(rest, lut_.domain.low);
        if (word == "DOMAIN_MAX") return take_domain(rest, lut_.domain.high);
        refuse(fmt::format("{} is neither a keyword nor a number", detail::quoted(word)),
               "Use TITLE, LUT_1D_SIZE, LUT_3D_SIZE, DOMAIN_MIN, DOMAIN_MAX, three numbers, or # for a comment.");
    }

    void take_title(std::string_view rest) {
        if (rest.size() < 2 || rest.front() != '"' || rest.back() != '"')
            refuse("the title is not in quotes", "Write TITLE \"text\".");
        const std::string_view title = rest.substr(1, rest.size() - 2);
        if (title.find_first_of("\"\r") != title.npos)
            refuse("the title contains a quote or a line end", "Remove quotes and line ends from the title.");
        lut_.title = title;
    }

    void take_size(int dimensions, std::string_view rest) {
        if (lut_.size != 0) refuse("a second size is given", "Write one table per file, with one or three dimensions.");
        const std::size_t maximum = max_entries(dimensions);
        if (parse_number(rest, lut_.size) != std::errc() || lut_.size < 2 || lut_.size > maximum)
            refuse(fmt::format("the size is {}", detail::quoted(rest)),
                   fmt::format("Use a whole number from 2 to {}.", maximum));
        lut_.dimensions = dimensions;
        wanted_ = all_entries(dimensions, lut_.size);
    }

    void take_domain(std::string_view rest, float (&values)[3]) {
        parse_three(rest, values);
        domain_line_ = line_;
    }

    void parse_three(std::string_view text, float (&values)[3]) const {
        std::string_view left = text;
        bool good = true;
        for (float& value : values) {
            const auto [word, rest] = split_word(left);
            const std::optional<float> number = parse_float(word);
            good = good && number;
            value = number.value_or(0);
            left = rest;
        }
        if (!good || !left.empty())
            refuse(fmt::format("{} is not three finite numbers", detail::quoted(text)), "Write red, green and blue.");
    }

    void check_domain() {
        const std::optional<int> bad = bad_channel(lut_.domain);
        if (!bad) return;
        line_ = domain_line_;
        refuse(fmt::format("the domain is from {} to {}", lut_.domain.low[*bad], lut_.domain.high[*bad]),
               "Use a DOMAIN_MIN that is below DOMAIN_MAX in each channel.");
    }

    const char* object_;
    std::string_view name_;
    CubeLut lut_;
    std::size_t wanted_ = 0;
    std::size_t line_ = 0;
    std::size_t domain_line_ = 0;
    std::vector<std::string_view> seen_;
};

// --- writing ---------------------------------------------------------------------------------------------------------

void check_lut(const char* object, const CubeLut& lut) {
    if (lut.dimensions != 1 && lut.dimensions != 3)
        detail::refuse_argument(object, fmt::format("lut.dimensions is {}", lut.dimensions), "Use 1 or 3.");
    detail::check_range(object, "lut.size", static_cast<double>(lut.size), 2,
                        static_cast<double>(max_entries(lut.dimensions)));
    const std::size_t expected = 3 * all_entries(lut.dimensions, lut.size);
    if (lut.entries.size() != expected)
        detail::refuse_argument(
            object, fmt::format("lut.entries has {} numbers, but the size needs {}", lut.entries.size(), expected),
            "Pass three numbers per entry.");
    for (const float number : lut.entries) detail::check_finite(object, "a number of lut.entries", number);
    for (int i = 0; i < 3; ++i) {
        detail::check_finite(object, "lut.domain.low", lut.domain.low[i]);
        detail::check_finite(object, "lut.domain.high", lut.domain.high[i]);
    }
    if (const std::optional<int> bad = bad_channel(lut.domain))
        detail::refuse_argument(object,
                                fmt::format("lut.domain is from {} to {}", lut.domain.low[*bad], lut.domain.high[*bad]),
                                "Use a low that is below high in each channel.");
    if (lut.title.find_first_of("\"\r\n") != std::string::npos)
        detail::refuse_argument(object, "lut.title contains a quote or a line end",
                                "Remove quotes and line ends from the title.");
}

std::string text_of(const CubeLut& lut) {
    std::string text;
    const auto to = std::back_inserter(text);
    if (!lut.title.empty()) fmt::format_to(to, "TITLE \"{}\"\n", lut.title);
    fmt::format_to(to, "LUT_{}D_SIZE {}\n", lut.dimensions, lut.size);
    const auto& [low, high] = lut.domain;
    fmt::format_to(to, "DOMAIN_MIN {} {} {}\n", low[0], low[1], low[2]);
    fmt::format_to(to, "DOMAIN_MAX {} {} {}\n", high[0], high[1], high[2]);
    for (std::size_t i = 0; i < lut.entries.size(); i += 3)
        fmt::format_to(to, "{} {} {}\n", lut.entries[i], lut.entries[i + 1], lut.entries[i + 2]);
    return text;
}

}  // namespace

CubeLut parse_cube(std::string_view text, std::string_view name) try {
    return detail::guarded(kParse, name, [&] { return CubeParser(kParse, name).parse(text); });
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kParse);
}

CubeLut read_cube_file(const std::filesystem::path& path) {
    return detail::guarded(kRead, path, [&] {
        std::ifstream file(path, std::ios::binary);
        if (!file || std::filesystem::is_directory(path))
            detail::fail_file(kRead, path, "cannot be opened", "Check that the file exists and is readable.");
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        if (file.bad()) detail::fail_file(kRead, path, "cannot be read completely", "Check the file and the disk.");
        return CubeParser(kRead, path.string()).parse(text);
    });
}

void write_cube_file(const std::filesystem::path& path, const CubeLut& lut) {
    check_lut(kWrite, lut);
    detail::guarded(kWrite, path, [&] { detail::write_file(kWrite, path, text_of(lut)); });
}

Array cube_array(const Device& device, const CubeLut& lut, Format format) try {
    check_lut(kArray, lut);
    const FormatInfo& stored = info(format);
    if (stored.channels != 4 || (stored.kind != FormatKind::floating && stored.kind != FormatKind::unorm) ||
        stored.layout == FormatLayout::block)
        detail::refuse_argument(kArray, fmt::format("a table of {} was requested", name(format)),
                                "Use a float or unorm format with four channels.");
    const auto bytes = static_cast<std::size_t>(stored.bytes);
    const detail::PixelFormat pixels{detail::texel_format(format), false};
    std::vector<std::byte> texels(lut.entries.size() / 3 * bytes);
    for (std::size_t i = 0; i < lut.entries.size(); i += 3) {
        const float* entry = &lut.entries[i];
        const detail::Pixel pixel = detail::encode_pixel(
            {{detail::bits_of(entry[0]), detail::bits_of(entry[1]), detail::bits_of(entry[2]), detail::bits_of(1.0f)}},
            pixels);
        std::memcpy(&texels[i / 3 * bytes], pixel.word, bytes);
    }
    const bool flat = lut.dimensions == 1;
    const Extent extent = flat ? Extent{lut.size} : Extent{lut.size, lut.size, lut.size};
    Array table(device, {.format = format, .extent = extent, .kind = flat ? ArrayKind::array_1d : ArrayKind::array_3d});
    copy(table.view(), host_view(texels.data(), format, extent));
    return table;
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kArray);
}

}  // namespace texton
