// Images larger than the device's limits. Positions refer to the file, and displayed texels are read from the file.
#include <cstring>

#include <gmock/gmock.h>

#include <texton/image_save.h>

#include "tests/support/image_folder.h"
#include "viewer/inspect/inspected_texel.h"
#include "viewer/inspect/region_comparison.h"
#include "viewer/inspect/region_statistics.h"
#include "viewer/model/kernel_result.h"
#include "viewer/render/image_list.h"
#include "viewer/render/layout.h"
#include "viewer/render/stored_texels.h"
#include "viewer/render/texel_text.h"

namespace texton::viewer {
namespace {

using test::Bytes;

constexpr int kWidth = 140001;  // wider than the limit of any device
constexpr int kHeight = 37;

class LargeImageTest : public testing::Test {
protected:
    static void SetUpTestSuite() {
        folder_ = new test::ImageFolder;
        test::StoredImage image = test::stored_image(kWidth, kHeight, 1, OIIO::TypeDesc::UINT8, 11);
        image.spec.tile_width = image.spec.tile_height = 64;
        image.spec.tile_depth = 1;
        texels_ = new Bytes(image.levels[0]);
        test::store(folder_->at("wide.tif"), {image});
        document_ = Document::open({.paths = {folder_->at("wide.tif")}}, Device::cpu());
    }
    static void TearDownTestSuite() {
        document_.reset();
        delete texels_;
        delete folder_;
    }
    static std::uint8_t code(std::size_t x, std::size_t y) {
        return std::to_integer<std::uint8_t>((*texels_)[y * kWidth + x]);
    }
    static Scene scene(double zoom, Position center) {
        Scene out{.session = {}, .shown = document_, .against = {}, .width = 64, .height = 64};
        out.session.view = {zoom, center};
        out.session.fits = false;
        return out;
    }

