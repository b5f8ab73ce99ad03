// Commands and programs that reproduce the displayed image: the tests run the commands and compare the files with the
// display.
#include "viewer/inspect/reproduce.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <texton/copy.h>
#include <texton/image.h>
#include <texton/image_load.h>
#include <texton/linear.h>
#include <texton/resample.h>

#include "tests/support/command_line.h"
#include "tests/support/texels.h"
#include "viewer/model/reduced_image.h"

namespace texton::viewer {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const fs::path kAssets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);

Seen seen_of(const std::vector<fs::path>& files, const ImageOptions& options = {}) {
    Seen seen;
    seen.session.images = {{files, options}};
    seen.session.device = "cpu";
    seen.image = open_image(files, options).info();
    seen.shown = seen.image;
    seen.width = 400;
    seen.height = 300;
    return seen;
}

// Magnifies the center, so that a part of the image is visible.
void look_closer(Seen& seen) {
    seen.session.fits = false;
    const Extent extent = level_extent(seen.shown, seen.session.subresource.level);
    seen.session.view = {64, {static_cast<double>(extent.width) / 2, static_cast<double>(extent.height) / 2}};
}

class ReproduceTest : public test::CommandLine {
protected:
    // Runs the commands with this build's texton and reads the file that they write.
    ImageFile made(const CommandLines& commands) const {
        const std::string folder = fs::path(kProgram).parent_path().string();
        for (const std::string& line : commands.lines) {
            const test::Ended ended = shell("PATH='" + folder + "':\"$PATH\" " + line);
            EXPECT_EQ(ended.status, 0) << line << '\n' << ended.err;
        }
        return open_image(at(commands.out));
    }

    static std::vector<std::byte> texels(const ImageFile& image, const Subresource& part = {}) {
        const Array array = load(Device::cpu(), image);
        return test::download(array.view(part));
    }

    static std::vector<std::byte> seen_texels(const Seen& seen) {
        const Array array =
            load(Device::cpu(), open_image(seen.session.images[0].paths, seen.session.images[0].options));
        const TexelBox box = visible_box(seen);
        const SubresourceIndex& subresource = seen.session.subresource;
        Subresource part{.level = subresource.level};
        if (is_layered(seen.shown.kind)) part.layer = subresource.layer;
        if (is_cube(seen.shown.kind)) part.face = subresource.face;
        const bool volume = seen.shown.kind == ArrayKind::array_3d;
        part.region = Region{{box.x, box.y, volume ? subresource.slice : 0}, {box.width, box.height, 1}};
        return test::download(array.view(part));
    }
};

TEST_F(ReproduceTest, VisibleBoxMatchesTheTexelsOnTheCanvas) {
    Seen seen = seen_of({kAssets / "card.png"});
    EXPECT_EQ(visible_box(seen), (TexelBox{0, 0, seen.shown.extent.width, seen.shown.extent.height}));
    seen.session.fits = false;
    seen.session.view = {8, {100, 50}};
    EXPECT_EQ(visible_box(seen), (TexelBox{75, 31, 50, 38}));  // 18.75 rows above and below the center
    seen.session.view = {64, {0, 0}};
    EXPECT_EQ(visible_box(seen), (TexelBox{0, 0, 4, 3}));
    seen.session.view = {64, {1e9, 1e9}};
    EXPECT_EQ(visible_box(seen).width, 1u);
    seen.session.layout = Layout::sheet;
    EXPECT_EQ(visible_box(seen).width, seen.shown.extent.width);
}

