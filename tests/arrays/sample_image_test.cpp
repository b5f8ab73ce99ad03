// Tests sample(texture, map, view), which writes an image of fetches, and the conversion of floats and integers to
// pixels.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/pixel_encode.h>
#include <texton/recording.h>
#include <texton/sample.h>
#include <texton/sparse_array.h>

#include "arrays/unit/affine_map.h"
#include "arrays/unit/texel_format.h"
#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/gate.h"
#include "tests/support/memories.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::download;
using test::expect_error;
using test::Random;
using test::same_bytes;
using test::upload;

bool has_integers(Format format) {
    return info(format).kind == FormatKind::uint || info(format).kind == FormatKind::sint;
}

/// Formats of images.
std::vector<Format> image_formats() {
    std::vector<Format> all;
    for (const FormatInfo& row : formats()) {
        if (row.layout == FormatLayout::plain || row.layout == FormatLayout::packed) all.push_back(row.format);
    }
    return all;
}

/// Returns the packed pixels, computed with one fetch each.
Bytes fetched(const Texture& texture, const AffineMap& map, Format format, Extent extent) {
    std::vector<FetchPoint> points;
    for (std::uint32_t j = 0; j < extent.height; ++j) {
        for (std::uint32_t i = 0; i < extent.width; ++i) {
            const detail::Coordinates at = detail::position_of_pixel(map, i, j);
            points.push_back({.x = at.x, .y = at.y, .layer = at.layer});
        }
    }
    const detail::PixelFormat pixels{detail::texel_format(format), info(texture.format()).kind == FormatKind::sint};
    Bytes bytes(points.size() * info(format).bytes);
    std::byte* to = bytes.data();
    for (const Texel& texel : sample(texture, points).texels) {
        std::memcpy(to, detail::encode_pixel(texel, pixels).word, info(format).bytes);
        to += info(format).bytes;
    }
    return bytes;
}

/// Creates the texture of the capture. The texture keeps its memory alive.
Texture texture_of(const Device& device, const Recording& recording) {
    if (recording.source == TextureSource::pitched &&
        recording.array.extent.height > 1) {  // a texture of one row of memory follows other rules
        const Pitched2D memory(device, recording.array.format, recording.array.extent);
        upload(memory.view(), recording.levels.at(0));
        return Texture(memory.view(), recording.sampler);
    }
    const Array array(device, recording.array);
    upload(array.view(), recording.levels.at(0));
    return Texture(array, recording.sampler);
}

float between(Random& random, float low, float high) { return low + (high - low) * random.unit(); }

/// Returns a random affine map with rotation, scale and translation. One in eight leads far outside the texture.
AffineMap random_map(Random& random, const Texture& texture) {
    AffineMap map;
    const bool wild = random.below(8) == 0;
    const float maximum = wild ? 1e30F : 3;
    float* const fields[] = {&map.xx, &map.xy, &map.x0, &map.yx, &map.yy, &map.y0};
    for (float* field : fields) *field = random.below(6) == 0 ? 0 : between(random, -maximum, maximum);
    map.x0 *= static_cast<float>(texture.extent().width);
    map.y0 *= static_cast<float>(texture.extent().height);
    if (texture.sampler().normalized_coordinates) {
        for (float* field : {&map.xx, &map.xy, &map.x0}) *field /= static_cast<float>(texture.extent().width);
        for (float* field : {&map.yx, &map.yy, &map.y0}) *field /= static_cast<float>(texture.extent().height);
    }
    map.layer = static_cast<std::int32_t>(random.below(texture.layers() + 2)) - 1;
    return map;
}

Format random_image(Random& random, Format texture) {
    for (;;) {
        const Format format = random.of(image_formats());
        if (has_integers(format) == has_integers(texture)) return format;
    }
}