    static test::ImageFolder* folder_;
    static Bytes* texels_;
    static std::shared_ptr<const Document> document_;
};
test::ImageFolder* LargeImageTest::folder_ = nullptr;
Bytes* LargeImageTest::texels_ = nullptr;
std::shared_ptr<const Document> LargeImageTest::document_;

TEST_F(LargeImageTest, ArrayIsReducedAndReportedSizesMatchTheFile) {
    ASSERT_EQ(document_->halvings(), 1);
    EXPECT_EQ(document_->info().extent, (Extent{70000, 18}));
    EXPECT_EQ(document_->whole().extent, (Extent{140001, 37}));
    EXPECT_EQ(document_->extent({}), (Extent{140001, 37}));
    EXPECT_EQ(extent_of({}, *document_), (Extent{140001, 37}));
    EXPECT_EQ(document_->as_loaded()->extent({}), (Extent{70000, 18}));
    EXPECT_EQ(document_->as_loaded()->halvings(), 0);
    EXPECT_THAT(halving_text(*document_), testing::HasSubstr("140001 x 37 texels of r8_unorm"));
    EXPECT_THAT(thumbnail(document_, 64).text, testing::StartsWith("140001 x 37"));
    const auto seen = texel_at(scene(4, {140000.5, 36.5}), {32, 32});
    ASSERT_TRUE(seen);
    EXPECT_EQ(std::floor(seen->at.x), 140000);
    EXPECT_EQ(std::floor(seen->at.y), 36);
}

TEST_F(LargeImageTest, PositionsConvertBetweenFileAndArray) {
    const SeenTexel texel{{}, {1000.5, 20.5}};
    const SeenTexel there = in_array(*document_, texel);
    EXPECT_EQ(there.at, (Position{500.25, 10.25}));
    EXPECT_EQ(in_files(*document_, {}, there), texel);
    EXPECT_EQ(in_array(*document_, {}, TexelBox{1001, 3, 4, 1}), (TexelBox{500, 1, 3, 1}));
    EXPECT_EQ(in_array(*document_, {}, TexelBox{140000, 36, 1, 1}), (TexelBox{69999, 17, 1, 1}))
        << "beyond the last 2 x 2 block";
    Session session;
    session.view = {3, {100, 8}};
    session.pins = {{10.5, 4.5}};
    session.selection = TexelBox{8, 8, 8, 8};
    const Session of_array = in_array(*document_, session);
    EXPECT_EQ(of_array.view, (ViewState{6, {50, 4}}));
    EXPECT_EQ(of_array.pins, (std::vector<Position>{{5.25, 2.25}}));
    EXPECT_EQ(of_array.selection, (TexelBox{4, 4, 4, 4}));
    EXPECT_EQ(in_array(*document_->as_loaded(), session), session);
}

TEST_F(LargeImageTest, StoredTexelsTextAndInspectorUseTheFilesTexels) {
    for (const auto& [x, y] : {std::pair(0u, 0u), std::pair(77777u, 20u), std::pair(140000u, 36u)}) {
        const Color value = value_at(*document_, {}, x, y);
        EXPECT_EQ(value[0], static_cast<float>(code(x, y)) / 255.0f) << x;
        EXPECT_EQ(stored_text(document_, {}, {x, y, 1, 1}, false)[0][0], std::to_string(code(x, y)));
        const InspectedTexel texel = inspect_texel(scene(1, {}), {}, x, y);
        EXPECT_EQ(texel.stored[0].decimal, std::to_string(code(x, y)));
        EXPECT_EQ(texel.displayed[0], code(x, y));
        EXPECT_EQ(texel.halvings, 1);
        EXPECT_EQ(subresource_text(*document_, {}, texel.x, texel.y),
                  "(" + std::to_string(x) + ", " + std::to_string(y) + ")");
    }
}

TEST_F(LargeImageTest, ValueTextIsApproximateUntilTheFileIsRead) {
    const auto again = Document::open(document_->source(), Device::cpu());
    EXPECT_THAT(words_of(*again, {}, 5000, 12), testing::StartsWith("about "));
    (void)again->texels({}, {5000, 12, 1, 1});
    EXPECT_EQ(words_of(*again, {}, 5000, 12), fmt::format("{:.4f}", code(5000, 12) / 255.0));
}

TEST_F(LargeImageTest, FullQualityReadsTheFileWhereTheArrayIsTooCoarse) {
    const auto file_pixel = [](double x, double y) {
        return static_cast<float>(code(static_cast<std::size_t>(x), static_cast<std::size_t>(y))) / 255.0f;
    };
    const PixelBox box{139900, 0, 256, 256};
    const Scene one = scene(1, {});
    EXPECT_TRUE(reads_files(one));
    const Values quick = values_of(one, box, Quality::quick), full = values_of(one, box, Quality::full);
    EXPECT_EQ(quick.quality, Quality::quick);
    EXPECT_EQ(full.quality, Quality::full);
    const Bytes smaller = test::download(document_->array().view());
    for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < 256; ++x) {
            const auto at = static_cast<std::size_t>(y) * 256 + static_cast<std::size_t>(x);
            const std::size_t column = 139900 + static_cast<std::size_t>(x);
            ASSERT_EQ(full.seen[at], column < kWidth);
            ASSERT_EQ(quick.seen[at], column < 140000 && y < 36)
                << "texels beyond the last 2 x 2 block are not loaded yet";
            if (full.seen[at]) {
                ASSERT_EQ(full.values[at][0], file_pixel(static_cast<double>(column), y)) << x << ", " << y;
            }
            if (!quick.seen[at]) continue;
            const auto code_there = smaller[static_cast<std::size_t>(y / 2) * 70000 + column / 2];
            ASSERT_EQ(quick.values[at][0], static_cast<float>(std::to_integer<int>(code_there)) / 255.0f);
        }
    }
    EXPECT_FALSE(reads_files(scene(0.5, {}))) << "one texel of the array covers one pixel";
    EXPECT_TRUE(reads_files(scene(0.51, {})));
    Scene sampled = one;
    sampled.session.reading = Reading::sampled;
    EXPECT_FALSE(reads_files(sampled)) << "textures read the array";
}