TEST_F(ReproduceTest, CommandsWriteTheVisibleTexels) {
    struct Case {
        const char* file;
        SubresourceIndex subresource;
    };
    for (const Case& each :
         {Case{"card.png", {}}, Case{"sky.exr", {}}, Case{"levels.dds", {.level = 1}}, Case{"levels.exr", {.level = 1}},
          Case{"layers.dds", {.layer = 2}}, Case{"phantom.dds", {.slice = 3}}, Case{"cube.dds", {.face = 4}},
          Case{"odd_1x1.png", {}}}) {
        for (const bool closer : {false, true}) {
            SCOPED_TRACE(each.file);
            Seen seen = seen_of({kAssets / each.file});
            seen.session.subresource = each.subresource;
            if (closer) look_closer(seen);
            const CommandLines commands = command_lines(seen);
            ASSERT_THAT(commands.lines, Not(IsEmpty()));
            const ImageFile image = made(commands);
            const TexelBox box = visible_box(seen);
            EXPECT_EQ(image.info().extent, (Extent{box.width, box.height})) << commands.lines.back();
            EXPECT_EQ(image.info().format, seen.shown.format) << commands.lines.back();
            EXPECT_TRUE(test::same_bytes(texels(image), seen_texels(seen))) << testing::PrintToString(commands.lines);
        }
    }
}

TEST_F(ReproduceTest, CommandsKeepTheFileOptions) {
    std::vector<fs::path> faces;
    for (const char* face : {"px", "nx", "py", "ny", "pz", "nz"})
        faces.push_back(kAssets / fmt::format("cube_{}.png", face));
    Seen seen = seen_of(faces, {.kind = ArrayKind::layered_2d});
    seen.session.subresource.layer = 3;
    const ImageFile image = made(command_lines(seen));
    EXPECT_TRUE(test::same_bytes(texels(image), seen_texels(seen)));

    Seen linear = seen_of({kAssets / "card.png"}, {.format = Format::rgba16_float});
    look_closer(linear);
    EXPECT_TRUE(test::same_bytes(texels(made(command_lines(linear))), seen_texels(linear)));
}

TEST_F(ReproduceTest, CommandsReproduceAKernelResult) {
    Seen seen = seen_of({kAssets / "card.png"});
    seen.session.kernel = {.name = "gaussian", .parameters = {{"sigma", 2.5}}, .more_inputs = {}};
    const ImageFile image = made(command_lines(seen));
    EXPECT_EQ(image.info().extent, seen.shown.extent);
    EXPECT_FALSE(test::same_bytes(texels(image), seen_texels(seen)));
    // The same kernel in a command written by hand.
    const std::string card = (kAssets / "card.png").string();
    ASSERT_EQ(run("run gaussian '" + card + "' -o hand.dds --device cpu --set sigma=2.5").status, 0);
    EXPECT_TRUE(test::same_bytes(texels(image), texels(open_image(at("hand.dds")))));
}

TEST_F(ReproduceTest, CommandsUseTheSamplerOfTheSession) {
    Seen seen = seen_of({kAssets / "card.png"});
    look_closer(seen);
    seen.session.reading = Reading::sampled;
    seen.session.sampler = Sampler{.filter = Filter::linear, .normalized_coordinates = true};
    for (AddressMode& mode : seen.session.sampler->address) mode = AddressMode::mirror;
    const ImageFile image = made(command_lines(seen));
    const TexelBox box = visible_box(seen);
    const Extent size{box.width * 64, box.height * 64};
    ASSERT_EQ(image.info().extent, size);
    const Array array = load(Device::cpu(), open_image(seen.session.images[0].paths));
    const Linear memory(Device::cpu(), seen.shown.format, size);
    const Stream stream(Device::cpu());
    resample(stream, memory.view(seen.shown.format, size), Texture(array, *seen.session.sampler),
             {.crop = {static_cast<float>(box.x), static_cast<float>(box.y), static_cast<float>(box.width),
                       static_cast<float>(box.height)}});
    stream.synchronize();
    EXPECT_TRUE(test::same_bytes(texels(image), test::download(memory.view(seen.shown.format, size))));
}

TEST_F(ReproduceTest, CommandsDecodeCompressedBlocks) {
    Seen seen = seen_of({kAssets / "bc1.dds"});
    look_closer(seen);
    const ImageFile image = made(command_lines(seen));
    EXPECT_EQ(block_side(image.info().format), 1u);
    EXPECT_EQ(image.info().extent, (Extent{visible_box(seen).width, visible_box(seen).height}));
}