class SampleImageTest : public test::OnEveryDevice {
protected:
    Array filled(const ArrayInfo& info, std::span<const std::byte> texels) const {
        Array array(device(), info);
        upload(array.view(), texels);
        return array;
    }
    /// Returns the packed pixels of the image.
    Bytes sampled(const Texture& texture, const AffineMap& map, Format format, Extent extent) const {
        const Linear memory(device(), format, extent);
        const View image = memory.view(format, extent);
        sample(texture, map, image);
        return download(image);
    }
    Texture small_texture() const {
        return Texture(filled({Format::rgba8_unorm, {16, 8}}, test::pattern(512, 1)), {.filter = Filter::linear});
    }
    void refused(const Texture& texture, const AffineMap& map, const View& image,
                 std::initializer_list<std::string_view> fragments, ErrorCode code = ErrorCode::bad_argument,
                 test::Caller where = test::Caller::here()) const {
        const Stream stream(device());
        expect_error([&] { sample(texture, map, image); }, code, "texton::sample", fragments, where);
        expect_error([&] { sample(texture, map, image, stream); }, code, "texton::sample", fragments, where);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, SampleImageTest, test::every_device(), test::device_label);

// --- pixel values ----------------------------------------------------------------------------------------------------

TEST_P(SampleImageTest, EveryPixelIsTheFetchAtItsMappedCoordinate) {
    Random random(1);
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const ArrayKind kind = seed % 3 == 0 ? ArrayKind::layered_2d : ArrayKind::array_2d;
        const Recording recording =
            random_recording(seed, {.kind = kind, .operation = FetchOperation::plain, .points = 0});
        const Texture texture = texture_of(device(), recording);
        const AffineMap map = random_map(random, texture);
        const Format format = random_image(random, texture.format());
        const Extent extent{random.between(1, 70), random.between(1, 70)};
        SCOPED_TRACE(test::describe(recording.array) + " to " + std::string(name(format)));
        ASSERT_TRUE(same_bytes(sampled(texture, map, format, extent), fetched(texture, map, format, extent)));
    }
}

TEST_P(SampleImageTest, ImagesOfEverySizeAreComplete) {
    const Texture texture = small_texture();
    const AffineMap map{.xx = 0.01F, .xy = 0.3F, .x0 = -2, .yx = -0.02F, .yy = 0.001F, .y0 = 5};
    for (const Extent& extent : {Extent{1, 1}, Extent{2, 1}, Extent{1, 3}, Extent{31, 33}, Extent{129, 257},
                                 Extent{70001, 3}, Extent{3, 70001}, Extent{1, 300000}}) {
        SCOPED_TRACE(to_string(extent));
        EXPECT_TRUE(same_bytes(sampled(texture, map, Format::rgba8_unorm, extent),
                               fetched(texture, map, Format::rgba8_unorm, extent)));
    }
}

TEST_P(SampleImageTest, ALayerOfALayeredTextureIsSampled) {
    const Bytes texels = test::pattern(std::size_t{8} * 8 * 3, 2);
    const Texture texture(
        filled({.format = Format::r8_uint, .extent = {8, 8}, .kind = ArrayKind::layered_2d, .layers = 3}, texels));
    for (const std::int32_t layer : {0, 1, 2, 3, -1}) {  // layers out of range read the last layer
        const Bytes expected(texels.begin() + 64 * (layer < 0 || layer > 2 ? 2 : layer), texels.end());
        EXPECT_TRUE(
            same_bytes(sampled(texture, {.layer = layer}, Format::r8_uint, {8, 8}), std::span(expected).first(64)));
    }
}

TEST_P(SampleImageTest, AnImageOfTheTextureFormatKeepsTheTexelCodes) {
    const Extent extent{256, 256};
    for (const Format format : image_formats()) {
        SCOPED_TRACE(name(format));
        const FormatInfo& row = info(format);
        const std::size_t bits = row.bits;
        // All codes of 8 and 16 bits, different ones in each channel. For the packed format, words that contain all
        // codes of 10 bits.
        Bytes texels(packed_bytes(format, extent));
        Random random(4);
        for (std::byte& byte : texels) byte = static_cast<std::byte>(random.bits());
        for (std::size_t i = 0; i < 65536 && bits < 32; ++i) {
            for (std::size_t c = 0; c < row.channels && bits != 10; ++c) {
                const std::size_t code = i + c * 1001;
                std::memcpy(&texels[(i * row.channels + c) * bits / 8], &code, bits / 8);
            }
            const auto word = static_cast<std::uint32_t>((i % 1024) * 0x40100401U);
            if (bits == 10) std::memcpy(&texels[4 * i], &word, 4);
        }
        Bytes expected = texels;
        for (std::size_t at = 0; at < expected.size(); at += 2) {  // point reads do not distinguish these codes
            std::uint16_t pair = 0;
            std::memcpy(&pair, &expected[at], 2);
            if (format == Format::r8_snorm || format == Format::rg8_snorm || format == Format::rgba8_snorm) {
                if ((pair & 0xFFU) == 0x80U) pair = static_cast<std::uint16_t>(pair + 1);
                if (pair >> 8 == 0x80U) pair = static_cast<std::uint16_t>(pair + 0x100);
            }
            if (row.kind == FormatKind::snorm && bits == 16 && pair == 0x8000U) pair = 0x8001U;
            if (row.kind == FormatKind::floating && bits == 16 && (pair & 0x7FFFU) > 0x7C00U) pair |= 0x200U;
            std::memcpy(&expected[at], &pair, 2);
        }
        EXPECT_TRUE(same_bytes(sampled(Texture(filled({format, extent}, texels)), {}, format, extent), expected));
    }
}