TEST_F(LargeImageTest, SampledPixelsComeFromTheArrayAtFilePositions) {
    Scene sampled = scene(2, {});
    sampled.session.reading = Reading::sampled;
    sampled.session.sampler = Sampler{};
    const Values values = values_of(sampled, {2000, 0, 256, 256}, Quality::full);
    for (std::size_t x = 0; x < 256; ++x) {
        const Color expected = value_at(*document_->as_loaded(), {}, (1000 + x / 2) / 2, 3);
        ASSERT_EQ(values.values[14 * 256 + x][0], expected[0]) << x;
    }
}

TEST_F(LargeImageTest, DifferenceToAFullSizeImageUsesTheFilesTexels) {
    // The same texels in an array that the device can hold: only the first columns.
    const std::size_t columns = 1000;
    Array whole(Device::cpu(), {.format = Format::r8_unorm, .extent = {columns, kHeight}});
    Bytes bytes;
    for (std::size_t y = 0; y < kHeight; ++y)
        bytes.insert(bytes.end(), texels_->begin() + static_cast<std::ptrdiff_t>(y * kWidth),
                     texels_->begin() + static_cast<std::ptrdiff_t>(y * kWidth + columns));
    bytes[5 * columns + 7] ^= std::byte{1};
    test::upload(whole.view(), bytes);
    Scene both = scene(1, {});
    both.against = Document::of(std::move(whole), "whole");
    both.session.compare.mode = CompareMode::absolute;
    const Values values = values_of(both, {0, 0, 64, 64}, Quality::full);
    for (std::size_t y = 0; y < kHeight; ++y) {
        for (std::size_t x = 0; x < 64; ++x)
            ASSERT_EQ(values.values[y * 64 + x][0] > 0, x == 7 && y == 5) << x << ", " << y;
    }
    EXPECT_NO_THROW((void)values_of(both, {0, 0, 64, 64}, Quality::quick));
    EXPECT_THROW((void)compare_region(both), Error) << "one of the images was reduced";
}

TEST_F(LargeImageTest, EquallyReducedImagesAreComparedAtReducedSize) {
    Scene both = scene(1, {});
    both.against = document_;
    const RegionComparison found = compare_region(both);
    EXPECT_EQ(found.comparison.all.differing, 0u);
    EXPECT_EQ(found.extent, (Extent{70000, 18}));
    EXPECT_THAT(found.note, testing::HasSubstr("1/2 of their width and height"));
}

TEST_F(LargeImageTest, StatisticsCoverTheReducedTexelsOfTheBox) {
    const RegionStatistics all = region_statistics(*document_, {}, whole_box(*document_, {}));
    EXPECT_EQ(all.statistics.finite[0], 70000u * 18u);
    EXPECT_EQ(region_statistics(*document_, {}, {140000, 36, 1, 1}).statistics.finite[0], 1u);
}

TEST_F(LargeImageTest, KernelResultKeepsFilePositions) {
    const std::vector<std::shared_ptr<const Document>> inputs{document_};
    const auto made = run_kernel({.name = "gaussian", .parameters = {}, .more_inputs = {}}, inputs).document;
    EXPECT_EQ(made->info().extent, (Extent{70000, 18}));
    EXPECT_EQ(made->extent({}), (Extent{140001, 37}));
    Scene of_kernel = scene(3, {100, 8});
    of_kernel.shown = made;
    EXPECT_FALSE(reads_files(of_kernel));
    const Values values = values_of(of_kernel, {0, 0, 256, 64}, Quality::full);
    EXPECT_EQ(values.values[30 * 256 + 100], value_at(*made->as_loaded(), {}, 33 / 2, 10 / 2));
    EXPECT_EQ(value_at(*made, {}, 33, 10), value_at(*made->as_loaded(), {}, 16, 5));
    EXPECT_THAT(halving_text(*made), testing::StartsWith("It was computed from an image"));
}

