// Compares luma and chroma conversion with the formulas of the standards in double precision.
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/fill.h>
#include <texton/kernel.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/pixel_encode.h>
#include <texton/planar.h>

#include "tests/support/arrays.h"
#include "tests/support/colors.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::Colors;
using test::colors_of;
using test::download;
using test::expect_error;
using test::made_colors;
using test::near_colors;
using test::Random;
using test::upload;

constexpr Format kPlanar[] = {Format::nv12, Format::p010, Format::p016, Format::nv16};
constexpr LumaStandard kStandards[] = {LumaStandard::bt601, LumaStandard::bt709, LumaStandard::bt2020};
constexpr CodeRange kRanges[] = {CodeRange::limited, CodeRange::full};
constexpr ChromaSiting kSitings[] = {ChromaSiting::left, ChromaSiting::center, ChromaSiting::top_left};
constexpr Sampler kLinear{.filter = Filter::linear};

int bits_of(Format format) { return format == Format::p010 ? 10 : format == Format::p016 ? 16 : 8; }

/// Code values of a plane, channel by channel.
using Codes = std::vector<int>;

test::Bytes stored(Format format, const Codes& codes) {
    test::Bytes bytes;
    for (const int code : codes) {
        const int word = format == Format::p010 ? code << 6 : code;
        bytes.push_back(static_cast<std::byte>(word & 255));
        if (bits_of(format) > 8) bytes.push_back(static_cast<std::byte>(word >> 8));
    }
    return bytes;
}

Codes codes_of(Format format, const test::Bytes& bytes) {
    Codes codes;
    const std::size_t step = bits_of(format) > 8 ? 2 : 1;
    for (std::size_t i = 0; i < bytes.size(); i += step) {
        int word = static_cast<int>(bytes[i]);
        if (step == 2) word |= static_cast<int>(bytes[i + 1]) << 8;
        if (format == Format::p010) {
            EXPECT_EQ(word & 63, 0);
            word >>= 6;
        }
        codes.push_back(word);
    }
    return codes;
}

/// The formulas of BT.601, BT.709 and BT.2020 with the code values of H.273.
struct Formulas {
    double red;
    double blue;
    double luma_scale;
    double luma_shift;
    double chroma_scale;
    double chroma_shift;

    explicit Formulas(const PlanarOptions& options) {
        const int bits = bits_of(options.format);
        const double step = std::pow(2, bits - 8);
        const bool full = options.range == CodeRange::full;
        red = options.standard == LumaStandard::bt601   ? 0.299
              : options.standard == LumaStandard::bt709 ? 0.2126
                                                        : 0.2627;
        blue = options.standard == LumaStandard::bt601   ? 0.114
               : options.standard == LumaStandard::bt709 ? 0.0722
                                                         : 0.0593;
        luma_scale = full ? std::pow(2, bits) - 1 : 219 * step;
        luma_shift = full ? 0 : 16 * step;
        chroma_scale = full ? std::pow(2, bits) - 1 : 224 * step;
        chroma_shift = 128 * step;
    }
    double luma(double r, double g, double b) const { return red * r + (1 - red - blue) * g + blue * b; }
    /// Returns code values of Y', Cb and Cr without rounding.
    std::array<double, 3> encode(double r, double g, double b) const {
        const double y = luma(r, g, b);
        return {y * luma_scale + luma_shift, (b - y) / (2 - 2 * blue) * chroma_scale + chroma_shift,
                (r - y) / (2 - 2 * red) * chroma_scale + chroma_shift};
    }
    Float4 decode(double y_code, double cb_code, double cr_code) const {
        const double y = (y_code - luma_shift) / luma_scale;
        const double r = y + (cr_code - chroma_shift) / chroma_scale * (2 - 2 * red);
        const double b = y + (cb_code - chroma_shift) / chroma_scale * (2 - 2 * blue);
        const double g = (y - red * r - blue * b) / (1 - red - blue);
        return {static_cast<float>(r), static_cast<float>(g), static_cast<float>(b), 1};
    }
};

