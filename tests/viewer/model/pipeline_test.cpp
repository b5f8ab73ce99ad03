#include "viewer/model/pipeline.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <texton/linear.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/model/computed_images.h"

namespace texton::verify {
namespace {

class PipelineTest : public testing::Test {
protected:
    std::filesystem::path written(const std::string& text) const {
        std::ofstream(folder_.at("pipeline.json")) << text;
        return folder_.at("pipeline.json");
    }
    Pipeline read(const std::string& text) const { return read_pipeline(written(text), false); }

    test::ImageFolder folder_;
};

TEST_F(PipelineTest, NamesThatTheFileSystemRefusesAreWrittenAndRead) {
    const std::filesystem::path out = folder_.at(std::string(300, 'a') + ".png");
    Pipeline pipeline;
    pipeline.push_back({.run = {.kernel = &kernel_named("median"), .parameters = {}}, .out = out});
    write_pipeline(folder_.at("saved.json"), pipeline);
    const Pipeline again = read_pipeline(folder_.at("saved.json"), true);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].out.filename(), out.filename());
}

TEST_F(PipelineTest, AWrittenPipelineIsReadAgain) {
    Pipeline pipeline;
    pipeline.push_back(
        {.run = {.kernel = &kernel_named("resample"),
                 .parameters = {{"filter", std::string("area")}, {"crop", std::vector{0.0, 0.5, 8.0, 8.0}}},
                 .size = ResultSize{.texels = {4, 3, 0}},
                 .format = Format::rgba16_float}});
    pipeline.push_back({.run = {.kernel = &kernel_named("blend"), .parameters = {{"opacity", 0.5}}},
                        .files = {folder_.at("b.png")},
                        .samplers = {Json{{"filter", "point"}}, Json{{"address", {"wrap", "clamp"}}}},
                        .out = folder_.at("out.png")});
    pipeline.push_back({.run = {.kernel = &kernel_named("resample"),
                                .parameters = {},
                                .size = ResultSize{.texels = {64, 48, 0}, .is_limit = true}}});
    write_pipeline(folder_.at("saved.json"), pipeline);
    const Pipeline again = read_pipeline(folder_.at("saved.json"), false);
    ASSERT_EQ(again.size(), pipeline.size());
    for (std::size_t i = 0; i < again.size(); ++i) {
        EXPECT_EQ(again[i].run.kernel, pipeline[i].run.kernel);
        EXPECT_EQ(again[i].run.parameters, pipeline[i].run.parameters);
        EXPECT_EQ(again[i].run.size, pipeline[i].run.size);
        EXPECT_EQ(again[i].run.format, pipeline[i].run.format);
        EXPECT_EQ(again[i].files, pipeline[i].files);
        EXPECT_EQ(again[i].samplers, pipeline[i].samplers);
        EXPECT_EQ(again[i].out, pipeline[i].out);
    }
}

TEST_F(PipelineTest, OldNamesOfParametersAreRead) {
    const Pipeline pipeline = read(R"({"steps": [{"kernel": "median", "parameters": {"size": "5"}},
        {"kernel": "swizzle", "parameters": {"channels": "bgra"}}]})");
    EXPECT_EQ(pipeline[0].run.parameters, (std::map<std::string, ParameterValue>{{"window", std::string("5")}}));
    EXPECT_EQ(pipeline[1].run.parameters, (std::map<std::string, ParameterValue>{{"order", std::string("bgra")}}));
}

TEST_F(PipelineTest, FilesOutsideOfTheFolderAreRefusedUnlessAllowed) {
    for (const char* members : {R"("files": ["../b.png"])", R"("out": "/tmp/b.png")"}) {
        const auto path = written(std::string(R"({"steps": [{"kernel": "blend", )") + members + "}]}");
        (void)test::expect_error([&] { (void)read_pipeline(path, false); }, ErrorCode::not_permitted, "", {"b.png"});
        EXPECT_EQ(read_pipeline(path, true).size(), 1u);
    }
}

TEST_F(PipelineTest, WrongStepsAreRefusedWithTheirNumber) {
    const auto refused = [&](const std::string& steps, std::initializer_list<std::string_view> parts) {
        (void)test::expect_error([&] { (void)read(R"({"steps": )" + steps + "}"); }, ErrorCode::bad_argument, "",
                                 parts);
    };
    refused("[]", {"'steps' is []"});
    refused(R"([{"kernel": "gaussian"}, {"kernel": "gausian"}])", {"step 2", "'gausian', which is not a kernel"});
    refused(R"([{"kernel": "gaussian", "parameters": {"radius": -1}}])", {"step 1", "radius"});
    refused(R"([{"kernel": "gaussian", "sigma": 1}])", {"step 1", "'sigma' is not a known key"});
    refused(R"([{"kernel": "gaussian", "files": ["b.png"]}])", {"step 1, gaussian, reads 1 image"});
    refused(R"([{"kernel": "blend", "files": ["b.png"], "sampler": [{}, {}, {}]}])",
            {"3 samplers, but reads 2 images"});
    refused(R"([{"kernel": "gaussian", "sampler": {"filter": "round"}}])", {"step 1, 'sampler'", "point, linear"});
    refused(R"([{"kernel": "gaussian", "out": ""}])", {"'out' contains \"\""});
    (void)test::expect_error([&] { (void)read("{"); }, ErrorCode::io, "", {"pipeline.json"});
    (void)test::expect_error([&] { (void)read_pipeline(folder_.at("gone.json"), false); }, ErrorCode::io, "",
                             {"gone.json"});
}

TEST(ComputedImagesTest, SlicesBecomeAnArrayThatTheNextKernelAccepts) {
    const auto kind_of = [](Extent extent, std::vector<ArrayKind> accepted, ArrayKind preferred) {
        const Linear memory(Device::cpu(), Format::r8_unorm, extent);
        const View image = memory.view(Format::r8_unorm, extent);
        const ArrayInfo info = array_of(Device::cpu(), std::span(&image, 1), accepted, preferred).info();
        EXPECT_EQ(slice_count(info, 0), extent.depth);
        return info.kind;
    };
    using enum ArrayKind;
    EXPECT_EQ(kind_of({4, 4, 1}, {array_2d, layered_2d}, layered_2d), array_2d);
    EXPECT_EQ(kind_of({4, 4, 6}, {array_2d, layered_2d}, array_2d), layered_2d);
    EXPECT_EQ(kind_of({4, 4, 6}, {cubemap, layered_2d}, array_2d), cubemap);
    EXPECT_EQ(kind_of({4, 4, 6}, {cubemap, layered_2d}, layered_2d), layered_2d);
    EXPECT_EQ(kind_of({4, 4, 12}, {cubemap_layered}, cubemap_layered), cubemap_layered);
    EXPECT_EQ(kind_of({4, 4, 7}, {array_3d}, array_2d), array_3d);
    EXPECT_EQ(kind_of({4, 4, 7}, {cubemap}, cubemap), layered_2d);
}

}  // namespace
}  // namespace texton::verify