TEST_F(LargeImageTest, ReadingStopsAfterCancellation) {
    const auto again = Document::open(document_->source(), Device::cpu());
    EXPECT_THROW((void)again->texels({}, {0, 0, 100, 30}, CancellationToken([] { return true; })), Canceled);
    const Scene one{.session = scene(1, {}).session, .shown = again, .against = {}, .width = 64, .height = 64};
    EXPECT_THROW((void)render(one, {0, 0, 64, 64}, CancellationToken([] { return true; })), Canceled);
}

TEST_F(LargeImageTest, FileChannelCountIsKept) {
    test::ImageFolder folder;
    test::store(folder.at("a.tif"), {test::stored_image(kWidth, 4, 3, OIIO::TypeDesc::UINT8, 1)});
    const auto document = Document::open({.paths = {folder.at("a.tif")}}, Device::cpu());
    ASSERT_EQ(document->halvings(), 1);
    EXPECT_EQ(file_channels(*document, 0), 3);
}

TEST(LargeKindsTest, LayersVolumesPlanesAndLevelsAreReadFromFiles) {
    test::ImageFolder folder;
    const auto check = [](const std::shared_ptr<const Document>& document, const ImageFile& whole,
                          const SubresourceIndex& subresource, const Subresource& part) {
        const Extent extent = document->extent(subresource);
        Subresource slice = part;
        if (whole.info().kind == ArrayKind::array_3d)
            slice.region = Region{{0, 0, subresource.slice}, {extent.width, extent.height, 1}};
        return test::same_bytes(document->texels(subresource, {0, 0, extent.width, extent.height}),
                                test::read_part(whole, slice));
    };
    // Layers wider than the limit of any device.
    std::vector<std::filesystem::path> layers;
    for (unsigned i = 0; i < 3; ++i)
        layers.push_back(test::store(folder.at("layer" + std::to_string(i) + ".tif"),
                                     {test::stored_image(33001, 9, 1, OIIO::TypeDesc::UINT8, i)}));
    auto document = Document::open({.paths = layers}, Device::cpu());
    ASSERT_EQ(document->halvings(), 1);
    EXPECT_EQ(document->info().extent, (Extent{16500, 4}));
    EXPECT_TRUE(check(document, open_image(layers), {.layer = 2}, {.layer = 2}));

    // A wider volume: its slices are numbered as in the files.
    std::vector<std::filesystem::path> slices;
    for (unsigned i = 0; i < 3; ++i)
        slices.push_back(test::store(folder.at("slice" + std::to_string(i) + ".tif"),
                                     {test::stored_image(20001, 9, 1, OIIO::TypeDesc::UINT8, i)}));
    document = Document::open({.paths = slices, .options = {.kind = ArrayKind::array_3d}}, Device::cpu());
    ASSERT_EQ(document->halvings(), 1);
    EXPECT_EQ(document->info().extent, (Extent{10000, 4, 1}));
    EXPECT_EQ(document->clamped({.slice = 9}).slice, 2u);
    EXPECT_EQ(document->in_array({.slice = 2}).slice, 0u);
    EXPECT_TRUE(check(document, open_image(slices, {.kind = ArrayKind::array_3d}), {.slice = 2}, {}));
    EXPECT_EQ(label_of(*document, {.slice = 2}), "slice 2");

    // Planes.
    const RawFrames frames{.extent = {140000, 82}};
    test::write_bytes(folder.at("a.yuv"), test::pattern(140000 * 82 * 3 / 2, 7));
    document = Document::open({.paths = {folder.at("a.yuv")}, .options = {.raw = frames}}, Device::cpu());
    ASSERT_EQ(document->halvings(), 1);
    EXPECT_EQ(document->info(0).extent, (Extent{70000, 40}));
    EXPECT_EQ(document->whole(1).extent, (Extent{70000, 41}));
    EXPECT_TRUE(check(document, open_image(folder.at("a.yuv"), {.raw = frames}).plane(1), {.plane = 1}, {}));
    Scene in_color{.session = {}, .shown = document, .against = {}, .width = 64, .height = 64};
    EXPECT_NO_THROW((void)render(in_color, {0, 0, 64, 64}));

    // Mip levels: levels that were not loaded are read from the file.
    test::StoredImage chain = test::stored_chain(140001, 37, 1, OIIO::TypeDesc::UINT8, 3, 64);
    test::store(folder.at("chain.tif"), {chain});
    document = Document::open({.paths = {folder.at("chain.tif")}}, Device::cpu());
    ASSERT_GT(document->halvings(), 0);
    const int left_out = document->halvings();
    EXPECT_EQ(document->whole().levels, document->info().levels + left_out);
    EXPECT_TRUE(document->is_finer_in_files({.level = 0}));
    EXPECT_FALSE(document->is_finer_in_files({.level = left_out}));
    for (const int level : {0, left_out, left_out + 1})
        EXPECT_TRUE(check(document, open_image(folder.at("chain.tif")), {.level = level}, {.level = level})) << level;
    EXPECT_EQ(document->in_array({.level = left_out + 1}).level, 1);
    const SeenTexel coarse = in_files(*document, {.level = 0}, {{.level = 1}, {5, 5}});
    EXPECT_EQ(coarse.subresource.level, left_out + 1);
    EXPECT_EQ(coarse.at, (Position{5, 5}));
    EXPECT_EQ(in_files(*document, {.level = 0}, {{.level = 0}, {5, 5}}).subresource.level, 0);
}

