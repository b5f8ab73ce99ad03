// Capabilities of each array kind and format, found by trying each of them, compared with a table. A changed cell is a
// change of what Texton guarantees. Both devices have the same capabilities.
#include <texton/array.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/planar_array.h>
#include <texton/sample.h>
#include <texton/sparse_array.h>
#include <texton/surface.h>
#include <texton/texture.h>

#include "tests/support/array_matrix.h"
#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"

namespace texton {
namespace {

using test::Bytes;
using test::pattern;
using test::same_bytes;

// The capabilities and their letters in the table:
//   p  an array of one level                  t  a texture with point filtering
//   m  mip levels                             l  a texture with linear filtering
//   s  surfaces                               r  can be read as sRGB
//   g  gather                                 c  copies to and from the array
//   S  sparse                                 f  fills
//   D  deferred
constexpr std::string_view kLetters = "pmsgSDtlrcf";

// True if the attempt works, false if it is rejected as unsupported. Any other exception fails the test.
template <class Attempt>
bool works(Attempt attempt) {
    try {
        return attempt();
    } catch (const Error& error) {
        const bool refused = error.code() == ErrorCode::unsupported || error.code() == ErrorCode::bad_argument;
        EXPECT_TRUE(refused) << error.what();
        EXPECT_EQ(error.call(), "") << "Texton did not reject it before the driver did: " << error.what();
        return false;
    }
}

Sampler sampler_for(ArrayKind kind, Filter filter) {
    return {.filter = filter, .normalized_coordinates = is_cube(kind)};
}

bool finite_floats(Format format) {
    const FormatKind kind = info(format).kind;
    return kind != FormatKind::uint && kind != FormatKind::sint;
}

// Fetches once from the array. True if the result is finite; always true for integer formats.
bool fetches(const Texture& texture, const SampleOptions& options = {}) {
    const FetchPoint center{.x = 0.5f, .y = 0.5f, .z = 0.5f};
    const Samples seen = sample(texture, std::span(&center, 1), options);
    EXPECT_EQ(seen.texels.size(), 1u);
    return !finite_floats(texture.format()) || std::isfinite(seen.texels.at(0).as_float(0));
}

Format srgb_of(Format format) {
    std::string srgb_name{name(format)};
    srgb_name = srgb_name.substr(0, srgb_name.find('_')) + "_srgb";
    return format_named(srgb_name).value_or(format);
}

class Cell {
public:
    Cell(const Device& device, ArrayKind kind, Format format)
        : device_(device), info_(test::flat_info(kind, format)), kind_(kind), format_(format) {}

    std::string text() const {
        std::string out;
        for (const char letter : kLetters) out += works([&] { return can(letter); }) ? letter : '-';
        return out;
    }

private:
    bool can(char letter) const {
        if (info(format_).layout == FormatLayout::planar) return planar_can(letter);
        switch (letter) {
            case 'p': return Array(device_, info_).info() == info_;
            case 'm': {
                ArrayInfo mips = info_;
                mips.levels = full_levels(info_);
                return Array(device_, mips).info().levels > 1;
            }
            case 's': {
                ArrayInfo with = info_;
                with.usage.surface = true;
                const Array array(device_, with);
                const Surface surface(array);
                const SurfacePoint corner;
                const Bytes texel = pattern(info(format_).bytes, 1);
                write(surface, std::span(&corner, 1), texel);
                return same_bytes(read(surface, std::span(&corner, 1)), texel);
            }
            case 'g': {
                ArrayInfo with = info_;
                with.usage.gather = true;
                const Array array(device_, with);
                blank(array);
                return fetches(Texture(array, sampler_for(kind_, Filter::point)),
                               {.operation = FetchOperation::gather});
            }
            case 'S': return SparseArray(device_, info_).slots() > 0;
            case 'D': return DeferredArray(device_, info_).requirements().bytes > 0;
            case 't': return fetches_with(sampler_for(kind_, Filter::point));
            case 'l': return fetches_with(sampler_for(kind_, Filter::linear));
            case 'r': {
                if (info(srgb_of(format_)).kind != FormatKind::srgb) return false;
                const Array array(device_, info_);
                blank(array);
                const Texture texture(array, sampler_for(kind_, Filter::point), {.format = srgb_of(format_)});
                return texture.format() == srgb_of(format_) && fetches(texture);
            }
            case 'c': {
                const Array array(device_, info_);
                const Bytes texels = pattern(packed_bytes(info_), 2);
                test::upload(array.view(), texels);
                return same_bytes(test::download(array.view()), texels);
            }
            case 'f': {
                const Array array(device_, info_);
                blank(array);
                return test::all_bytes(test::download(array.view()), 0);
            }
            default: return false;
        }
    }

