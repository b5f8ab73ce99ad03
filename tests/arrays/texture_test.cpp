#include <texton/texture.h>

#include <chrono>
#include <future>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/planar_array.h>
#include <texton/pool.h>
#include <texton/sample.h>

#include "arrays/array_block.h"
#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/gate.h"
#include "tests/support/on_every_device.h"

namespace texton {
namespace {

using test::all_kinds;
using test::expect_error;

constexpr const char* kTexture = "texton::Texture";

Sampler normalized() { return {.normalized_coordinates = true}; }

class TextureTest : public test::OnEveryDevice {
protected:
    Array make(ArrayKind kind, Format format = Format::rgba8_unorm) const {
        return Array(device(), test::flat_info(kind, format));
    }
    void refused(const Array& array, const Sampler& sampler, std::initializer_list<std::string_view> fragments,
                 test::Caller where = test::Caller::here()) const {
        expect_error([&] { Texture texture(array, sampler); }, ErrorCode::bad_argument, kTexture, fragments, where);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, TextureTest, test::every_device(), test::device_label);

// --- queries ---------------------------------------------------------------------------------------------------------

TEST_P(TextureTest, TexturesOfEveryKindReportTheirProperties) {
    for (const ArrayKind kind : all_kinds()) {
        SCOPED_TRACE(name(kind));
        const ArrayInfo info = test::small_info(kind, Format::rgba8_unorm);
        const Array array(device(), info);
        Sampler sampler = normalized();
        sampler.filter = Filter::linear;
        sampler.border[2] = 0.25F;
        const Texture texture(array, sampler);
        EXPECT_EQ(texture.source(), TextureSource::array);
        EXPECT_EQ(texture.kind(), kind);
        EXPECT_EQ(texture.format(), Format::rgba8_unorm);
        EXPECT_EQ(texture.sampler(), sampler);
        EXPECT_EQ(texture.extent(), info.extent);
        EXPECT_EQ(texture.levels(), info.levels);
        EXPECT_EQ(texture.layers(), is_layered(kind) ? info.layers : 1);
        EXPECT_EQ(texture.device(), device());
        EXPECT_NE(texture.handle(), 0U);
    }
}

TEST_P(TextureTest, TexturesReportTheLevelsAndLayersOfTheirRange) {
    const Array array(device(), {.extent = {40, 20}, .kind = ArrayKind::layered_2d, .layers = 5, .levels = 4});
    const Texture rest(array, normalized(), {.first_level = 1, .first_layer = 2});
    EXPECT_EQ(rest.extent(), (Extent{20, 10}));
    EXPECT_EQ(rest.levels(), 3);
    EXPECT_EQ(rest.layers(), 3U);
    const Texture part(array, normalized(),
                       {.format = Format::rgba8_srgb, .first_level = 2, .levels = 1, .first_layer = 1, .layers = 2});
    EXPECT_EQ(part.format(), Format::rgba8_srgb);
    EXPECT_EQ(part.extent(), (Extent{10, 5}));
    EXPECT_EQ(part.levels(), 1);
    EXPECT_EQ(part.layers(), 2U);
}

TEST_P(TextureTest, TexturesOfMemoryReportALinearOrPitchedSource) {
    const Linear row(device(), Format::rg16_uint, {100});
    const Texture linear(row.view(Format::rg16_uint, {100}));
    EXPECT_EQ(linear.source(), TextureSource::linear);
    EXPECT_EQ(linear.kind(), ArrayKind::array_1d);
    EXPECT_EQ(linear.format(), Format::rg16_uint);
    EXPECT_EQ(linear.extent(), (Extent{100}));
    const Pitched2D rows(device(), Format::r32_float, {33, 9});
    const Texture pitched(rows.view(), {.filter = Filter::linear});
    EXPECT_EQ(pitched.source(), TextureSource::pitched);
    EXPECT_EQ(pitched.kind(), ArrayKind::array_2d);
    EXPECT_EQ(pitched.extent(), (Extent{33, 9}));
    EXPECT_EQ(pitched.levels(), 1);
    EXPECT_EQ(pitched.device(), device());
}

// --- equal source and sampler give the same texture ------------------------------------------------------------------

TEST_P(TextureTest, EqualSourceSamplerAndRangeGiveTheSameTexture) {
    const Array array(device(), {.extent = {16, 16}, .levels = 3});
    const Texture first(array, normalized());
    EXPECT_EQ(first, Texture(array, normalized()));
    EXPECT_EQ(first.handle(), Texture(array, normalized()).handle());
    EXPECT_EQ(first, Texture(array, normalized(),
                             {.format = Format::rgba8_unorm, .levels = 3}));  // the same values, given explicitly
    const Texture copied = first;  // NOLINT(performance-unnecessary-copy-initialization)
    EXPECT_EQ(first, copied);
}

TEST_P(TextureTest, EachChangedFieldGivesAnotherTexture) {
    const Array array(device(), {.extent = {16, 16}, .levels = 3});
    Sampler base = normalized();
    base.filter = Filter::linear;
    std::vector<Sampler> samplers{base};
    const auto with = [&](const auto& change) {
        Sampler sampler = base;
        change(sampler);
        samplers.push_back(sampler);
    };
    for (std::size_t axis = 0; axis < 3; ++axis) with([&](Sampler& s) { s.address[axis] = AddressMode::mirror; });
    with([](Sampler& s) { s.filter = Filter::point; });
    with([](Sampler& s) { s.mip_filter = Filter::linear; });
    with([](Sampler& s) { s.trilinear_optimization = false; });
    with([](Sampler& s) { s.max_anisotropy = 8; });
    with([](Sampler& s) { s.mip_bias = 1; });
    with([](Sampler& s) { s.mip_min = 1; });
    with([](Sampler& s) { s.mip_max = 1; });
    for (std::size_t channel = 0; channel < 4; ++channel) with([&](Sampler& s) { s.border[channel] = 1; });
    with([](Sampler& s) { s.border[0] = -0.0F; });  // equal as a number, but with other bits
    std::vector<Texture> textures;
    for (const Sampler& sampler : samplers) textures.emplace_back(array, sampler);
    textures.emplace_back(array, base, TextureRange{.format = Format::rgba8_srgb});
    textures.emplace_back(array, base, TextureRange{.first_level = 1});
    textures.emplace_back(array, base, TextureRange{.levels = 1});
    const Array other(device(), array.info());
    textures.emplace_back(other, base);
    for (std::size_t i = 0; i < textures.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_FALSE(textures[i] == textures[j]) << i << " and " << j;
            EXPECT_NE(textures[i].handle(), textures[j].handle()) << i << " and " << j;
        }
    }
}

TEST_P(TextureTest, SeamlessFilteringGivesAnotherTextureOnlyForCubemaps) {
    for (const ArrayKind kind : all_kinds()) {
        SCOPED_TRACE(name(kind));
        const Array array = make(kind);
        Sampler sampler = normalized();
        sampler.seamless_cubemap = true;
        if (is_cube(kind)) {
            EXPECT_FALSE(Texture(array, sampler) == Texture(array, normalized()));
        } else {
            refused(array, sampler, {"seamless_cubemap", name(kind)});
        }
    }
}

TEST_P(TextureTest, TexturesOfMemoryAreComparedBySourceAndSampler) {
    const Linear memory(device(), 1 << 16);
    const View rows = memory.view(Format::r8_unorm, {64, 64});
    const Texture whole(rows);
    EXPECT_EQ(whole, Texture(rows));
    EXPECT_FALSE(whole == Texture(rows, {.filter = Filter::linear}));
    EXPECT_FALSE(whole == Texture(memory.view(Format::r8_uint, {64, 64})));
    EXPECT_FALSE(whole == Texture(memory.view(Format::r8_unorm, {64, 63})));
    EXPECT_FALSE(whole == Texture(rows.region({{0, 8, 0}, {64, 56, 1}})));
    EXPECT_FALSE(whole == Texture(memory.view(Format::r8_unorm, {64 * 64})));
}

TEST_P(TextureTest, TheArrayCachesATextureBeyondItsLastHandle) {
    const Array array = make(ArrayKind::array_2d);
    const std::uint64_t first = Texture(array).handle();
    EXPECT_NE(Texture(array, {.filter = Filter::linear}).handle(), first);
    EXPECT_EQ(Texture(array).handle(), first);
}

TEST_P(TextureTest, TheCacheKeepsAnyNumberOfTextures) {
    const Array array = make(ArrayKind::array_2d);
    const auto made = [&](int i) {
        Sampler sampler;
        sampler.mip_bias = static_cast<float>(i);
        return Texture(array, sampler);
    };
    std::vector<Texture> held;
    for (int i = 0; i < 600; ++i) held.push_back(made(i));
    for (int i = 0; i < 600; ++i) ASSERT_EQ(made(i), held[static_cast<std::size_t>(i)]) << i;
}

TEST_P(TextureTest, ConcurrentThreadsGetTheSameTexture) {
    const Array array = make(ArrayKind::array_2d);
    constexpr int kSamplers = 50;
    std::vector<std::vector<Texture>> got(4);
    std::vector<std::thread> threads;
    for (auto& own : got) {
        threads.emplace_back([&own, &array] {
            for (int i = 0; i < kSamplers; ++i) {
                Sampler sampler;
                sampler.mip_bias = static_cast<float>(i);
                own.emplace_back(array, sampler);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& own : got) EXPECT_EQ(own, got.front());
}

// --- textures in use -------------------------------------------------------------------------------------------------

// Images of one pixel, each with the border color of another texture to which nothing refers after the call.
class BorderPixels {
public:
    explicit BorderPixels(const Device& device)
        : array_(device, {.format = Format::r32_float, .extent = {8, 8}}),
          pixels_(device, kSlot * kCount),
          stream_(device) {}

    // Enqueues the pixel with number i on the stream.
    void enqueue(std::size_t i) const {
        constexpr AddressMode kBorder = AddressMode::border;
        const Sampler sampler{.address = {kBorder, kBorder, kBorder}, .border = {static_cast<float>(i), 0, 0, 0}};
        sample(Texture(array_, sampler), {.x0 = -100}, pixel(i), stream_);
    }
    void expect(std::size_t first) const {
        stream_.synchronize();
        for (std::size_t i = first; i < kCount; ++i) {
            float value = -1;
            copy(host_view(&value, Format::r32_float, {1}), pixel(i));
            ASSERT_EQ(value, static_cast<float>(i));
        }
    }
    const Stream& stream() const { return stream_; }
    static constexpr std::size_t kCount = 600;

private:
    static constexpr std::size_t kSlot = 512;  // bytes
    View pixel(std::size_t i) const {
        return pixels_.view(Format::r32_float, {kSlot / 4 * kCount}).region({{i * kSlot / 4}, {1}});
    }

    Array array_;
    Linear pixels_;
    Stream stream_;
};

TEST_P(TextureTest, QueuedWorkReadsTexturesToWhichNothingRefers) {
    const BorderPixels pixels(device());
    const test::Gate gate;
    gate.close(pixels.stream());
    // A GPU waits for the queued work before it destroys texture objects, so another thread opens the gate.
    const auto enqueued = std::async(std::launch::async, [&] {
        for (std::size_t i = 0; i < BorderPixels::kCount; ++i) pixels.enqueue(i);
    });
    (void)enqueued.wait_for(std::chrono::milliseconds(200));
    gate.open();
    enqueued.wait();
    pixels.expect(0);
}

TEST_P(TextureTest, AGraphKeepsItsTextureObjects) {
    const BorderPixels pixels(device());
    pixels.enqueue(0);  // creates the texture object, which is not possible during a capture
    const Graph graph = Graph::capture(pixels.stream(), [&] { pixels.enqueue(0); });
    for (std::size_t i = 1; i < BorderPixels::kCount; ++i) pixels.enqueue(i);
    graph.launch(pixels.stream());
    pixels.expect(0);
}

// --- lifetime --------------------------------------------------------------------------------------------------------

TEST_P(TextureTest, ATextureKeepsItsArrayAliveAndIsDestroyedWithTheArray) {
    std::weak_ptr<detail::ArrayBlock> block;
    {
        std::optional<Texture> texture;
        {
            const Array array = make(ArrayKind::array_2d);
            block = array.block();
            texture.emplace(array);
        }
        EXPECT_FALSE(block.expired());
        EXPECT_EQ(texture->extent(), (Extent{13, 7}));
        const FetchPoint point;
        EXPECT_EQ(sample(*texture, std::span(&point, 1)).texels.size(), 1U);
    }
    EXPECT_TRUE(block.expired());  // no reference cycle
}

TEST_P(TextureTest, ATextureKeepsItsMemoryAlive) {
    std::optional<Texture> texture;
    {
        const Linear memory(device(), 4096);
        texture.emplace(memory.view());
    }
    const FetchPoint point;
    EXPECT_EQ(sample(*texture, std::span(&point, 1), {.operation = FetchOperation::texel}).texels.size(), 1U);
}

TEST_P(TextureTest, FreedMemoryIsRefusedAndNamed) {
    const Stream stream(device());
    const Pool pool(device());  // its first allocation starts at a page boundary
    Linear memory = pool.allocate(4096, stream);
    const Texture texture(memory.view());
    const View view = memory.view();
    stream.synchronize();
    memory.free(stream);
    const FetchPoint point;
    expect_error([&] { (void)sample(texture, std::span(&point, 1), {.operation = FetchOperation::texel}); },
                 ErrorCode::released, "texton::sample", {"freed"});
    expect_error([&] { Texture other(view); }, ErrorCode::released, kTexture, {"freed"});
    expect_error([&] { (void)texture.handle(); }, ErrorCode::released, kTexture, {"freed"});
    stream.synchronize();
}

TEST_P(TextureTest, DuringACaptureOnlyCachedTexturesAreReturned) {
    const Array array = make(ArrayKind::array_2d);
    const Texture texture(array);
    const Stream stream(device());
    const Graph graph = Graph::capture(stream, [&] {
        EXPECT_EQ(Texture(array), texture);
        expect_error([&] { Texture other(array, {.filter = Filter::linear}); }, ErrorCode::capturing, kTexture,
                     {"creating a texture"});
    });
    EXPECT_EQ(Texture(array), texture);
}

// --- invalid requests ------------------------------------------------------------------------------------------------

TEST_P(TextureTest, SamplerFieldsUnsupportedByTheFormatAreRefusedAndNamed) {
    const Array integers = make(ArrayKind::array_2d, Format::rgba8_uint);
    refused(integers, {.filter = Filter::linear}, {"linear filter ", "rgba8_uint reads as integers"});
    refused(integers, {.mip_filter = Filter::linear}, {"linear mip_filter", "rgba8_uint reads as integers"});
    const Array fractions = make(ArrayKind::array_2d);
    expect_error([&] { Texture texture(fractions, {.filter = Filter::linear}, {.format = Format::rgba8_sint}); },
                 ErrorCode::bad_argument, kTexture, {"rgba8_sint"});
    const Texture read_as_fractions(integers, {.filter = Filter::linear}, {.format = Format::rgba8_unorm});
    EXPECT_EQ(read_as_fractions.format(), Format::rgba8_unorm);
}

TEST_P(TextureTest, SamplerFieldsUnsupportedByTheKindAreRefusedAndNamed) {
    for (const ArrayKind kind : all_kinds()) {
        SCOPED_TRACE(name(kind));
        const Array array = make(kind);
        if (is_cube(kind)) {
            refused(array, {}, {"normalized_coordinates", name(kind)});
            continue;
        }
        const std::size_t axes = is_flat(kind) ? 1 : kind == ArrayKind::array_3d ? 3 : 2;
        for (const AddressMode mode : {AddressMode::wrap, AddressMode::mirror}) {
            for (std::size_t axis = 0; axis < 3; ++axis) {
                Sampler sampler;
                sampler.address[axis] = mode;
                if (axis < axes) {
                    refused(array, sampler, {"address[" + std::to_string(axis) + "]", "normalized_coordinates"});
                } else {
                    EXPECT_NO_THROW(Texture(array, sampler));
                }
                sampler.normalized_coordinates = true;
                EXPECT_NO_THROW(Texture(array, sampler));
            }
        }
    }
    const Array levels(device(), {.extent = {8, 8}, .levels = 2});
    refused(levels, {}, {"normalized_coordinates", "2 mip levels"});
    EXPECT_NO_THROW(Texture(levels, {}, {.first_level = 1}));
}

TEST_P(TextureTest, PlanesOfNv12SupportOnlyClampAddressing) {
    const PlanarArray frame(device(), Format::nv12, {8, 8});
    for (const int plane : {0, 1}) {
        for (const AddressMode mode : {AddressMode::wrap, AddressMode::mirror, AddressMode::border}) {
            Sampler sampler = normalized();
            sampler.address[1] = mode;
            expect_error([&] { Texture texture(frame.plane(plane), sampler); }, ErrorCode::unsupported, kTexture,
                         {"address[1]", "nv12"});
        }
        EXPECT_NO_THROW(Texture(frame.plane(plane), normalized()));
    }
    const PlanarArray wide(device(), Format::p010, {8, 8});
    Sampler sampler = normalized();
    sampler.address[0] = AddressMode::wrap;
    EXPECT_NO_THROW(Texture(wide.plane(0), sampler));
}

TEST_P(TextureTest, WidePlanesWithTooFewRowsAreRefused) {
    for (const Format format : {Format::nv12, Format::p010, Format::p016, Format::nv16}) {
        const std::size_t widest = 64 / info(plane_info(format, 0).format).bytes;
        const std::size_t lowest = 18 * plane_info(format, 1).divide_height;  // 18 rows of chroma
        for (const int plane : {0, 1}) {
            EXPECT_NO_THROW(Texture(PlanarArray(device(), format, {widest, 4}).plane(plane)));
            EXPECT_NO_THROW(Texture(PlanarArray(device(), format, {widest + 2, lowest}).plane(plane)));
            const PlanarArray low(device(), format, {widest + 2, 16});
            expect_error([&] { Texture texture(low.plane(plane)); }, ErrorCode::unsupported, kTexture,
                         {"plane of " + std::to_string(low.plane(plane).info().extent.height) + " rows"});
        }
    }
}

TEST_P(TextureTest, SamplerValuesOutOfRangeAreRefusedAndNamed) {
    const Array array = make(ArrayKind::array_2d);
    for (const int anisotropy : {0, 17, 255}) {
        Sampler sampler = normalized();
        sampler.max_anisotropy = static_cast<std::uint8_t>(anisotropy);
        refused(array, sampler, {"max_anisotropy", std::to_string(anisotropy)});
    }
    const auto spoilt = [](float Sampler::*field) {
        Sampler sampler;
        sampler.*field = std::numeric_limits<float>::quiet_NaN();
        return sampler;
    };
    refused(array, spoilt(&Sampler::mip_bias), {"mip_bias"});
    refused(array, spoilt(&Sampler::mip_min), {"mip_min"});
    refused(array, spoilt(&Sampler::mip_max), {"mip_max"});
}

TEST_P(TextureTest, MissingLevelsAndLayersAreRefused) {
    const Array array(device(), {.extent = {16, 16}, .kind = ArrayKind::layered_2d, .layers = 3, .levels = 4});
    const auto outside = [&](const TextureRange& range, std::initializer_list<std::string_view> fragments) {
        expect_error([&] { Texture texture(array, normalized(), range); }, ErrorCode::out_of_bounds, kTexture,
                     fragments);
    };
    outside({.first_level = 4}, {"level 4", "has 4"});
    outside({.first_level = -1}, {"has 4"});
    outside({.first_level = 3, .levels = 2}, {"2 levels", "level 3"});
    outside({.first_layer = 3}, {"layer 3", "has 3"});
    outside({.first_layer = 2, .layers = 2}, {"2 layers", "layer 2"});
    const Array single = make(ArrayKind::array_2d);
    expect_error([&] { Texture texture(single, {}, {.first_layer = 1}); }, ErrorCode::out_of_bounds, kTexture);
}

TEST_P(TextureTest, FormatsOfAnotherTexelOrBlockSizeAreRefused) {
    const auto refused_as = [&](Format stored, Format read) {
        const Array array(device(), {stored, {16, 16}});
        expect_error([&] { Texture texture(array, normalized(), {.format = read}); }, ErrorCode::bad_argument, kTexture,
                     {name(stored), name(read)});
    };
    refused_as(Format::rgba8_unorm, Format::rgba16_unorm);
    refused_as(Format::r8_uint, Format::rg8_uint);
    refused_as(Format::rg32_uint, Format::bc1_unorm);
    refused_as(Format::bc1_unorm, Format::bc4_unorm);
    refused_as(Format::bc2_unorm, Format::bc3_unorm);
    refused_as(Format::bc4_unorm, Format::bc4_snorm);
    refused_as(Format::bc1_srgb, Format::bc1_unorm);
    refused_as(Format::rgba8_unorm, Format::nv12);
    refused_as(Format::rgba8_unorm, Format::rgb10a2_unorm);
    const Array blocks(device(), {Format::bc1_unorm, {16, 16}});
    EXPECT_EQ(Texture(blocks, {}, {.format = Format::bc1_srgb}).format(), Format::bc1_srgb);
}

TEST_P(TextureTest, Formats32BitIntegerAndFloatCannotBeReinterpreted) {
    const auto unsupported = [&](Format stored, Format read) {
        const Array array(device(), {stored, {16, 16}});
        expect_error([&] { Texture texture(array, {}, {.format = read}); }, ErrorCode::unsupported, kTexture,
                     {name(stored), name(read)});
    };
    unsupported(Format::r32_uint, Format::rgba8_uint);
    unsupported(Format::r32_float, Format::rgba8_unorm);
    unsupported(Format::r16_float, Format::r16_uint);
    const Array array(device(), {Format::r32_uint, {16, 16}});
    for (const Format format : {Format::r32_sint, Format::r32_float, Format::rg16_float}) {
        EXPECT_EQ(Texture(array, {}, {.format = format}).format(), format);
    }
}

TEST_P(TextureTest, BlockCompressedRangesAreOneLevelWithoutLayersOrTheWholeArray) {
    for (const ArrayKind kind : {ArrayKind::array_2d, ArrayKind::layered_2d, ArrayKind::cubemap}) {
        const std::size_t layers = kind == ArrayKind::layered_2d ? 2 : 1;
        const Array array(
            device(), {.format = Format::bc7_unorm, .extent = {16, 16}, .kind = kind, .layers = layers, .levels = 3});
        EXPECT_EQ(Texture(array, normalized()).levels(), 3);
        const auto unsupported = [&](const TextureRange& range) {
            expect_error([&] { Texture texture(array, normalized(), range); }, ErrorCode::unsupported, kTexture,
                         {"bc7_unorm"});
        };
        unsupported({.first_level = 1});
        unsupported({.levels = 2});
        if (layers > 1) unsupported({.first_layer = 1});
        if (kind == ArrayKind::array_2d) {
            EXPECT_EQ(Texture(array, normalized(), {.first_level = 1, .levels = 1}).levels(), 1);
        } else {
            unsupported({.first_level = 1, .levels = 1});
        }
    }
}

TEST_P(TextureTest, UnnormalizedCoordinatesNeedOneLevelWithoutLayers) {
    for (const ArrayKind kind : {ArrayKind::array_1d, ArrayKind::array_2d, ArrayKind::array_3d}) {
        const Array array(device(), {.format = Format::r8_uint, .extent = {8}, .kind = kind, .levels = 3});
        EXPECT_EQ(Texture(array, {}, {.first_level = 1, .levels = 1}).levels(), 1);
    }
    for (const ArrayKind kind : {ArrayKind::layered_1d, ArrayKind::layered_2d}) {
        const Array array(device(), {.format = Format::r8_uint, .extent = {8}, .kind = kind, .layers = 2, .levels = 3});
        expect_error([&] { Texture texture(array, {}, {.first_level = 1, .levels = 1}); }, ErrorCode::unsupported,
                     kTexture, {"normalized_coordinates is false", "one of 3 levels", name(kind)});
    }
}

TEST_P(TextureTest, UnsupportedMemoryIsRefused) {
    const auto refused_view = [&](const ConstView& view, ErrorCode code,
                                  std::initializer_list<std::string_view> fragments, const Sampler& sampler = {}) {
        expect_error([&] { Texture texture(view, sampler); }, code, kTexture, fragments);
    };
    const auto alignment = device().limits().texture_alignment;
    test::Bytes host(64);
    refused_view(host_view(std::span(host)), ErrorCode::bad_argument, {"host memory"});
    const Pinned pinned(device(), 4096);
    refused_view(pinned.view(), ErrorCode::bad_argument, {"pinned memory"});
    const Array array = make(ArrayKind::array_2d);
    refused_view(array.view(), ErrorCode::bad_argument, {"array", "Array"});
    const Linear memory(device(), 1 << 16);
    refused_view(memory.view().region({{16, 0, 0}, {64, 1, 1}}), ErrorCode::bad_argument, {std::to_string(alignment)});
    refused_view(memory.view(Format::r8_uint, {33, 4}), ErrorCode::bad_argument, {"the pitch is 33 bytes", "32"});
    refused_view(memory.view(Format::r8_uint, {32, 4, 2}), ErrorCode::bad_argument, {"32 x 4 x 2"});
    refused_view(memory.view(Format::bc1_unorm, {64, 64}), ErrorCode::unsupported, {"bc1_unorm"});
    refused_view(memory.view(), ErrorCode::bad_argument, {"filter"}, {.filter = Filter::linear});
    refused_view(memory.view(), ErrorCode::bad_argument, {"normalized_coordinates"}, normalized());
    refused_view(ConstView(), ErrorCode::bad_argument, {"empty"});
    const std::size_t rows = device().limits().pitch_2d[1] + 1;
    const Linear many(device(), 32 * rows);
    refused_view(many.view(Format::r8_uint, {32, rows}), ErrorCode::overflow, {std::to_string(rows - 1)});
    const Pitched2D integers(device(), Format::r8_uint, {64, 8});
    refused_view(integers.view(), ErrorCode::bad_argument, {"r8_uint"}, {.filter = Filter::linear});
}

TEST_P(TextureTest, AnEmptyArrayIsRefused) {
    Array from = make(ArrayKind::array_2d);
    const Array to = std::move(from);
    expect_error([&] { Texture texture(from); }, ErrorCode::released, kTexture);  // NOLINT(bugprone-use-after-move)
    expect_error([&] { Texture texture{Array()}; }, ErrorCode::released, kTexture);
}

}  // namespace
}  // namespace texton