TEST_F(ReproduceTest, CommandsReproduceAReducedImage) {
    for (const char* file : {"card.png", "sky.exr"}) {
        Seen seen = seen_of({kAssets / file});
        const ImageFile whole = open_image(seen.session.images[0].paths);
        const Array smaller = load_halved(Device::cpu(), whole, 2, {});
        seen.halvings = 2;
        seen.image = seen.shown = smaller.info();
        const CommandLines commands = command_lines(seen);
        EXPECT_THAT(commands.notes, ElementsAre(HasSubstr("memory for the whole image")));
        EXPECT_TRUE(test::same_bytes(texels(made(commands)), test::download(smaller.view()))) << file;
        EXPECT_THAT(cpp_program(seen), HasSubstr(".crop = {0, 0, " + std::to_string(smaller.info().extent.width * 4)));
    }
}

TEST_F(ReproduceTest, NotesExplainTheLimitsOfCommands) {
    EXPECT_THAT(command_lines({}).lines, IsEmpty());
    EXPECT_THAT(command_lines({}).notes, ElementsAre("There is no image."));
    Seen seen = seen_of({kAssets / "card.png"});
    seen.session.layout = Layout::sheet;
    const CommandLines sheet = command_lines(seen);
    EXPECT_THAT(sheet.notes, Not(IsEmpty()));
    EXPECT_TRUE(test::same_bytes(texels(made(sheet)), texels(open_image(seen.session.images[0].paths))));
}

TEST(ReproduceTextTest, ShellAndCppTextIsQuoted) {
    EXPECT_EQ(shell_word("a/b-1.png"), "a/b-1.png");
    EXPECT_EQ(shell_word("my card's.png"), "'my card'\\''s.png'");
    EXPECT_EQ(shell_word(""), "''");
    EXPECT_EQ(cpp_literal("a\"b\\c\n"), "\"a\\\"b\\\\c\\012\"");
}

TEST(ReproduceProgramTest, DecodedBlocksOfOneFaceAreReproduced) {
    Seen seen;
    const ImageOptions options{
        .format = Format::rgba16_unorm, .bc = BlockDecoding::exact, .levels = 1, .layer = 2, .face = 5};
    seen.session.images = {{{"/data/cubes.dds"}, options}};
    seen.image = {.format = Format::rgba16_unorm, .extent = {32, 32}};
    seen.shown = seen.image;
    const std::string program = cpp_program(seen);
    for (const char* line : {"bc = texton::BlockDecoding::exact;", "layer = 2;", "face = 5;"})
        EXPECT_THAT(program, HasSubstr(std::string("image_options.") + line));
    const CommandLines commands = command_lines(seen);
    ASSERT_THAT(commands.lines, Not(IsEmpty()));
    EXPECT_THAT(commands.lines.front(), HasSubstr("--bc exact"));
    EXPECT_THAT(commands.lines.front(), HasSubstr("--layer 2 --face 5"));
}

TEST(ReproduceProgramTest, CppProgramLoadsCropsAndSavesTheImage) {
    Seen seen;
    seen.session.images = {{{"/data/my volume.dds"}, {.kind = ArrayKind::array_3d, .first_level = 1}}};
    seen.image = {.format = Format::rgba8_unorm, .extent = {32, 32, 8}, .kind = ArrayKind::array_3d, .levels = 2};
    seen.shown = seen.image;
    seen.session.subresource = {.level = 1, .slice = 2};
    const std::string program = cpp_program(seen);
    EXPECT_THAT(program, HasSubstr("texton::Device device = texton::Device::best();"));
    EXPECT_THAT(program, HasSubstr("image_files{\"/data/my volume.dds\"};"));
    EXPECT_THAT(program, HasSubstr("image_options.kind = texton::ArrayKind::array_3d;"));
    EXPECT_THAT(program, HasSubstr("image_options.first_level = 1;"));
    EXPECT_THAT(program, HasSubstr("part.level = 1;"));
    EXPECT_THAT(program, HasSubstr("part.region = texton::Region{{0, 0, 2}, {16, 16, 1}};"));
    EXPECT_THAT(program, HasSubstr("texton::save(\"view.tif\", array.view(part));"));
}

}  // namespace
}  // namespace texton::viewer
