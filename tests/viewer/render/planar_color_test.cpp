// Planar images in the colors of the screen.
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/planar.h>
#include <texton/stream.h>

#include "tests/support/temporary_files.h"
#include "tests/support/y4m_file.h"
#include "viewer/render/planar_color.h"

namespace texton::viewer {
namespace {

std::vector<std::byte> texels_of(const Document& document) {
    std::vector<std::byte> texels(packed_bytes(document.info()));
    copy(host_view(texels.data(), document.info().format, document.info().extent), document.array().view());
    return texels;
}

// Returns the colors of a planar document that to_rgb() computes with these options.
std::vector<std::byte> converted(const Document& planar, const PlanarOptions& options) {
    const Array array(planar.device(),
                      {.format = Format::rgba8_unorm, .extent = planar.info(0).extent, .usage = {.surface = true}});
    const Stream stream(planar.device());
    to_rgb(stream, array.view(), Texture(planar.array(0)), Texture(planar.array(1), {.filter = Filter::linear}),
           options);
    stream.synchronize();
    std::vector<std::byte> texels(packed_bytes(array.info()));
    copy(host_view(texels.data(), array.info().format, array.info().extent), array.view());
    return texels;
}

TEST(PlanarColorTest, TheFileStatesTheSitingOfChromaAndTheCodeRange) {
    struct Row {
        const char* header;
        ChromaSiting siting;
        CodeRange range;
    };
    const std::filesystem::path path =
        test::temporary_files() / ("texton-planar-color-" + std::to_string(::getpid()) + ".y4m");
    for (const Row& row : {Row{"C420mpeg2", ChromaSiting::left, CodeRange::limited},
                           Row{"C420jpeg XCOLORRANGE=FULL", ChromaSiting::center, CodeRange::full},
                           Row{"C420paldv XCOLORRANGE=LIMITED", ChromaSiting::top_left, CodeRange::limited}}) {
        test::write_y4m(path, 1, row.header);
        const auto planar = Document::open({.paths = {path}}, Device::cpu());
        const PlanarOptions options{.format = Format::nv12, .range = row.range, .siting = row.siting};
        EXPECT_EQ(planar_options(*planar).siting, row.siting) << row.header;
        EXPECT_EQ(planar_options(*planar).range, row.range) << row.header;
        const std::vector<std::byte> shown = texels_of(*color_of(planar));
        EXPECT_EQ(shown, converted(*planar, options)) << row.header;
        if (row.siting != ChromaSiting::left) {
            EXPECT_NE(shown, converted(*planar, {.format = Format::nv12})) << row.header;
        }
    }
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace texton::viewer