TEST_P(SampleImageTest, MissingTextureChannelsAreZeroAndExtraChannelsAreDropped) {
    const Bytes one{std::byte{200}};
    const Bytes four{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    const Texture narrow(filled({Format::r8_unorm, {1, 1}}, one));
    const Texture wide(filled({Format::rgba8_unorm, {1, 1}}, four));
    const Bytes widened{std::byte{200}, std::byte{0}, std::byte{0}, std::byte{0}};
    EXPECT_EQ(sampled(narrow, {}, Format::rgba8_unorm, {1, 1}), widened);
    EXPECT_EQ(sampled(wide, {}, Format::rg8_unorm, {1, 1}), Bytes(four.begin(), four.begin() + 2));
    const Texture blocks(filled({Format::bc4_unorm, {4, 4}}, Bytes(8, std::byte{0})));
    EXPECT_EQ(sampled(blocks, {}, Format::rgba8_unorm, {1, 1})[3], std::byte{255});
}

// --- destinations ----------------------------------------------------------------------------------------------------

TEST_P(SampleImageTest, ImagesAreWrittenToEveryMemoryKindWithoutChangingPadding) {
    const Texture texture = small_texture();
    const Region region{{3, 2}, {20, 9}};
    const Stream stream(device());
    for (const Format format : {Format::r8_unorm, Format::rg16_unorm, Format::rgba32_float}) {
        for (const test::MemoryMaker& maker : test::memories(device(), std::nullopt, format, {30, 13})) {
            if (maker.foreign || maker.name == "host") continue;
            SCOPED_TRACE(maker.name);
            const test::Memory memory = maker.make(0);
            for (const bool async : {false, true}) {
                const AffineMap map{.xx = 0.5F, .x0 = async ? 1.0F : 2.0F, .yy = 0.7F};
                Bytes expected = test::pattern(memory.raw.extent().width, 1);
                upload(memory.raw, expected);
                const std::size_t row = row_bytes(format, region.extent.width);
                test::reference_copy(expected, memory.layout_of(region), fetched(texture, map, format, region.extent),
                                     {0, row, 0}, row, region.extent.height, 1);
                if (async) {
                    sample(texture, map, memory.texels.region(region), stream);
                    stream.synchronize();
                } else {
                    sample(texture, map, memory.texels.region(region));
                }
                EXPECT_TRUE(same_bytes(download(memory.raw), expected));
            }
        }
    }
}

TEST_P(SampleImageTest, PixelsNeedNoAlignment) {
    const Texture texture = small_texture();
    for (const Format format : {Format::rg8_unorm, Format::rgba8_unorm, Format::rgba16_float, Format::rgba32_float}) {
        const Extent extent{5, 3};
        const std::size_t row = row_bytes(format, extent.width);
        const Linear memory(device(), 1024);
        Bytes expected = test::pattern(1024, 3);
        upload(memory.view(), expected);
        const std::size_t pitch = row + 1;
        sample(texture, {.xx = 2}, borrowed_view(device(), memory.data() + 7, format, extent, pitch));
        test::reference_copy(expected, {7, pitch, 0}, fetched(texture, {.xx = 2}, format, extent), {0, row, 0}, row,
                             extent.height, 1);
        EXPECT_TRUE(same_bytes(download(memory.view()), expected)) << name(format);
    }
}

TEST_P(SampleImageTest, AHostViewOfPinnedMemoryCanBeTheDestination) {
    const Texture texture = small_texture();
    const Pinned memory(device(), 4096);
    sample(texture, {}, host_view(static_cast<void*>(memory.data()), Format::rgba8_unorm, {16, 8}));
    EXPECT_TRUE(same_bytes(memory.read().first(512), fetched(texture, {}, Format::rgba8_unorm, {16, 8})));
}

TEST_P(SampleImageTest, ADestinationBesideThePitchedSourceIsAccepted) {
    const Pitched2D memory(device(), Format::r8_uint, {1024, 8});
    const Bytes texels = test::pattern(std::size_t{1024} * 8, 5);
    upload(memory.view(), texels);
    const Texture left(memory.view().region({{}, {512, 8}}));
    const View right = memory.view().region({{512}, {512, 8}});
    sample(left, {}, right);
    EXPECT_TRUE(same_bytes(download(right), fetched(left, {}, Format::r8_uint, {512, 8})));
    refused(left, {}, memory.view().region({{511}, {512, 8}}), {"512 x 8"}, ErrorCode::overlap);
    refused(left, {}, memory.view().region({{511, 7}, {1, 1}}), {"1"}, ErrorCode::overlap);
    refused(left, {}, memory.view().region({{0, 3}, {1024, 1}}), {"1024"}, ErrorCode::overlap);
}

TEST_P(SampleImageTest, FloatsNearRoundingBoundariesAreRoundedLikeTheReference) {
    std::vector<float> values;
    for (const double codes : {127.0, 255.0, 1023.0, 32767.0, 65535.0}) {
        for (int code = 0; code<static_cast<int>(codes); code += codes> 2000 ? 37 : 1) {
            const auto step = static_cast<float>((code + 0.5) / codes);
            float value = std::nextafter(std::nextafter(step, 0.0F), 0.0F);
            for (int i = 0; i < 5; ++i, value = std::nextafter(value, 2.0F)) values.push_back(value);
        }
    }
    Random random(21);
    while (values.size() % 4096 != 0 || values.size() < 40000)
        values.push_back(detail::float_of(static_cast<std::uint32_t>(random.below(std::size_t{1} << 32))));
    const Extent extent{256, values.size() / 1024};
    const Texture texture(filled({Format::rgba32_float, extent},
                                 Bytes(reinterpret_cast<const std::byte*>(values.data()),
                                       reinterpret_cast<const std::byte*>(values.data() + values.size()))));
    for (const Format format : image_formats()) {
        if (has_integers(format)) continue;
        const Linear memory(device(), format, extent);
        sample(texture, {}, memory.view(format, extent));
        EXPECT_TRUE(same_bytes(download(memory.view(format, extent)), fetched(texture, {}, format, extent)))
            << name(format);
    }
}

// --- order of work ---------------------------------------------------------------------------------------------------

TEST_P(SampleImageTest, SamplingRunsInStreamOrder) {
    const Array array = filled({Format::r8_uint, {8, 8}}, Bytes(64, std::byte{1}));
    const Texture texture(array);
    const Pinned texels(device(), 64);
    const Linear memory(device(), 64);
    const Pinned pixels(device(), 64);
    std::memset(texels.data(), 2, 64);
    std::memset(pixels.data(), 0, 64);
    const Stream stream(device());
    const test::Gate gate;
    gate.close(stream);
    copy(array.view(), texels.view(Format::r8_uint, {8, 8}), stream);
    sample(texture, {}, memory.view(Format::r8_uint, {8, 8}), stream);
    copy(pixels.view(), memory.view(), stream);
    EXPECT_TRUE(test::all_bytes(pixels.read(), 0));
    gate.open();
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(pixels.read(), 2));
}