    // A planar array consists of two planes: true if both have the capability.
    bool planar_can(char letter) const {
        if (kind_ != ArrayKind::array_2d) return Array(device_, info_).info() == info_;
        const Extent extent{14, 6};
        const PlanarArray planar(device_, format_, extent);
        for (int index = 0; index < 2; ++index) {
            const Array& plane = planar.plane(index);
            fill(plane.view(), std::uint8_t{0});
            switch (letter) {
                case 'p': break;
                case 't':
                    if (!fetches(Texture(plane, sampler_for(kind_, Filter::point)))) return false;
                    break;
                case 'l':
                    if (!fetches(Texture(plane, sampler_for(kind_, Filter::linear)))) return false;
                    break;
                case 'c': {
                    const Bytes texels = pattern(test::box_bytes(plane.info().format, plane.info().extent), 3);
                    test::upload(plane.view(), texels);
                    if (!same_bytes(test::download(plane.view()), texels)) return false;
                    break;
                }
                case 'f':
                    if (!test::all_bytes(test::download(plane.view()), 0)) return false;
                    break;
                default: return false;
            }
        }
        return true;
    }

    bool fetches_with(const Sampler& sampler) const {
        const Array array(device_, info_);
        blank(array);
        return fetches(Texture(array, sampler));
    }

    static void blank(const Array& array) { fill(array.view(), std::uint8_t{0}); }

    Device device_;
    ArrayInfo info_;
    ArrayKind kind_;
    Format format_;
};

using Line = std::vector<std::string>;

std::string padded(std::string_view text, std::size_t width) {
    std::string out{text};
    out.resize(std::max(width, out.size()), ' ');
    return out;
}

std::string line_text(const Line& line) {
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
        out += i + 1 < line.size() ? padded(line[i], i == 0 ? 14 : kLetters.size()) + ' ' : line[i];
    }
    return out;
}

std::vector<Line> expected_lines() {
    std::vector<Line> lines;
    std::istringstream table{std::string(test::kArrayMatrix)};
    for (std::string text; std::getline(table, text);) {
        std::istringstream words(text);
        Line line;
        for (std::string word; words >> word;) line.push_back(word);
        if (!line.empty()) lines.push_back(line);
    }
    return lines;
}

class ArrayMatrixTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ArrayMatrixTest, test::every_device(), test::device_label);

TEST_P(ArrayMatrixTest, SupportOfEachKindAndFormatMatchesTheTable) {
    const std::vector<Line> expected = expected_lines();
    ASSERT_EQ(expected.size(), formats().size() + 1) << "the table needs a line of kinds and one line per format";
    Line heading{"format"};
    for (const ArrayKind kind : test::all_kinds()) heading.emplace_back(name(kind));
    ASSERT_EQ(expected[0], heading);
    std::cout << line_text(heading) << '\n';
    for (std::size_t row = 0; row < formats().size(); ++row) {
        const Format format = formats()[row].format;
        Line line{std::string(name(format))};
        for (const ArrayKind kind : test::all_kinds()) {
            SCOPED_TRACE(std::string(name(kind)) + " " + std::string(name(format)));
            line.push_back(Cell(device(), kind, format).text());
        }
        std::cout << line_text(line) << '\n';
        EXPECT_EQ(line, expected[row + 1]);
    }
}

}  // namespace
}  // namespace texton