/// Returns the position of chroma sample k along an axis, relative to luma sample 2 k.
double sited_at(const PlanarOptions& options, bool column) {
    if (options.siting == ChromaSiting::center) return 0.5;
    return column || options.siting == ChromaSiting::top_left ? 0 : 0.5;
}

struct Planes {
    Codes luma;
    Codes chroma;
};

struct PlanarImage {
    PlanarOptions options;
    Extent extent;

    std::size_t divide(bool column) const { return column || options.format != Format::nv16 ? 2 : 1; }
    Extent chroma() const { return {extent.width / 2, extent.height / divide(false)}; }

    /// Returns the two chroma samples and their weights for a luma sample along an axis. One weight may be 0.
    std::array<std::pair<std::size_t, double>, 2> samples_at(std::size_t luma, bool column) const {
        if (divide(column) == 1) return {{{luma, 1}, {luma, 0}}};
        const double position = (static_cast<double>(luma) - sited_at(options, column)) / 2;
        const double first = std::floor(position);
        const double last = static_cast<double>(column ? chroma().width : chroma().height) - 1;
        const auto inside = [&](double at) { return static_cast<std::size_t>(std::min(std::max(at, 0.0), last)); };
        return {{{inside(first), 1 - (position - first)}, {inside(first + 1), position - first}}};
    }
    Colors decoded(const Planes& planes) const {
        const Formulas formulas(options);
        Colors colors;
        for (std::size_t y = 0; y < extent.height; ++y) {
            for (std::size_t x = 0; x < extent.width; ++x) {
                double chroma_codes[2] = {0, 0};
                for (const auto& [row, row_weight] : samples_at(y, false)) {
                    for (const auto& [column, weight] : samples_at(x, true)) {
                        const int* sample = &planes.chroma[2 * (row * chroma().width + column)];
                        for (int i = 0; i < 2; ++i) chroma_codes[i] += row_weight * weight * sample[i];
                    }
                }
                if (options.swap_chroma) std::swap(chroma_codes[0], chroma_codes[1]);
                colors.push_back(formulas.decode(planes.luma[y * extent.width + x], chroma_codes[0], chroma_codes[1]));
            }
        }
        return colors;
    }

    /// Returns the luma samples and their weights that a chroma sample averages along an axis.
    std::vector<std::pair<std::size_t, double>> texels_of(std::size_t sample, bool column) const {
        if (divide(column) == 1) return {{sample, 1}};
        const std::size_t first = 2 * sample;
        if (sited_at(options, column) != 0) return {{first, 0.5}, {first + 1, 0.5}};
        return {{first == 0 ? 0 : first - 1, 0.25}, {first, 0.5}, {first + 1, 0.25}};
    }
    /// Returns code values without rounding: luma, then chroma.
    std::vector<double> encoded(const Colors& colors) const {
        const Formulas formulas(options);
        std::vector<double> codes;
        for (const Float4& color : colors) codes.push_back(formulas.encode(color.x, color.y, color.z)[0]);
        for (std::size_t y = 0; y < chroma().height; ++y) {
            for (std::size_t x = 0; x < chroma().width; ++x) {
                double sum[3] = {0, 0, 0};
                for (const auto& [row, row_weight] : texels_of(y, false)) {
                    for (const auto& [column, weight] : texels_of(x, true)) {
                        const float* color = &colors[row * extent.width + column].x;
                        for (int i = 0; i < 3; ++i) sum[i] += row_weight * weight * color[i];
                    }
                }
                const auto code = formulas.encode(sum[0], sum[1], sum[2]);
                codes.push_back(code[options.swap_chroma ? 2 : 1]);
                codes.push_back(code[options.swap_chroma ? 1 : 2]);
            }
        }
        const double maximum = std::pow(2, bits_of(options.format)) - 1;
        for (double& code : codes) code = std::min(std::max(code, 0.0), maximum);
        return codes;
    }
};

std::vector<PlanarImage> all_images(Extent extent) {
    std::vector<PlanarImage> all;
    for (const Format format : kPlanar) {
        for (const LumaStandard standard : kStandards) {
            for (const CodeRange range : kRanges) {
                for (const ChromaSiting siting : kSitings)
                    all.push_back({{format, standard, range, siting, all.size() % 3 == 0}, extent});
            }
        }
    }
    return all;
}