TEST_P(SampleImageTest, AGraphSamplesTheTexelsAtItsLaunch) {
    const Array array(device(), {Format::rgba8_unorm, {16, 8}});
    const Texture texture(array, {.filter = Filter::linear});
    const AffineMap map{.xx = 0.5F, .yy = 0.5F};
    const Linear memory(device(), Format::rgba16_float, {32, 16});
    const View image = memory.view(Format::rgba16_float, {32, 16});
    fill(image, std::uint8_t{0});
    const Stream stream(device());
    const Graph graph = Graph::capture(stream, [&] { sample(texture, map, image, stream); });
    EXPECT_EQ(graph.size(), 1U);
    EXPECT_TRUE(test::all_bytes(download(image), 0));
    for (const unsigned round : {1U, 2U}) {
        upload(array.view(), test::pattern(512, round));
        graph.launch(stream);
        stream.synchronize();
        EXPECT_TRUE(same_bytes(download(image), fetched(texture, map, Format::rgba16_float, {32, 16})));
    }
}

TEST_P(SampleImageTest, UnmappedTilesAreZeroInTheImage) {
    SparseArray sparse(device(), {Format::r8_uint, {512, 256}});
    const Stream stream(device());
    sparse.map(TileBox{}, TilePool(device()).allocate(1), stream);
    fill(sparse.array().view(), std::uint8_t{7}, stream);
    const Linear memory(device(), Format::r8_uint, {512, 256});
    const View image = memory.view(Format::r8_uint, {512, 256});
    sample(Texture(sparse.array()), {}, image, stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(image.region({{}, {256, 256}})), 7));
    EXPECT_TRUE(test::all_bytes(download(image.region({{256}, {256, 256}})), 0));
}

