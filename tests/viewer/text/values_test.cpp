// Texts for values, parameters and the list of images, as panels show them.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "viewer/render/image_list.h"
#include "viewer/text/error_text.h"
#include "viewer/text/parameter_text.h"
#include "viewer/text/utf8.h"
#include "viewer/text/value_text.h"

namespace texton::viewer {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

std::vector<std::string> decimals(Format format, const std::vector<std::byte>& texel) {
    std::vector<std::string> out;
    for (const StoredChannel& channel : stored_channels(format, texel)) out.push_back(channel.decimal);
    return out;
}

std::vector<std::string> hexadecimals(Format format, const std::vector<std::byte>& texel) {
    std::vector<std::string> out;
    for (const StoredChannel& channel : stored_channels(format, texel)) out.push_back(channel.hexadecimal);
    return out;
}

using Text = std::vector<std::string>;

TEST(ValueTextTest, CodesOfEachFormatAreFormattedAsStored) {
    const auto codes = bytes_of<std::uint8_t>({0, 7, 128, 255});
    EXPECT_EQ(decimals(Format::rgba8_unorm, codes), (Text{"0", "7", "128", "255"}));
    EXPECT_EQ(hexadecimals(Format::rgba8_srgb, codes), (Text{"0x00", "0x07", "0x80", "0xff"}));
    EXPECT_EQ(decimals(Format::rgba8_snorm, codes), (Text{"0", "7", "-128", "-1"}));
    EXPECT_EQ(decimals(Format::rg16_uint, codes), (Text{"1792", "65408"}));
    EXPECT_EQ(decimals(Format::rg16_sint, codes), (Text{"1792", "-128"}));
    EXPECT_EQ(hexadecimals(Format::rg16_sint, codes), (Text{"0x0700", "0xff80"}));
    EXPECT_EQ(decimals(Format::r32_uint, codes), (Text{"4286580480"}));
    EXPECT_EQ(decimals(Format::r32_sint, codes), (Text{"-8386816"}));
    EXPECT_EQ(decimals(Format::r8_uint, {std::byte{200}}), (Text{"200"}));
}

TEST(ValueTextTest, FloatsAreFormattedWithAllDigitsThatDistinguishThem) {
    EXPECT_EQ(decimals(Format::rg16_float, bytes_of<std::uint16_t>({0x3555, 0xfc00})), (Text{"0.33325195", "-inf"}));
    EXPECT_EQ(decimals(Format::rg16_float, bytes_of<std::uint16_t>({0x8000, 0x7e00})), (Text{"-0", "nan"}));
    EXPECT_EQ(decimals(Format::rg16_float, bytes_of<std::uint16_t>({0x0001, 0x7bff})),
              (Text{"5.9604645e-08", "65504"}));
    EXPECT_EQ(hexadecimals(Format::rg16_float, bytes_of<std::uint16_t>({0x3555, 0xfc00})), (Text{"0x3555", "0xfc00"}));
    EXPECT_EQ(decimals(Format::rg32_float, bytes_of<float>({0.1f, -0.0f})), (Text{"0.1", "-0"}));
    EXPECT_EQ(float_text(std::numeric_limits<float>::quiet_NaN()), "nan");
    for (const float value : {1.0f / 3, 1e-42f, 3.4e38f, 16777217.0f})
        EXPECT_EQ(std::strtof(float_text(value).c_str(), nullptr), value);
}

TEST(ValueTextTest, PackedChannelsAreSeparated) {
    const auto texel = bytes_of<std::uint32_t>({1023u | 1u << 10 | 512u << 20 | 2u << 30});
    EXPECT_EQ(decimals(Format::rgb10a2_unorm, texel), (Text{"1023", "1", "512", "2"}));
    EXPECT_EQ(hexadecimals(Format::rgb10a2_unorm, texel), (Text{"0x3ff", "0x001", "0x200", "0x2"}));
}

TEST(ValueTextTest, PlainFormatsHaveTheirChannelCountAndBlocksHaveNoChannels) {
    for (const FormatInfo& format : formats()) {
        const std::vector<std::byte> texel(std::max<std::size_t>(format.bytes, 1));
        const std::size_t channels = stored_channels(format.format, texel).size();
        const bool whole = format.layout == FormatLayout::plain || format.layout == FormatLayout::packed;
        EXPECT_EQ(channels, whole ? format.channels : 0u) << format.name;
        if (whole) {
            EXPECT_TRUE(stored_channels(format.format, std::span(texel).first(format.bytes - 1u)).empty());
        }
    }
}

TEST(ValueTextTest, FetchedValuesAreFormattedAsTheirFormatIsRead) {
    const Texel texel{{std::bit_cast<std::uint32_t>(0.5f), 0xffffffffu, 7, 0}};
    EXPECT_EQ(channel_text(texel, 0, Format::rgba8_unorm), "0.5");
    EXPECT_EQ(channel_text(texel, 1, Format::rgba8_sint), "-1");
    EXPECT_EQ(channel_text(texel, 1, Format::rgba8_uint), "4294967295");
    EXPECT_EQ(channel_text(texel, 1, Format::rgba8_unorm), "nan");
    EXPECT_EQ(channel_hexadecimal(texel, 0), "0x3f000000");
    EXPECT_EQ(byte_text(bytes_of<std::uint8_t>({0, 255, 30})), "00 ff 1e");
    EXPECT_EQ(share_of(0, 4), 0.125);
}

TEST(ParameterTextTest, NumberListsAreWrittenAndReadBack) {
    for (const std::vector<double>& numbers : {std::vector<double>{}, {1, 0.5, -3e-9}, {0.1}})
        EXPECT_EQ(list_of(list_text(numbers)), numbers);
    EXPECT_EQ(list_of(" 1 2;3,,4 "), (std::vector<double>{1, 2, 3, 4}));
    EXPECT_EQ(list_of("1, two"), std::nullopt);
    EXPECT_EQ(list_of("1.5x"), std::nullopt);
}

TEST(ParameterTextTest, ParameterTextContainsItsRangeAndDefault) {
    ParameterInfo parameter{.name = "max_stops", .summary = "in stops", .standard = 2.0};
    EXPECT_EQ(parameter_text(parameter), "in stops; default 2");
    parameter.lowest = 0;
    EXPECT_EQ(parameter_text(parameter), "in stops, at least 0; default 2");
    parameter.highest = 4;
    EXPECT_EQ(parameter_text(parameter), "in stops, 0 to 4; default 2");
    EXPECT_EQ(title_of_name(parameter.name), "Max stops");
    EXPECT_EQ(value_text(true), "true");
    EXPECT_EQ(value_text(std::vector<double>{1, 2}), "1, 2");
}

TEST(ParameterTextTest, KernelSearchMatchesEverySearchTermInAnyCase) {
    EXPECT_EQ(kernels_like("").size(), kernels().size());
    for (const Kernel& kernel : kernels()) {
        const auto found = kernels_like(kernel.info.group + " " + kernel.info.name);
        EXPECT_NE(std::ranges::find(found, &kernel), found.end()) << kernel.info.name;
    }
    ASSERT_EQ(kernels_like("BILATERAL").size(), 1u);
    EXPECT_EQ(kernels_like("bilateral").front()->info.name, "bilateral");
    EXPECT_TRUE(kernels_like("bilateral cubemap").empty());
}

TEST(ImageListTest, MovedImageKeepsReferencesToAllImagesCorrect) {
    Session session;
    for (const char* name : {"a", "b", "c", "d", "e"}) session.images.push_back({{name}});
    const auto name = [](const Session& of, std::size_t index) { return of.images[index].paths.front().string(); };
    for (std::size_t from = 0; from < 5; ++from) {
        for (std::size_t to = 0; to < 5; ++to) {
            for (std::size_t current = 0; current < 5; ++current) {
                Session moved = session;
                moved.current = current;
                moved.reference = (current + 2) % 5;
                moved.kernel.more_inputs = {(current + 1) % 5, current};
                moved.annotations = {{.image = current}, {.image = (current + 3) % 5}};
                const Session before = moved;
                move_image(moved, from, to);
                EXPECT_EQ(name(moved, to), name(before, from));
                EXPECT_EQ(name(moved, moved.current), name(before, before.current));
                EXPECT_EQ(name(moved, *moved.reference), name(before, *before.reference));
                for (std::size_t i = 0; i < 2; ++i) {
                    EXPECT_EQ(name(moved, moved.kernel.more_inputs[i]), name(before, before.kernel.more_inputs[i]));
                    EXPECT_EQ(name(moved, moved.annotations[i].image), name(before, before.annotations[i].image));
                }
                move_image(moved, to, from);
                EXPECT_EQ(moved, before);
            }
        }
    }
    Session same = session;
    move_image(same, 4, 5);
    EXPECT_EQ(same, session) << "the target position does not exist";
}

TEST(ImageListTest, ClosedImageKeepsReferencesToOtherImagesCorrect) {
    Session session;
    for (const char* name : {"a", "b", "c", "d"}) session.images.push_back({{name}});
    session.kernel.name = "blend";
    const auto name = [](const Session& of, std::size_t index) { return of.images[index].paths.front().string(); };
    for (std::size_t index = 0; index < 4; ++index) {
        for (std::size_t current = 0; current < 4; ++current) {
            Session before = session;
            before.current = current;
            before.reference = (current + 1) % 4;
            before.kernel.more_inputs = {(current + 2) % 4, current};
            Session closed = before;
            close_image(closed, index);
            ASSERT_EQ(closed.images.size(), 3u);
            if (current != index) {
                EXPECT_EQ(name(closed, closed.current), name(before, current));
            } else {
                EXPECT_EQ(name(closed, closed.current), name(before, index == 3 ? 2 : index + 1));
            }
            EXPECT_EQ(closed.reference.has_value(), before.reference != index);
            if (closed.reference) {
                EXPECT_EQ(name(closed, *closed.reference), name(before, *before.reference));
            }
            const bool needed = current == index || (current + 2) % 4 == index;
            EXPECT_EQ(closed.kernel == KernelChoice{}, needed);
            for (std::size_t i = 0; i < closed.kernel.more_inputs.size(); ++i)
                EXPECT_EQ(name(closed, closed.kernel.more_inputs[i]), name(before, before.kernel.more_inputs[i]));
        }
    }
    session.kernel = {.name = "gaussian", .parameters = {}, .more_inputs = {}};
    for (int i = 0; i < 3; ++i) close_image(session, 0);
    EXPECT_EQ(session.kernel.name, "gaussian") << "the kernel applies to the current image";
    close_image(session, 0);
    close_image(session, 0);
    EXPECT_EQ(session, Session{});
}

TEST(ImageListTest, ClosedImageLosesItsAnnotationsOnly) {
    Session session;
    for (const char* name : {"a", "b", "c"}) session.images.push_back({{name}});
    session.annotations = {{.image = 2, .text = "of c"}, {.image = 1, .text = "of b"}, {.image = 0, .text = "of a"}};
    close_image(session, 1);
    EXPECT_EQ(session.annotations,
              (std::vector<Annotation>{{.image = 1, .text = "of c"}, {.image = 0, .text = "of a"}}));
}

TEST(ImageListTest, ArrayTextContainsSizeFormatKindLayersAndLevels) {
    EXPECT_EQ(array_text({.format = Format::r8_unorm, .extent = {4, 3}}), "4 x 3 of r8_unorm");
    EXPECT_EQ(array_text({.extent = {8, 8}, .kind = ArrayKind::cubemap_layered, .layers = 2, .levels = 3}),
              "8 x 8 of rgba8_unorm, cubemap_layered of 2, 3 levels");
}

TEST(TextTest, BytesThatAreNotUtf8AreReplaced) {
    for (const char* valid : {"", "a", "\u00e9", "\u20ac", "\U0001F600", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
        EXPECT_TRUE(is_utf8(valid)) << valid;
        EXPECT_EQ(to_utf8(valid), valid);
    }
    const std::string mark = "\xEF\xBF\xBD";
    EXPECT_EQ(to_utf8("caf\xE9.png"), "caf" + mark + ".png");
    EXPECT_EQ(to_utf8("\xC3"), mark);                        // truncated
    EXPECT_EQ(to_utf8("\xC0\x80"), mark + mark);             // overlong
    EXPECT_EQ(to_utf8("\xED\xA0\x80"), mark + mark + mark);  // surrogate
    EXPECT_EQ(to_utf8("\xF5\x80\x80\x80"), mark + mark + mark + mark);
    EXPECT_FALSE(is_utf8("\xE2\x82"));
    EXPECT_FALSE(is_utf8("\xF0\x82\x82\xAC"));
}

TEST(TextTest, MissingMemoryIsExplainedInWords) {
    EXPECT_EQ(error_text(std::bad_alloc()), "There is not enough memory.");
}

}  // namespace
}  // namespace texton::viewer