std::string describe(const PlanarImage& image) {
    const PlanarOptions& options = image.options;
    return std::string(name(options.format)) + ", standard " + std::to_string(static_cast<int>(options.standard)) +
           ", range " + std::to_string(static_cast<int>(options.range)) + ", siting " +
           std::to_string(static_cast<int>(options.siting)) + (options.swap_chroma ? ", swapped" : "");
}

Codes random_codes(Random& random, Format format, std::size_t count) {
    Codes codes(count);
    for (int& code : codes) code = static_cast<int>(random.below(std::size_t{1} << bits_of(format)));
    return codes;
}

class PlanarTest : public test::OnEveryDevice {
protected:
    PlanarArray planar_array(const PlanarImage& image, const Planes& planes) const {
        PlanarArray array(device(), image.options.format, image.extent);
        upload(array.frame().luma, stored(image.options.format, planes.luma));
        upload(array.frame().chroma, stored(image.options.format, planes.chroma));
        return array;
    }
    Colors colors_of_planes(const PlanarImage& image, const PlanarArray& array,
                            const Sampler& sampler = kLinear) const {
        return made_colors(device(), image.extent, [&](const Stream& stream, const View& view) {
            to_rgb(stream, view, Texture(array.plane(0)), Texture(array.plane(1), sampler), image.options);
        });
    }
    Planes planes_of(const PlanarImage& image, const Texture& texture) const {
        const PlanarArray array(device(), image.options.format, image.extent);
        const Frame planes = array.frame();
        const Pitched2D luma(device(), planes.luma.format(), planes.luma.extent());
        const Pitched2D chroma(device(), planes.chroma.format(), planes.chroma.extent());
        const Stream stream(device());
        from_rgb(stream, {luma.view(), chroma.view()}, texture, image.options);
        stream.synchronize();
        return {codes_of(image.options.format, download(luma.view())),
                codes_of(image.options.format, download(chroma.view()))};
    }
    Texture texture_of(const Colors& colors, Extent extent) const {
        return Texture(test::color_array(device(), extent, colors));
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, PlanarTest, test::every_device(), test::device_label);

// --- to RGB ----------------------------------------------------------------------------------------------------------

TEST_P(PlanarTest, PlanesOfEveryFormatStandardRangeAndSitingBecomeColors) {
    Random random(1);
    for (const PlanarImage& image : all_images({10, 6})) {
        SCOPED_TRACE(describe(image));
        const Format format = image.options.format;
        const std::size_t samples = 2 * image.chroma().width * image.chroma().height;
        const Planes planes{random_codes(random, format, 60), random_codes(random, format, samples)};
        const PlanarArray array = planar_array(image, planes);
        // The sums of the texture unit have an error of at most 2^-15. Blue multiplies it by 2.2 and by the scale of
        // the range.
        const double bound = 1e-4;
        EXPECT_TRUE(near_colors(colors_of_planes(image, array), image.decoded(planes), bound));
        const Sampler normalized{.filter = Filter::linear, .normalized_coordinates = true};
        EXPECT_TRUE(near_colors(colors_of_planes(image, array, normalized), image.decoded(planes), bound));
    }
}

TEST_P(PlanarTest, PlanesCanBePitchedMemory) {
    Random random(2);
    const PlanarImage image{{.format = Format::p010}, {14, 8}};
    const Planes planes{random_codes(random, Format::p010, 112), random_codes(random, Format::p010, 56)};
    const Pitched2D luma(device(), Format::r16_unorm, {14, 8});
    const Pitched2D chroma(device(), Format::rg16_unorm, {7, 4});
    upload(luma.view(), stored(Format::p010, planes.luma));
    upload(chroma.view(), stored(Format::p010, planes.chroma));
    const Colors is = made_colors(device(), image.extent, [&](const Stream& stream, const View& view) {
        to_rgb(stream, view, Texture(luma.view()), Texture(chroma.view(), kLinear), image.options);
    });
    EXPECT_TRUE(near_colors(is, image.decoded(planes), 1e-4));
    const Pitched2D new_luma(device(), Format::r16_unorm, {14, 8});
    const Pitched2D new_chroma(device(), Format::rg16_unorm, {7, 4});
    const Texture texture = texture_of(is, image.extent);
    const Stream stream(device());
    from_rgb(stream, {new_luma.view(), new_chroma.view()}, texture, image.options);
    stream.synchronize();
    const Planes again = planes_of(image, texture);
    EXPECT_EQ(codes_of(Format::p010, download(new_luma.view())), again.luma);
    EXPECT_EQ(codes_of(Format::p010, download(new_chroma.view())), again.chroma);
}

/// Converts planes that a device may read as bytes, and planes that it must fetch.
std::vector<Bytes> images_of_bytes(const Device& device, const PlanarOptions& options, Extent extent, const Bytes& luma,
                                   const Bytes& chroma) {
    const Format formats[] = {plane_info(options.format, 0).format, plane_info(options.format, 1).format};
    const Extent half{extent.width / plane_info(options.format, 1).divide_width,
                      extent.height / plane_info(options.format, 1).divide_height};
    const Array arrays[] = {Array(device, {formats[0], extent}), Array(device, {formats[1], half})};
    const Pitched2D rows[] = {Pitched2D(device, formats[0], {extent.width, extent.height}),
                              Pitched2D(device, formats[1], {half.width, half.height})};
    const View planes[][2] = {{arrays[0].view(), arrays[1].view()}, {rows[0].view(), rows[1].view()}};
    for (const auto& pair : planes) {
        upload(pair[0], luma);
        upload(pair[1], chroma);
    }
    const Sampler border{.address = {AddressMode::border, AddressMode::border}, .filter = Filter::linear};
    const Sampler normalized{.filter = Filter::linear, .normalized_coordinates = true};
    const Texture textures[][2] = {{Texture(arrays[0]), Texture(arrays[1], kLinear)},
                                   {Texture(rows[0].view()), Texture(rows[1].view(), kLinear)},
                                   {Texture(arrays[0], kLinear), Texture(rows[1].view(), kLinear)},
                                   {Texture(rows[0].view()), Texture(rows[1].view(), border)},
                                   {Texture(arrays[0]), Texture(arrays[1], border)},
                                   {Texture(arrays[0]), Texture(arrays[1], normalized)}};
    std::vector<Bytes> made;
    const Stream stream(device);
    for (const auto& pair : textures) {
        for (const std::size_t left : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
            const Pitched2D memory(device, Format::rgba8_unorm, {extent.width + 8, extent.height + 2});
            const View image = memory.view().region({{left, 1}, extent});
            fill(memory.view(), std::uint8_t{0xA5}, stream);
            to_rgb(stream, image, pair[0], pair[1], options);
            stream.synchronize();
            made.push_back(download(image));
            fill(image, std::uint8_t{0xA5}, stream);
            stream.synchronize();
            EXPECT_EQ(download(memory.view()), Bytes(download(memory.view()).size(), std::byte{0xA5}));
        }
    }
    return made;
}

TEST_P(PlanarTest, BytePlanesGiveTheSameColorsForEveryReadPath) {
    Random random(11);
    std::size_t count = 0;
    for (const Extent extent : {Extent{4, 4}, {8, 4}, {10, 6}, {124, 18}, {128, 16}, {132, 34}, {516, 4}}) {
        for (const Format format : {Format::nv12, Format::nv16}) {
            for (const ChromaSiting siting : kSitings) {
                const PlanarOptions options{format, kStandards[count / 3 % 3], kRanges[count % 2], siting,
                                            count % 5 == 0};
                ++count;
                SCOPED_TRACE(describe({options, extent}));
                const std::size_t texels = extent.width * extent.height;
                const Bytes luma = stored(format, random_codes(random, format, texels));
                const Bytes chroma =
                    stored(format, random_codes(random, format, format == Format::nv12 ? texels / 2 : texels));
                const std::vector<Bytes> expected = images_of_bytes(Device::cpu(), options, extent, luma, chroma);
                const std::vector<Bytes> made = images_of_bytes(device(), options, extent, luma, chroma);
                for (std::size_t i = 0; i < made.size(); ++i)
                    EXPECT_TRUE(test::same_bytes(made[i], expected[i])) << to_string(extent) << ", " << i;
                EXPECT_EQ(expected[0], expected[3]);
            }
        }
    }
}

/// Kernels use a fused multiply-add. Tests the floats around the first float of each code: the fused result must give
/// the same code as two roundings.
TEST(PlanarCodeTest, FusedMultiplyAddGivesTheSameCodeAsTwoRoundings) {
    for (int code = 0; code < 255; ++code) {
        float value = (static_cast<float>(code) + 0.5f) / 255.0f;
        for (int i = 0; i < 64; ++i) value = std::nextafterf(value, 0.0f);
        for (int i = 0; i < 128; ++i, value = std::nextafterf(value, 1.0f))
            ASSERT_EQ(std::floor(std::fmaf(value, 255.0f, 0.5f)), detail::unorm_code_of(value, 255.0f)) << value;
    }
}

// --- from RGB --------------------------------------------------------------------------------------------------------

TEST_P(PlanarTest, ColorsAreRoundedToCodesOfEveryFormatStandardRangeAndSiting) {
    Random random(3);
    for (const PlanarImage& image : all_images({10, 6})) {
        SCOPED_TRACE(describe(image));
        const Colors colors = test::random_colors(random, 60, -0.1f, 1.1f);
        const Planes planes = planes_of(image, texture_of(colors, image.extent));
        Codes codes = planes.luma;
        codes.insert(codes.end(), planes.chroma.begin(), planes.chroma.end());
        const std::vector<double> exact = image.encoded(colors);
        ASSERT_EQ(codes.size(), exact.size());
        // Half a code, plus the error of float32 sums.
        const double bound = 0.5 + std::ldexp(1.0, bits_of(image.options.format) - 20);
        for (std::size_t i = 0; i < codes.size(); ++i) EXPECT_NEAR(codes[i], exact[i], bound) << i;
    }
}

/// Returns the codes of both planes for textures that a device may read as bytes and a texture that it must fetch. The
/// planes begin at multiples of 4 bytes and at other addresses.
std::vector<Bytes> planes_of_bytes(const Device& device, const PlanarOptions& options, Extent extent,
                                   const Bytes& texels) {
    const PlaneInfo of_chroma = plane_info(options.format, 1);
    const Extent chroma{extent.width / of_chroma.divide_width, extent.height / of_chroma.divide_height};
    const Array array(device, {Format::rgba8_unorm, extent});
    const Pitched2D rows(device, Format::rgba8_unorm, {extent.width, extent.height});
    upload(array.view(), texels);
    upload(rows.view(), texels);
    const Texture textures[] = {Texture(array, {.mip_filter = Filter::linear}),
                                Texture(array, {.filter = Filter::linear, .normalized_coordinates = true}),
                                Texture(array, kLinear), Texture(rows.view())};
    std::vector<Bytes> made;
    const Stream stream(device);
    for (const Texture& texture : textures) {
        for (const std::size_t left : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
            const Pitched2D whole[] = {Pitched2D(device, Format::r8_unorm, {extent.width + 8, extent.height + 2}),
                                       Pitched2D(device, Format::rg8_unorm, {chroma.width + 8, chroma.height + 2})};
            const View planes[] = {whole[0].view().region({{left, 1}, extent}),
                                   whole[1].view().region({{left, 1}, chroma})};
            for (const Pitched2D& memory : whole) fill(memory.view(), std::uint8_t{0xA5}, stream);
            from_rgb(stream, {planes[0], planes[1]}, texture, options);
            stream.synchronize();
            for (const Pitched2D& memory : whole) made.push_back(download(memory.view()));
        }
    }
    return made;
}

TEST_P(PlanarTest, ByteImagesGiveTheSameCodesForEveryReadPath) {
    Random random(12);
    std::size_t count = 0;
    for (const Extent extent : {Extent{4, 2}, {8, 4}, {10, 6}, {124, 18}, {128, 16}, {132, 34}, {516, 4}}) {
        for (const Format format : {Format::nv12, Format::nv16}) {
            for (const ChromaSiting siting : kSitings) {
                const PlanarOptions options{format, kStandards[count / 3 % 3], kRanges[count % 2], siting,
                                            count % 5 == 0};
                ++count;
                SCOPED_TRACE(describe({options, extent}));
                const Bytes texels = test::random_texels(random, Format::rgba8_unorm, 4 * extent.width * extent.height);
                const std::vector<Bytes> expected = planes_of_bytes(Device::cpu(), options, extent, texels);
                const std::vector<Bytes> made = planes_of_bytes(device(), options, extent, texels);
                for (std::size_t i = 0; i < made.size(); ++i)
                    EXPECT_TRUE(test::same_bytes(made[i], expected[i])) << to_string(extent) << ", " << i;
                EXPECT_EQ(expected[0], expected[6]);
            }
        }
    }
}

TEST_P(PlanarTest, ChromaAveragesIgnoreTheAddressMode) {
    Random random(7);
    const Extent extent{6, 4};
    const Array array = test::color_array(device(), extent, test::random_colors(random, 24));
    const Sampler bordered{.address = {AddressMode::border, AddressMode::border}, .border = {5, 5, 5, 5}};
    for (const ChromaSiting siting : kSitings) {
        const PlanarImage image{{.siting = siting}, extent};
        EXPECT_EQ(planes_of(image, Texture(array, bordered)).chroma, planes_of(image, Texture(array)).chroma);
    }
}

TEST_P(PlanarTest, PrimariesHaveTheCodesOfPublishedTables) {
    struct Row {
        LumaStandard standard;
        Float4 color;
        std::array<int, 3> codes;
    };
    const Row rows[] = {
        {LumaStandard::bt601, {1, 0, 0, 1}, {81, 90, 240}},   {LumaStandard::bt601, {0, 1, 0, 1}, {145, 54, 34}},
        {LumaStandard::bt601, {0, 0, 1, 1}, {41, 240, 110}},  {LumaStandard::bt709, {1, 0, 0, 1}, {63, 102, 240}},
        {LumaStandard::bt709, {0, 1, 0, 1}, {173, 42, 26}},   {LumaStandard::bt709, {0, 0, 1, 1}, {32, 240, 118}},
        {LumaStandard::bt709, {1, 1, 1, 1}, {235, 128, 128}}, {LumaStandard::bt2020, {0, 0, 0, 1}, {16, 128, 128}},
    };
    for (const Row& row : rows) {
        const PlanarImage image{{.standard = row.standard}, {2, 2}};
        const Planes planes = planes_of(image, texture_of(Colors(4, row.color), {2, 2}));
        EXPECT_EQ(planes.luma, Codes(4, row.codes[0]));
        EXPECT_EQ(planes.chroma, (Codes{row.codes[1], row.codes[2]}));
        const PlanarArray array = planar_array(image, planes);
        EXPECT_TRUE(near_colors(colors_of_planes(image, array), Colors(4, row.color), 0.01));
    }
}

// --- round trips -----------------------------------------------------------------------------------------------------

TEST_P(PlanarTest, CodesRoundTripThroughColorsWithinOne) {
    Random random(4);
    for (const PlanarImage& image : all_images({8, 4})) {
        SCOPED_TRACE(describe(image));
        const Format format = image.options.format;
        // Chroma of one color only: downsampling and upsampling change other chroma.
        const Codes color = random_codes(random, format, 2);
        Planes planes{random_codes(random, format, 32), {}};
        for (std::size_t i = 0; i < image.chroma().width * image.chroma().height; ++i)
            planes.chroma.insert(planes.chroma.end(), color.begin(), color.end());
        const Colors colors = colors_of_planes(image, planar_array(image, planes));
        const Planes again = planes_of(image, texture_of(colors, image.extent));
        for (std::size_t i = 0; i < planes.luma.size(); ++i) EXPECT_NEAR(again.luma[i], planes.luma[i], 1);
        // A chroma sample averages luma samples that differ.
        for (std::size_t i = 0; i < planes.chroma.size(); ++i) EXPECT_NEAR(again.chroma[i], planes.chroma[i], 1);
    }
}

TEST_P(PlanarTest, EightBitColorsRoundTripThroughSixteenBitPlanes) {
    Random random(5);
    const Extent extent{4, 2};
    for (const PlanarImage& image : all_images(extent)) {
        if (image.options.format != Format::p016) continue;
        test::Bytes texel = test::random_texels(random, Format::rgba8_unorm, 4);
        texel[3] = std::byte{255};
        test::Bytes texels;
        for (int i = 0; i < 8; ++i) texels.insert(texels.end(), texel.begin(), texel.end());
        const Array from(device(), {Format::rgba8_unorm, extent});
        const Array to(device(), {Format::rgba8_unorm, extent});
        upload(from.view(), texels);
        const Array luma(device(), {Format::r16_unorm, extent});
        const Array chroma(device(), {Format::rg16_unorm, {2, 1}});
        const Stream stream(device());
        from_rgb(stream, {luma.view(), chroma.view()}, Texture(from), image.options);
        to_rgb(stream, to.view(), Texture(luma), Texture(chroma, kLinear), image.options);
        stream.synchronize();
        EXPECT_TRUE(test::same_bytes(download(to.view()), texels)) << describe(image);
    }
}

// --- by name, and invalid requests -----------------------------------------------------------------------------------

TEST_P(PlanarTest, NamedKernelsMatchTheFunctions) {
    Random random(6);
    const PlanarImage image{{Format::p010, LumaStandard::bt2020, CodeRange::full, ChromaSiting::top_left, true},
                            {6, 4}};
    const std::map<std::string, ParameterValue> values{{"layout", std::string("p010")},
                                                       {"standard", std::string("bt2020")},
                                                       {"range", std::string("full")},
                                                       {"siting", std::string("top_left")},
                                                       {"swap_chroma", true}};
    const Texture texture = texture_of(test::random_colors(random, 24), image.extent);
    const Planes expected = planes_of(image, texture);
    const Stream stream(device());
    const Kernel& down = kernel_named("from_rgb");
    const Texture colors[] = {texture};
    const std::vector<ImageShape> planes = shapes(down, Arguments(down.info, values), colors);
    ASSERT_EQ(planes.size(), 2U);
    const Array luma(device(), {planes[0].format, planes[0].extent});
    const Array chroma(device(), {planes[1].format, planes[1].extent});
    const View views[] = {luma.view(), chroma.view()};
    enqueue(down, stream, views, Arguments(down.info, values), colors);
    stream.synchronize();
    EXPECT_EQ(codes_of(Format::p010, download(luma.view())), expected.luma);
    EXPECT_EQ(codes_of(Format::p010, download(chroma.view())), expected.chroma);
    const Kernel& up = kernel_named("to_rgb");
    const Texture inputs[] = {Texture(luma), Texture(chroma, kLinear)};
    EXPECT_EQ(shapes(up, Arguments(up.info, values), inputs).at(0).format, Format::rgba16_unorm);
    const Colors is = made_colors(device(), image.extent, [&](const Stream& on, const View& view) {
        const View images[] = {view};
        enqueue(up, on, images, Arguments(up.info, values), inputs);
    });
    EXPECT_TRUE(near_colors(is, image.decoded(expected), 1e-4));
}

TEST_P(PlanarTest, PlanesThatMismatchTheFormatAreRefusedAndNamed) {
    const Texture luma(Array(device(), {Format::r8_unorm, {4, 4}}));
    const Array pairs(device(), {Format::rg8_unorm, {2, 2}});
    const Texture chroma(pairs, kLinear);
    const Texture tall(Array(device(), {Format::rg8_unorm, {2, 4}}), kLinear);
    const Texture odd(Array(device(), {Format::r8_unorm, {3, 4}}));
    const Texture layers(
        Array(device(), {.format = Format::r8_unorm, .extent = {4, 4}, .kind = ArrayKind::layered_2d}));
    const Texture color(Array(device(), {Format::rgba8_unorm, {4, 4}}));
    const Array image(device(), {Format::rgba8_unorm, {4, 4}});
    const Stream stream(device());
    const auto refused = [&](const Texture& y, const Texture& c, const PlanarOptions& options,
                             std::initializer_list<std::string_view> fragments) {
        expect_error([&] { to_rgb(stream, image.view(), y, c, options); }, ErrorCode::bad_argument, "texton::to_rgb",
                     fragments);
    };
    refused(luma, Texture(pairs), {}, {"chroma", "Filter::linear"});
    refused(luma, tall, {}, {"chroma", "2 x 4", "2 x 2", "nv12"});
    refused(luma, chroma, {.format = Format::nv16}, {"chroma", "2 x 2", "2 x 4", "nv16"});
    refused(luma, chroma, {.format = Format::p010}, {"luma", "r8_unorm", "r16_unorm", "p010"});
    refused(luma, chroma, {.format = Format::rgba8_unorm}, {"format", "rgba8_unorm", "nv12"});
    refused(odd, chroma, {}, {"3 x 4", "even"});
    refused(layers, chroma, {}, {"luma", "layered_2d"});
    const Array small(device(), {Format::rgba8_unorm, {2, 4}});
    expect_error([&] { to_rgb(stream, small.view(), luma, chroma); }, ErrorCode::bad_argument, "texton::to_rgb",
                 {"2 x 4", "4 x 4"});
    const PlanarArray planes(device(), Format::nv12, {4, 4});
    const Frame frame = planes.frame();
    const auto not_made = [&](const Frame& to, const Texture& from, std::initializer_list<std::string_view> fragments) {
        expect_error([&] { from_rgb(stream, to, from); }, ErrorCode::bad_argument, "texton::from_rgb", fragments);
    };
    not_made({frame.chroma, frame.luma}, color, {"luma", "rg8_unorm", "r8_unorm"});
    not_made({frame.luma, frame.luma}, color, {"chroma", "r8_unorm", "rg8_unorm"});
    not_made(frame, Texture(small), {"luma", "4 x 4", "2 x 4"});
    not_made(frame, odd, {"3 x 4", "even"});
    not_made(frame, layers, {"layered_2d"});
    not_made(frame, Texture(Array(device(), {Format::rgba8_uint, {4, 4}})), {"rgba8_uint"});
}

/// Planes of nv12 for an image of 8 x 4 pixels in one block of memory, whose rows are 32 bytes apart.
Frame planes_in(const Linear& memory, std::size_t chroma_at) {
    return {borrowed_view(memory.device(), memory.data(), Format::r8_unorm, {8, 4}, 32),
            borrowed_view(memory.device(), memory.data() + chroma_at, Format::rg8_unorm, {4, 2}, 32)};
}

TEST_P(PlanarTest, PlanesThatShareBytesAreRefusedAndNamed) {
    const Array array(device(), {Format::rgba8_unorm, {8, 4}});
    upload(array.view(), test::pattern(8 * 4 * 4, 8));
    const Texture texture(array);
    const Linear memory(device(), 256);
    fill(memory.view(), std::uint8_t{9});
    const Stream stream(device());
    for (const std::size_t chroma_at : {0, 7, 32, 36, 103}) {
        SCOPED_TRACE(chroma_at);
        expect_error([&] { from_rgb(stream, planes_in(memory, chroma_at), texture); }, ErrorCode::overlap,
                     "texton::from_rgb", {"luma", "chroma", "share bytes"});
    }
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(memory.view()), 9));
}

TEST_P(PlanarTest, PlanesSideBySideInOneBlockAreNoOverlap) {
    const Array array(device(), {Format::rgba8_unorm, {8, 4}});
    upload(array.view(), test::pattern(8 * 4 * 4, 8));
    const Linear memory(device(), 256);
    const Stream stream(device());
    from_rgb(stream, planes_in(memory, 128), Texture(array));  // below each other
    stream.synchronize();
    const Bytes luma = download(planes_in(memory, 128).luma);
    const Bytes chroma = download(planes_in(memory, 128).chroma);
    for (const std::size_t chroma_at : {8, 40, 56, 104}) {
        SCOPED_TRACE(chroma_at);
        fill(memory.view(), std::uint8_t{9});
        const Frame planes = planes_in(memory, chroma_at);
        from_rgb(stream, planes, Texture(array));
        stream.synchronize();
        EXPECT_TRUE(test::same_bytes(download(planes.luma), luma));
        EXPECT_TRUE(test::same_bytes(download(planes.chroma), chroma));
    }
}

}  // namespace
}  // namespace texton