TEST_P(SampleImageTest, ADeferredArrayIsRefusedBeforeMappingAndSampledAfterwards) {
    DeferredArray deferred(device(), {Format::r8_uint, {64, 64}});
    const Texture texture(deferred.array());
    const Linear memory(device(), Format::r8_uint, {64, 64});
    const View image = memory.view(Format::r8_uint, {64, 64});
    refused(texture, {}, image, {}, ErrorCode::not_mapped);
    const Stream stream(device());
    deferred.map(TilePool(device()).allocate_bytes(deferred.requirements().bytes), stream);
    fill(deferred.array().view(), std::uint8_t{9}, stream);
    sample(texture, {}, image, stream);
    deferred.unmap(stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(image), 9));
}

TEST_P(SampleImageTest, SamplingWithoutAStreamIsRefusedDuringACapture) {
    const Texture texture = small_texture();
    const Linear memory(device(), 512);
    const View image = memory.view(Format::rgba8_unorm, {16, 8});
    (void)Graph::capture(Stream(device()), [&] {
        expect_error([&] { sample(texture, {}, image); }, ErrorCode::capturing, "texton::sample");
    });
}

// --- invalid requests ------------------------------------------------------------------------------------------------

TEST_P(SampleImageTest, UnsupportedTextureKindsAreRefusedAndNamed) {
    const Linear memory(device(), 4096);
    const View image = memory.view(Format::rgba8_unorm, {4, 4});
    for (const ArrayKind kind : test::all_kinds()) {
        if (kind == ArrayKind::array_2d || kind == ArrayKind::layered_2d) continue;
        const Array array(device(), test::flat_info(kind, Format::rgba8_unorm));
        refused(Texture(array, {.normalized_coordinates = true}), {}, image, {name(kind)});
    }
    const Linear row(device(), 4096);
    refused(Texture(row.view()), {}, image, {"a row of memory"});
}

TEST_P(SampleImageTest, NonFiniteMapCoefficientsAreRefusedAndNamed) {
    const Texture texture = small_texture();
    const Linear memory(device(), 4096);
    const View image = memory.view(Format::rgba8_unorm, {4, 4});
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    refused(texture, {.xx = kInfinity}, image, {"xx", "inf"});
    refused(texture, {.xy = -kInfinity}, image, {"xy", "-inf"});
    refused(texture, {.x0 = std::numeric_limits<float>::quiet_NaN()}, image, {"x0", "nan"});
    refused(texture, {.yx = kInfinity}, image, {"yx"});
    refused(texture, {.yy = kInfinity}, image, {"yy"});
    refused(texture, {.y0 = kInfinity}, image, {"y0"});
}

TEST_P(SampleImageTest, InvalidDestinationsAreRefusedAndNamed) {
    const Texture texture = small_texture();
    const Texture integers(filled({Format::r8_uint, {4, 4}}, Bytes(16)));
    const Linear memory(device(), (std::size_t{1} << 23) + 1);
    Bytes host(64);
    const View pageable = host_view(static_cast<void*>(host.data()), Format::rgba8_unorm, {4, 4});
    refused(texture, {}, View(), {"empty"});
    refused(texture, {}, pageable, {"pageable host memory"});
    refused(texture, {}, Array(device(), {Format::rgba8_unorm, {4, 4}}).view(), {"an array"});
    refused(texture, {}, memory.view(Format::rgba8_unorm, {4, 4, 2}), {"4 x 4 x 2"});
    refused(texture, {}, memory.view(Format::bc1_unorm, {4, 4}), {"bc1_unorm"});
    refused(texture, {}, memory.view(Format::r8_uint, {4, 4}), {"rgba8_unorm", "floats", "r8_uint", "integers"});
    refused(integers, {}, memory.view(Format::r8_unorm, {4, 4}), {"r8_uint", "integers", "r8_unorm", "floats"});
    refused(texture, {}, memory.view(Format::r8_unorm, {(std::size_t{1} << 23) + 1}), {"8388609"}, ErrorCode::overflow);
}

