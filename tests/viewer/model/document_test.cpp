#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/image.h>

#include "tests/support/configured_path.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "viewer/model/document.h"
#include "viewer/model/view_state.h"
#include "viewer/render/render.h"

namespace texton::viewer {
namespace {

namespace fs = std::filesystem;

const fs::path kAssets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);
const fs::path kCard = kAssets / "card.png";
const fs::path kSky = kAssets / "sky.exr";

// --- view of the canvas ----------------------------------------------------------------------------------------------

TEST(ViewStateTest, FittedImageIsFullyVisibleAndCentered) {
    for (const Extent image : {Extent{481, 321}, Extent{5000, 20}, Extent{1, 3000}, Extent{7, 7}}) {
        const ViewState view = fitted(image, 1000, 700);
        const Position from = to_image(view, {0, 0}, 1000, 700), to = to_image(view, {1000, 700}, 1000, 700);
        EXPECT_LE(from.x, 1e-6);
        EXPECT_LE(from.y, 1e-6);
        EXPECT_NEAR(from.x + to.x, static_cast<double>(image.width), 1e-6);
        EXPECT_NEAR(from.y + to.y, static_cast<double>(image.height), 1e-6);
    }
    EXPECT_EQ(fitted({481, 321}, 1000, 700).zoom, 2);
    EXPECT_EQ(fitted({481, 321}, 481, 100).zoom, 100.0 / 321);
}

TEST(ViewStateTest, ZoomKeepsThePositionUnderTheCursor) {
    ViewState view = fitted({481, 321}, 1000, 700);
    const Position cursor{123, 456};
    const Position before = to_image(view, cursor, 1000, 700);
    for (const double factor : {1.5, 8.0, 0.01, 1e9, 1e-9}) {
        view = zoomed(view, factor, cursor, 1000, 700);
        const Position after = to_image(view, cursor, 1000, 700);
        EXPECT_NEAR(after.x, before.x, 1e-6);
        EXPECT_NEAR(after.y, before.y, 1e-6);
    }
    EXPECT_EQ(view.zoom, kMinZoom);
}

TEST(ViewStateTest, DragMovesTheImageWithTheMouseButNeverOutOfSight) {
    const ViewState view{4, {100, 100}};
    const ViewState moved = panned(view, {40, -20}, {481, 321});
    EXPECT_EQ(moved.center, (Position{90, 105}));
    EXPECT_EQ(panned(view, {1e6, -1e6}, {481, 321}).center, (Position{0, 321}));
}

// --- the document, on every device ---

class DocumentTest : public test::OnEveryDevice {};

TEST_P(DocumentTest, TexelsMatchTheFile) {
    const Image image = read_image(kCard);
    const auto document = Document::open({.paths = {kCard}, .options = {}}, device());
    EXPECT_EQ(document->title(), "card.png");
    EXPECT_EQ(document->info().extent, image.extent);
    EXPECT_EQ(document->texels({}, {0, 0, image.extent.width, image.extent.height}), image.texels);
    EXPECT_EQ(document->texels({}, {7, 9, 1, 1}).size(), 4u);
    EXPECT_GT(document->timing().total, 0);
}

TEST_P(DocumentTest, SubresourceOutOfRangeIsClampedToTheNearest) {
    const auto levels = Document::open({.paths = {kAssets / "levels.dds"}, .options = {}}, device());
    EXPECT_EQ(levels->clamped({.level = 99}).level, levels->info().levels - 1);
    EXPECT_EQ(levels->extent({.level = 1}), level_extent(levels->info(), 1));
    const auto flat = Document::open({.paths = {kCard}, .options = {}}, device());
    EXPECT_EQ(flat->clamped({.level = 3, .layer = 4, .face = 5, .slice = 6, .plane = 7}), SubresourceIndex{});
}

TEST_P(DocumentTest, LoadingStopsWhenCanceled) {
    const auto stop = [](const ImageProgress&) { return false; };
    EXPECT_THROW((void)Document::open({.paths = {kCard}, .options = {}}, device(), stop), Canceled);
}

INSTANTIATE_TEST_SUITE_P(Devices, DocumentTest, test::every_device(), test::device_label);

TEST(DeviceNameTest, InvalidDeviceNamesAreRefused) {
    EXPECT_EQ(device_named("cpu"), Device::cpu());
    EXPECT_EQ(device_named("cpu:0"), Device::cpu(0));
    EXPECT_EQ(device_named(""), Device::best());
    for (const char* name : {"gpu", "cpu:", "cpu:x", "cpu:-1", "cuda:0x", "cpu:9999"}) {
        EXPECT_THROW((void)device_named(name), Error) << name;
    }
}

}  // namespace
}  // namespace texton::viewer