// Writes a DDS file with levels of one slice of blocks, larger than any array.
std::filesystem::path store_blocks(const std::filesystem::path& path, Extent extent, int levels) {
    const Array small(Device::cpu(), {.format = Format::bc1_unorm, .extent = {64, 64}, .levels = levels});
    save(path, small);
    Bytes bytes = test::file_bytes(path);
    std::size_t texels = 0, header = bytes.size();
    for (int level = 0; level < levels; ++level) {
        const auto side = static_cast<std::size_t>(level);
        texels +=
            packed_bytes(Format::bc1_unorm, {extent.width >> side, std::max<std::size_t>(extent.height >> side, 1)});
        header -= packed_bytes(Format::bc1_unorm, {64u >> side, 64u >> side});
    }
    const auto put = [&](std::size_t at, std::size_t value) {
        const auto word = static_cast<std::uint32_t>(value);
        std::memcpy(bytes.data() + at, &word, 4);
    };
    put(12, extent.height);
    put(16, extent.width);
    put(20, packed_bytes(Format::bc1_unorm, extent));
    bytes.resize(header);
    const Bytes blocks = test::pattern(texels, 5);
    bytes.insert(bytes.end(), blocks.begin(), blocks.end());
    return test::write_bytes(path, bytes);
}

TEST(LargeKindsTest, BlocksReadFromAFileAreDecodedAsTheTextureUnitDoes) {
    test::ImageFolder folder;
    const Source source{.paths = {store_blocks(folder.at("a.dds"), {140002, 18}, 3)}};
    const auto document = Document::open(source, Device::cpu());
    ASSERT_GT(document->halvings(), 0);
    const TexelBox box{139001, 3, 1001, 15};
    std::vector<Color> read(box.width * box.height);
    StoredTexels(document, {}).read(box, read);
    // The same blocks in an array of their own.
    const Region blocks{{139000, 0, 0}, {1002, 18}};
    const Array array(Device::cpu(), {.format = Format::bc1_unorm, .extent = blocks.extent});
    test::upload(array.view(), test::read_part(open_image(source.paths), {.region = blocks}));
    std::vector<Color> expected(read.size());
    StoredTexels(Document::of(array, {}), {}).read({1, 3, 1001, 15}, expected);
    EXPECT_EQ(read, expected);
    EXPECT_THAT(words_of(*document, {}, 139500, 9), testing::Not(testing::StartsWith("about")));
    Scene one{.session = {}, .shown = document, .against = {}, .width = 64, .height = 64};
    EXPECT_NO_THROW((void)inspect_texel(one, {}, 140001, 17));
}

}  // namespace
}  // namespace texton::viewer