TEST_P(SampleImageTest, FreedMemoryIsRefusedAndNamed) {
    const Texture texture = small_texture();
    const Stream stream(device());
    Linear image = Linear::async(512, stream);
    const View dangling = image.view(Format::rgba8_unorm, {16, 8});
    image.free(stream);
    refused(texture, {}, dangling, {"freed"}, ErrorCode::released);
    Linear rows = Linear::async(4096, stream);
    const Texture gone(rows.view(Format::r8_unorm, {512, 8}));
    rows.free(stream);
    const Linear memory(device(), 512);
    refused(gone, {}, memory.view(Format::r8_unorm, {512}), {"texture"}, ErrorCode::released);
}

TEST_P(SampleImageTest, MemoryAndStreamsOfAnotherDeviceAreRefusedAndNamed) {
    const Texture texture = small_texture();
    const Linear ours(device(), 512);
    for (const Device& other : Device::list()) {
        if (other == device()) continue;
        SCOPED_TRACE(other.name());
        const Linear theirs(other, 512);
        refused(texture, {}, theirs.view(Format::rgba8_unorm, {16, 8}), {other.name()}, ErrorCode::wrong_device);
        const Stream stream(other);
        expect_error(
            [&] {
                sample(texture, {}, ours.view(Format::rgba8_unorm, {16, 8}), stream);
            },
            ErrorCode::wrong_device, "texton::sample", {other.name()});
    }
}

// --- comparison of devices -------------------------------------------------------------------------------------------

TEST(SampleImageParityTest, AllDevicesGiveTheSameImage) {
    const std::vector<Device> devices = test::one_of_each_kind();
    if (devices.size() < 2) GTEST_SKIP() << "there is no GPU";
    Random random(11);
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        const ArrayKind kind = seed % 4 == 0 ? ArrayKind::layered_2d : ArrayKind::array_2d;
        const Recording recording =
            random_recording(seed + 5000, {.kind = kind, .operation = FetchOperation::plain, .points = 0});
        std::vector<Texture> textures;
        for (const Device& device : devices) textures.push_back(texture_of(device, recording));
        const AffineMap map = random_map(random, textures[0]);
        const Format format = random_image(random, recording.array.format);
        const Extent extent = seed == 0 ? Extent{3001, 2003} : Extent{random.between(1, 90), random.between(1, 60)};
        std::vector<Bytes> images;
        for (std::size_t i = 0; i < devices.size(); ++i) {
            const Linear memory(devices[i], format, extent);
            sample(textures[i], map, memory.view(format, extent));
            images.push_back(download(memory.view(format, extent)));
        }
        ASSERT_TRUE(same_bytes(images[1], images[0]))
            << seed << ": " << test::describe(recording.array) << " to " << name(format);
    }
}

