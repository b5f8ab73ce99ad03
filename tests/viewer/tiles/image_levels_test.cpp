// Levels that are computed in parts have the bits of those that the kernel mips computes in memory.
#include "viewer/tiles/image_levels.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/error.h>
#include <texton/image_save.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "tests/support/kernel_experiments.h"
#include "viewer/model/host_image.h"

namespace texton::tiles {
namespace {

using Values = std::map<std::string, ParameterValue>;

verify::KernelRun mips(Values values) {
    return {.kernel = &kernel_named("mips"), .parameters = std::move(values), .size = {}, .format = {}};
}

class ImageLevelsTest : public testing::Test {
protected:
    void expect_same(const ArrayInfo& info, const Values& values, std::size_t memory) {
        const Array array = test::random_array(Device::cpu(), info, 3);
        const ImageFile whole = image_of(array);
        save(folder_.at("a.dds"), whole);
        const ImageFile file = open_image(folder_.at("a.dds"));
        const Texture texture(array, verify::standard_sampler(info));
        const auto expected = verify::run(Device::cpu(), mips(values), std::span(&texture, 1));
        const auto files = folder_.files();
        {
            const ImageFile made = with_levels(file, mips(values), memory, folder_.path());
            EXPECT_EQ(folder_.files(), files + 1);
            ASSERT_EQ(made.info().levels, static_cast<int>(expected.size()) + 1);
            EXPECT_EQ(made.info().format, info.format);
            const verify::HostArray read = verify::read_array(made);
            EXPECT_TRUE(read.levels[0].texels == verify::read_array(whole).levels[0].texels);
            for (std::size_t i = 0; i < expected.size(); ++i)
                EXPECT_TRUE(read.levels[i + 1].texels == expected[i].texels) << "level " << i + 1;
        }
        EXPECT_EQ(folder_.files(), files);
    }

    test::ImageFolder folder_;
};

TEST_F(ImageLevelsTest, EveryFilterHasTheBitsOfTheKernelInMemory) {
    const std::vector<std::pair<std::string, Values>> all{
        {"box", {}},
        {"alpha", {{"alpha_weighted", true}}},
        {"kaiser", {{"filter", std::string("kaiser")}}},
        {"wide", {{"filter", std::string("kaiser")}, {"kaiser_width", 3.75}, {"address", std::string("mirror")}}},
        {"wrap", {{"filter", std::string("kaiser")}, {"address", std::string("wrap")}}},
        {"min", {{"filter", std::string("min")}}},
        {"max", {{"filter", std::string("max")}}},
        {"three levels", {{"level_count", 3.0}}},
    };
    for (const auto& [name, values] : all) {
        SCOPED_TRACE(name);
        expect_same({.format = Format::rgba8_unorm, .extent = {613, 397}}, values, std::size_t{600} << 10);
    }
}

TEST_F(ImageLevelsTest, FormatsShapesAndLayersHaveTheBitsOfTheKernelInMemory) {
    const std::vector<ArrayInfo> all{
        {.format = Format::r8_unorm, .extent = {2048, 2048}},
        {.format = Format::rgba8_srgb, .extent = {1000, 3}},
        {.format = Format::r16_uint, .extent = {3, 1000}},
        {.format = Format::rgba16_float, .extent = {512, 300}},
        {.format = Format::rg32_float, .extent = {301, 255}, .kind = ArrayKind::layered_2d, .layers = 3},
        {.format = Format::rgba8_snorm, .extent = {96, 96}, .kind = ArrayKind::cubemap},
        {.format = Format::r32_float, .extent = {60, 50, 40}, .kind = ArrayKind::array_3d},
        {.format = Format::r8_unorm, .extent = {1, 1}},
    };
    for (const ArrayInfo& info : all) {
        SCOPED_TRACE(test::describe(info));
        expect_same(info, {}, std::size_t{2} << 20);
    }
}

TEST_F(ImageLevelsTest, ACanceledComputationAndFailuresLeaveNoFile) {
    const Array array = test::random_array(Device::cpu(), {.format = Format::rgba8_unorm, .extent = {400, 300}}, 4);
    const ImageFile image = image_of(array);
    std::size_t calls = 0;
    EXPECT_THROW((void)with_levels(image, mips({}), std::size_t{1} << 20, folder_.path(),
                                   [&](const ImageProgress& progress) {
                                       EXPECT_LE(progress.done, progress.total);
                                       return ++calls < 3;
                                   }),
                 Canceled);
    EXPECT_EQ(calls, 3u);
    test::expect_error([&] { (void)with_levels(image, mips({}), 2000, folder_.path()); }, ErrorCode::out_of_memory,
                       "texton::mips", {"--memory"});
    test::expect_error([&] { (void)with_levels(image, mips({}), std::size_t{1} << 20, folder_.at("none")); },
                       ErrorCode::io, "texton::tiles::with_levels", {"none"});
    EXPECT_EQ(folder_.files(), 0);
}

}  // namespace
}  // namespace texton::tiles
