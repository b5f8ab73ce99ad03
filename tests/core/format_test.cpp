#include <texton/format.h>

#include <limits>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "tests/support/expect_error.h"

namespace texton {
namespace {

using test::expect_error;
using testing::ElementsAre;

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

// Expected rows, written independently of the table: name, channels, bits per channel, kind, layout, bytes.
struct Row {
    const char* name;
    int channels;
    int bits;
    FormatKind kind;
    FormatLayout layout;
    int bytes;
};

constexpr auto kU = FormatKind::uint;
constexpr auto kI = FormatKind::sint;
constexpr auto kF = FormatKind::floating;
constexpr auto kN = FormatKind::unorm;
constexpr auto kS = FormatKind::snorm;
constexpr auto kG = FormatKind::srgb;
constexpr auto kPlain = FormatLayout::plain;
constexpr auto kBlock = FormatLayout::block;
constexpr auto kPlanar = FormatLayout::planar;

constexpr Row kExpected[] = {
    {"r8_uint", 1, 8, kU, kPlain, 1},       {"rg8_uint", 2, 8, kU, kPlain, 2},
    {"rgba8_uint", 4, 8, kU, kPlain, 4},    {"r8_sint", 1, 8, kI, kPlain, 1},
    {"rg8_sint", 2, 8, kI, kPlain, 2},      {"rgba8_sint", 4, 8, kI, kPlain, 4},
    {"r16_uint", 1, 16, kU, kPlain, 2},     {"rg16_uint", 2, 16, kU, kPlain, 4},
    {"rgba16_uint", 4, 16, kU, kPlain, 8},  {"r16_sint", 1, 16, kI, kPlain, 2},
    {"rg16_sint", 2, 16, kI, kPlain, 4},    {"rgba16_sint", 4, 16, kI, kPlain, 8},
    {"r32_uint", 1, 32, kU, kPlain, 4},     {"rg32_uint", 2, 32, kU, kPlain, 8},
    {"rgba32_uint", 4, 32, kU, kPlain, 16}, {"r32_sint", 1, 32, kI, kPlain, 4},
    {"rg32_sint", 2, 32, kI, kPlain, 8},    {"rgba32_sint", 4, 32, kI, kPlain, 16},
    {"r16_float", 1, 16, kF, kPlain, 2},    {"rg16_float", 2, 16, kF, kPlain, 4},
    {"rgba16_float", 4, 16, kF, kPlain, 8}, {"r32_float", 1, 32, kF, kPlain, 4},
    {"rg32_float", 2, 32, kF, kPlain, 8},   {"rgba32_float", 4, 32, kF, kPlain, 16},
    {"r8_unorm", 1, 8, kN, kPlain, 1},      {"rg8_unorm", 2, 8, kN, kPlain, 2},
    {"rgba8_unorm", 4, 8, kN, kPlain, 4},   {"r16_unorm", 1, 16, kN, kPlain, 2},
    {"rg16_unorm", 2, 16, kN, kPlain, 4},   {"rgba16_unorm", 4, 16, kN, kPlain, 8},
    {"r8_snorm", 1, 8, kS, kPlain, 1},      {"rg8_snorm", 2, 8, kS, kPlain, 2},
    {"rgba8_snorm", 4, 8, kS, kPlain, 4},   {"r16_snorm", 1, 16, kS, kPlain, 2},
    {"rg16_snorm", 2, 16, kS, kPlain, 4},   {"rgba16_snorm", 4, 16, kS, kPlain, 8},
    {"r8_srgb", 1, 8, kG, kPlain, 1},       {"rg8_srgb", 2, 8, kG, kPlain, 2},
    {"rgba8_srgb", 4, 8, kG, kPlain, 4},    {"rgb10a2_unorm", 4, 10, kN, FormatLayout::packed, 4},
    {"bc1_unorm", 4, 0, kN, kBlock, 8},     {"bc1_srgb", 4, 0, kG, kBlock, 8},
    {"bc2_unorm", 4, 0, kN, kBlock, 16},    {"bc2_srgb", 4, 0, kG, kBlock, 16},
    {"bc3_unorm", 4, 0, kN, kBlock, 16},    {"bc3_srgb", 4, 0, kG, kBlock, 16},
    {"bc4_unorm", 1, 0, kN, kBlock, 8},     {"bc4_snorm", 1, 0, kS, kBlock, 8},
    {"bc5_unorm", 2, 0, kN, kBlock, 16},    {"bc5_snorm", 2, 0, kS, kBlock, 16},
    {"bc6h_ufloat", 3, 0, kF, kBlock, 16},  {"bc6h_sfloat", 3, 0, kF, kBlock, 16},
    {"bc7_unorm", 4, 0, kN, kBlock, 16},    {"bc7_srgb", 4, 0, kG, kBlock, 16},
    {"nv12", 3, 8, kN, kPlanar, 0},         {"p010", 3, 10, kN, kPlanar, 0},
    {"p016", 3, 16, kN, kPlanar, 0},        {"nv16", 3, 8, kN, kPlanar, 0},
};

TEST(FormatTest, EveryFormatMatchesItsName) {
    ASSERT_EQ(formats().size(), std::size(kExpected));
    for (std::size_t i = 0; i < std::size(kExpected); ++i) {
        const Row& row = kExpected[i];
        SCOPED_TRACE(row.name);
        const FormatInfo& is = formats()[i];
        EXPECT_EQ(is.format, static_cast<Format>(i));
        EXPECT_EQ(is.name, row.name);
        EXPECT_EQ(is.channels, row.channels);
        EXPECT_EQ(is.bits, row.bits);
        EXPECT_EQ(is.kind, row.kind);
        EXPECT_EQ(is.layout, row.layout);
        EXPECT_EQ(is.bytes, row.bytes);
        EXPECT_EQ(&info(is.format), &is);
        EXPECT_EQ(name(is.format), row.name);
        EXPECT_EQ(format_named(row.name), is.format);
    }
}

TEST(FormatTest, OnlyExactFormatNamesAreFound) {
    EXPECT_EQ(format_named("r8_uint"), Format::r8_uint);
    EXPECT_EQ(format_named("rgb8_uint"), std::nullopt);
    EXPECT_EQ(format_named("R8_UINT"), std::nullopt);
    EXPECT_EQ(format_named(""), std::nullopt);
}

TEST(FormatTest, CudaChannelBitsAreSetForEachExistingChannel) {
    const auto bits = [](Format format) {
        const auto& b = info(format).cuda.bits;
        return std::array<int, 4>{b[0], b[1], b[2], b[3]};
    };
    EXPECT_THAT(bits(Format::r8_uint), ElementsAre(8, 0, 0, 0));
    EXPECT_THAT(bits(Format::rg16_float), ElementsAre(16, 16, 0, 0));
    EXPECT_THAT(bits(Format::rgba32_sint), ElementsAre(32, 32, 32, 32));
    EXPECT_THAT(bits(Format::rgb10a2_unorm), ElementsAre(10, 10, 10, 2));
    for (const FormatInfo& row : formats()) {
        SCOPED_TRACE(row.name);
        if (row.layout != FormatLayout::plain) continue;
        for (int channel = 0; channel < 4; ++channel) {
            EXPECT_EQ(row.cuda.bits[static_cast<std::size_t>(channel)], channel < row.channels ? row.bits : 0);
        }
        // cudaChannelFormatKindSigned is 0, Unsigned 1, Float 2.
        const bool is_signed = row.kind == FormatKind::sint || row.kind == FormatKind::snorm;
        EXPECT_EQ(row.cuda.kind, row.kind == FormatKind::floating ? 2 : is_signed ? 0 : 1);
    }
}

TEST(FormatTest, PlainFormatsHaveAnOpenImageIOChannelType) {
    const std::map<std::pair<FormatKind, int>, std::string_view> expected{
        {{kU, 8}, "uint8"}, {{kU, 16}, "uint16"}, {{kU, 32}, "uint"},  {{kI, 8}, "int8"},  {{kI, 16}, "int16"},
        {{kI, 32}, "int"},  {{kF, 16}, "half"},   {{kF, 32}, "float"}, {{kN, 8}, "uint8"}, {{kN, 16}, "uint16"},
        {{kS, 8}, "int8"},  {{kS, 16}, "int16"},  {{kG, 8}, "uint8"}};
    for (const FormatInfo& row : formats()) {
        SCOPED_TRACE(row.name);
        EXPECT_EQ(row.oiio, row.layout == FormatLayout::plain ? expected.at({row.kind, row.bits}) : "");
    }
}

TEST(FormatTest, WithChannelsKeepsBitsAndKindAndWidensThreeChannelsToFour) {
    EXPECT_EQ(with_channels(Format::r8_unorm, 4), Format::rgba8_unorm);
    EXPECT_EQ(with_channels(Format::r8_unorm, 3), Format::rgba8_unorm);
    EXPECT_EQ(with_channels(Format::rgba32_float, 1), Format::r32_float);
    EXPECT_EQ(with_channels(Format::rgba8_srgb, 2), Format::rg8_srgb);
    for (const FormatInfo& row : formats()) {
        SCOPED_TRACE(row.name);
        if (row.layout == FormatLayout::plain) {
            for (const int channels : {1, 2, 3, 4}) {
                const FormatInfo& made = info(with_channels(row.format, channels));
                EXPECT_EQ(made.channels, channels == 3 ? 4 : channels);
                EXPECT_EQ(made.bits, row.bits);
                EXPECT_EQ(made.kind, row.kind);
            }
            EXPECT_EQ(with_channels(row.format, row.channels), row.format);
        }
        for (const int channels : {-1, 0, 5}) {
            expect_error([&] { (void)with_channels(row.format, channels); }, ErrorCode::bad_argument,
                         "texton::with_channels", {row.name});
        }
    }
    expect_error([] { (void)with_channels(Format::bc1_unorm, 1); }, ErrorCode::bad_argument, "texton::with_channels",
                 {"bc1_unorm", "1"});
}

TEST(FormatTest, PlanarFormatsDescribeTheirPlanes) {
    const auto expect_plane = [](Format format, int plane, Format part, int divide_width, int divide_height) {
        SCOPED_TRACE(name(format));
        const PlaneInfo is = plane_info(format, plane);
        EXPECT_EQ(is.format, part);
        EXPECT_EQ(is.divide_width, divide_width);
        EXPECT_EQ(is.divide_height, divide_height);
    };
    expect_plane(Format::nv12, 0, Format::r8_unorm, 1, 1);
    expect_plane(Format::nv12, 1, Format::rg8_unorm, 2, 2);
    expect_plane(Format::nv16, 1, Format::rg8_unorm, 2, 1);
    expect_plane(Format::p010, 0, Format::r16_unorm, 1, 1);
    expect_plane(Format::p010, 1, Format::rg16_unorm, 2, 2);
    expect_plane(Format::p016, 1, Format::rg16_unorm, 2, 2);
    for (const FormatInfo& row : formats()) {
        const bool planar = row.layout == FormatLayout::planar;
        EXPECT_EQ(plane_count(row.format), planar ? 2 : 1) << row.name;
        for (const int plane : {-1, planar ? 2 : 0}) {
            expect_error([&] { (void)plane_info(row.format, plane); }, ErrorCode::bad_argument, "texton::plane_info",
                         {row.name});
        }
    }
}

TEST(FormatTest, BlockFormatsRoundRowsAndColumnsUpToBlocks) {
    EXPECT_EQ(block_side(Format::bc7_unorm), 4u);
    EXPECT_EQ(block_side(Format::rgb10a2_unorm), 1u);
    EXPECT_EQ(block_side(Format::nv12), 1u);
    EXPECT_EQ(row_bytes(Format::bc1_unorm, 1), 8u);
    EXPECT_EQ(row_bytes(Format::bc1_unorm, 4), 8u);
    EXPECT_EQ(row_bytes(Format::bc1_unorm, 5), 16u);
    EXPECT_EQ(row_bytes(Format::bc3_unorm, 640), 160u * 16);
    EXPECT_EQ(row_count(Format::bc3_unorm, 1), 1u);
    EXPECT_EQ(row_count(Format::bc3_unorm, 8), 2u);
    EXPECT_EQ(row_count(Format::bc3_unorm, 9), 3u);
    EXPECT_EQ(row_count(Format::bc3_unorm, kMax), kMax / 4 + 1);
    EXPECT_EQ(row_bytes(Format::rgba16_float, 7), 56u);
    EXPECT_EQ(row_count(Format::rgba16_float, 7), 7u);
}

TEST(FormatTest, PackedBytesCountTexelsBlocksAndPlanes) {
    EXPECT_EQ(packed_bytes(Format::rgba8_unorm, {640, 480}), 640u * 480 * 4);
    EXPECT_EQ(packed_bytes(Format::rgb10a2_unorm, {3, 5, 7}), 3u * 5 * 7 * 4);
    EXPECT_EQ(packed_bytes(Format::bc1_unorm, {5, 5}), 2u * 2 * 8);
    EXPECT_EQ(packed_bytes(Format::bc7_unorm, {64, 64, 6}), 16u * 16 * 16 * 6);
    EXPECT_EQ(packed_bytes(Format::nv12, {640, 480}), 640u * 480 * 3 / 2);
    EXPECT_EQ(packed_bytes(Format::nv16, {640, 480}), 640u * 480 * 2);
    EXPECT_EQ(packed_bytes(Format::p010, {640, 480}), 640u * 480 * 3);
    EXPECT_EQ(packed_bytes(Format::nv12, {5, 3}), 5u * 3 + 3 * 2 * 2);
    EXPECT_EQ(packed_bytes(Format::r8_uint, {0, 4}), 0u);
}

TEST(FormatTest, OverflowingSizesAreRefused) {
    EXPECT_EQ(row_bytes(Format::r8_uint, kMax), kMax);
    expect_error([] { (void)row_bytes(Format::rg8_uint, kMax / 2 + 1); }, ErrorCode::overflow, "texton::row_bytes");
    expect_error([] { (void)row_bytes(Format::rgba32_float, kMax / 16 + 1); }, ErrorCode::overflow,
                 "texton::row_bytes");
    expect_error([] { (void)row_bytes(Format::bc7_unorm, kMax); }, ErrorCode::overflow, "texton::row_bytes");
    expect_error(
        [] {
            (void)packed_bytes(Format::r8_uint, {std::size_t{1} << 32, std::size_t{1} << 32});
        },
        ErrorCode::overflow, "texton::packed_bytes", {"width * height", "4294967296 * 4294967296"});
    expect_error(
        [] {
            (void)packed_bytes(Format::r8_uint, {std::size_t{1} << 32, std::size_t{1} << 31, 2});
        },
        ErrorCode::overflow, "texton::packed_bytes", {"depth"});
    expect_error(
        [] {
            (void)packed_bytes(Format::nv12, {std::size_t{1} << 32, std::size_t{1} << 32});
        },
        ErrorCode::overflow, "texton::packed_bytes");
    // Luma alone fits; luma and chroma together do not.
    expect_error(
        [] {
            (void)packed_bytes(Format::nv16, {std::size_t{1} << 32, std::size_t{3} << 30});
        },
        ErrorCode::overflow, "texton::packed_bytes");
}

TEST(FormatTest, TilesMatchTheHardwareAndHold64KiB) {
    EXPECT_EQ(tile_extent(Format::r8_uint, 2), (Extent{256, 256}));
    EXPECT_EQ(tile_extent(Format::r32_float, 2), (Extent{128, 128}));
    EXPECT_EQ(tile_extent(Format::rgba16_float, 2), (Extent{128, 64}));
    EXPECT_EQ(tile_extent(Format::rgba32_float, 2), (Extent{64, 64}));
    EXPECT_EQ(tile_extent(Format::r8_uint, 3), (Extent{64, 32, 32}));
    EXPECT_EQ(tile_extent(Format::r32_float, 3), (Extent{32, 32, 16}));
    EXPECT_EQ(tile_extent(Format::rgba32_float, 3), (Extent{16, 16, 16}));
    for (const FormatInfo& row : formats()) {
        SCOPED_TRACE(row.name);
        for (const int dimensions : {2, 3}) {
            if (row.layout == FormatLayout::planar) {
                expect_error([&] { (void)tile_extent(row.format, dimensions); }, ErrorCode::bad_argument,
                             "texton::tile_extent", {row.name});
            } else {
                EXPECT_EQ(packed_bytes(row.format, tile_extent(row.format, dimensions)), 65536u) << dimensions;
            }
        }
        for (const int dimensions : {-1, 0, 1, 4}) {
            expect_error([&] { (void)tile_extent(row.format, dimensions); }, ErrorCode::bad_argument,
                         "texton::tile_extent", {row.name});
        }
    }
}

}  // namespace
}  // namespace texton