// Larger than twice the L2 cache of current GPUs, so that the kernel touches the texels of each tile before it fetches
// them.
TEST(SampleImageParityTest, AllDevicesGiveTheSameLargeImage) {
    const std::vector<Device> devices = test::one_of_each_kind();
    if (devices.size() < 2) GTEST_SKIP() << "there is no GPU";
    struct Case {
        Format format;
        Extent extent;
        ArrayKind kind;
        bool normalized;
        float degrees;
        float texels_a_pixel;
    };
    using enum ArrayKind;
    constexpr Extent kOfWords{5501, 5003};
    constexpr Extent kOfFourWords{2731, 2603};
    const Case cases[] = {{Format::rgba8_unorm, kOfWords, array_2d, false, 17, 1},
                          {Format::rgba8_unorm, kOfWords, layered_2d, true, 75, 0.95f},
                          {Format::r32_float, kOfWords, array_2d, true, -20, 1},
                          {Format::r32_float, kOfWords, layered_2d, false, 100, 0.8f},
                          {Format::rgba32_float, kOfFourWords, array_2d, false, 17, 1},
                          {Format::rgba32_float, kOfFourWords, layered_2d, true, -80, 0.9f},
                          {Format::rgba32_float, kOfFourWords, array_2d, true, 0, 1}};
    Random random(12);
    for (const Case& of : cases) {
        const std::size_t layers = of.kind == layered_2d ? 2 : 1;
        Bytes texels(packed_bytes(of.format, {of.extent.width, of.extent.height, layers}));
        for (std::size_t i = 0; i < texels.size(); i += 4) {
            const auto word = static_cast<std::uint32_t>(random.between(0, 0xffffffff));
            const float number = static_cast<float>(word >> 8) * 0x1p-20f - 8;
            std::memcpy(&texels[i], of.format == Format::rgba8_unorm ? static_cast<const void*>(&word) : &number, 4);
        }
        const Extent image{of.extent.width - 37, of.extent.height + 11};
        const float radians = of.degrees * 3.14159265f / 180;
        const float x_unit = of.normalized ? 1 / static_cast<float>(of.extent.width) : 1;
        const float y_unit = of.normalized ? 1 / static_cast<float>(of.extent.height) : 1;
        const float cosine = std::cos(radians) * of.texels_a_pixel;
        const float sine = std::sin(radians) * of.texels_a_pixel;
        const float right = static_cast<float>(image.width) / 2;
        const float down = static_cast<float>(image.height) / 2;
        const float x0 = static_cast<float>(of.extent.width) / 2 - cosine * right + sine * down;
        const float y0 = static_cast<float>(of.extent.height) / 2 - sine * right - cosine * down;
        const AffineMap map{.xx = cosine * x_unit,
                            .xy = -sine * x_unit,
                            .x0 = x0 * x_unit,
                            .yx = sine * y_unit,
                            .yy = cosine * y_unit,
                            .y0 = y0 * y_unit,
                            .layer = static_cast<int>(layers) - 1};
        std::vector<Bytes> images;
        for (const Device& device : devices) {
            const Array array(device, {of.format, of.extent, of.kind, layers});
            upload(array.view(), texels);
            const Texture texture(array, {.address = {AddressMode::clamp, AddressMode::clamp},
                                          .filter = Filter::linear,
                                          .normalized_coordinates = of.normalized});
            const Linear memory(device, of.format, image);
            sample(texture, map, memory.view(of.format, image));
            images.push_back(download(memory.view(of.format, image)));
        }
        EXPECT_TRUE(same_bytes(images[1], images[0]))
            << name(of.format) << " of " << name(of.kind) << ", turned by " << of.degrees;
    }
}

// --- pixel encoding --------------------------------------------------------------------------------------------------

TEST(PixelEncodeTest, FractionsAreRoundedToTheNearestCode) {
    for (const std::uint32_t largest : {3U, 255U, 1023U, 65535U}) {
        const auto top = static_cast<float>(largest);
        for (std::uint32_t code = 0; code <= largest; ++code) {
            const double exact = code;
            ASSERT_EQ(detail::unorm_code_of(static_cast<float>(exact / largest), top), code);
            if (code == largest) continue;
            ASSERT_EQ(detail::unorm_code_of(static_cast<float>((exact + 0.49) / largest), top), code);
            ASSERT_EQ(detail::unorm_code_of(static_cast<float>((exact + 0.51) / largest), top), code + 1);
        }
    }
    for (const std::int32_t largest : {127, 32767}) {
        const auto top = static_cast<float>(largest);
        for (std::int32_t code = -largest; code <= largest; ++code) {
            const auto expected = static_cast<std::uint32_t>(code);
            const double exact = code;
            ASSERT_EQ(detail::snorm_code_of(static_cast<float>(exact / largest), top), expected);
            ASSERT_EQ(detail::snorm_code_of(static_cast<float>((exact + 0.49) / largest), top), expected);
            ASSERT_EQ(detail::snorm_code_of(static_cast<float>((exact - 0.49) / largest), top), expected);
        }
        EXPECT_EQ(detail::snorm_code_of(0.5F / top, top), 1U);
        EXPECT_EQ(detail::snorm_code_of(-0.5F / top, top), 0U - 1U);
    }
}

TEST(PixelEncodeTest, ValuesOutOfRangeAreClampedAndNanBecomesZero) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    for (const float value : {-kInfinity, -1.0F, -1e-40F, -0.0F, kNan, -kNan}) {
        EXPECT_EQ(detail::unorm_code_of(value, 255), 0U) << value;
        EXPECT_EQ(detail::srgb_code_of(value), 0U) << value;
    }
    for (const float value : {1.0F, std::nextafter(1.0F, 2.0F), 1e30F, kInfinity}) {
        EXPECT_EQ(detail::unorm_code_of(value, 65535), 65535U) << value;
        EXPECT_EQ(detail::snorm_code_of(value, 127), 127U) << value;
        EXPECT_EQ(detail::snorm_code_of(-value, 127), 0U - 127U) << value;
        EXPECT_EQ(detail::srgb_code_of(value), 255U) << value;
    }
    EXPECT_EQ(detail::snorm_code_of(kNan, 127), 0U);
}

TEST(PixelEncodeTest, SrgbValuesAreRoundedToTheNearestCode) {
    const auto linear = [](double code) {
        const double encoded = code / 255;
        return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
    };
    for (std::uint32_t code = 0; code < 256; ++code) {
        ASSERT_EQ(detail::srgb_code_of(static_cast<float>(linear(code))), code);
        if (code == 255) continue;
        ASSERT_EQ(detail::srgb_code_of(static_cast<float>(linear(code + 0.49))), code);
        ASSERT_EQ(detail::srgb_code_of(static_cast<float>(linear(code + 0.51))), code + 1);
    }
}

TEST(PixelEncodeTest, Float16RoundsToNearestWithTiesToEven) {
    const auto value_of = [](std::uint32_t code) {  // decodes infinity as the next power of two
        const auto fraction = static_cast<float>(code & 1023U);
        const int exponent = static_cast<int>(code >> 10);
        return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    };
    for (std::uint32_t code = 0; code < 0x7C00U; ++code) {
        const float value = value_of(code);
        const float center = (value + value_of(code + 1)) / 2;
        const std::uint32_t even = code + (code & 1U);
        ASSERT_EQ(detail::half_code_of(value), code);
        ASSERT_EQ(detail::half_code_of(std::nextafter(center, 0.0F)), code);
        ASSERT_EQ(detail::half_code_of(center), even);
        ASSERT_EQ(detail::half_code_of(std::nextafter(center, 1e6F)), code + 1);
        ASSERT_EQ(detail::half_code_of(-center), even | 0x8000U);
    }
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(detail::half_code_of(kInfinity), 0x7C00U);
    EXPECT_EQ(detail::half_code_of(-1e30F), 0xFC00U);
    EXPECT_EQ(detail::half_code_of(-1e-30F), 0x8000U);
    EXPECT_EQ(detail::half_code_of(detail::float_of(0x7F800001U)), 0x7E00U);
    EXPECT_EQ(detail::half_code_of(detail::float_of(0xFFC06000U)), 0xFE03U);
}

TEST(PixelEncodeTest, IntegersAreClampedToTheRangeOfTheImageFormat) {
    const auto encoded = [](std::uint32_t fetched, bool from_signed, Format image) {
        const detail::Pixel pixel = detail::encode_pixel({{fetched}}, {detail::texel_format(image), from_signed});
        return pixel.word[0];
    };
    constexpr std::uint32_t kMinusOne = 0xFFFFFFFFU;
    EXPECT_EQ(encoded(300, false, Format::r8_uint), 255U);
    EXPECT_EQ(encoded(kMinusOne, false, Format::r8_uint), 255U);
    EXPECT_EQ(encoded(kMinusOne, true, Format::r8_uint), 0U);
    EXPECT_EQ(encoded(kMinusOne, false, Format::r32_uint), kMinusOne);
    EXPECT_EQ(encoded(kMinusOne, true, Format::r32_uint), 0U);
    EXPECT_EQ(encoded(kMinusOne, false, Format::r32_sint), 0x7FFFFFFFU);
    EXPECT_EQ(encoded(kMinusOne, true, Format::r32_sint), kMinusOne);
    EXPECT_EQ(encoded(0x80000000U, true, Format::r32_sint), 0x80000000U);
    EXPECT_EQ(encoded(128, false, Format::r8_sint), 127U);
    EXPECT_EQ(encoded(static_cast<std::uint32_t>(-129), true, Format::r8_sint), 0x80U);
    EXPECT_EQ(encoded(static_cast<std::uint32_t>(-128), true, Format::r8_sint), 0x80U);
    EXPECT_EQ(encoded(40000, false, Format::r16_sint), 32767U);
    EXPECT_EQ(encoded(70000, true, Format::r16_uint), 65535U);
}

}  // namespace
}  // namespace texton
