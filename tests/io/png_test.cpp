// PNG files that Texton compresses itself: each is read by libpng, which checks the sums of chunks and of the stream.
#include <tbb/global_control.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include <texton/image.h>
#include <texton/image_load.h>
#include <texton/image_save.h>

#include "tests/support/image_folder.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;

class PngTest : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    std::string bytes_of(const std::string& name) const {
        std::ifstream file(at(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    test::ImageFolder folder_;
};

constexpr Format kFormats[] = {Format::r8_unorm,  Format::rg8_unorm,  Format::rgba8_unorm,
                               Format::r16_unorm, Format::rg16_unorm, Format::rgba16_unorm};

// Texels for which each filter is the best one of some rows.
Bytes mixed_texels(Format format, Extent extent) {
    const std::size_t texel = info(format).bytes;
    Bytes texels = test::pattern(extent.width * extent.height * texel, 3);
    for (std::size_t y = 0; y < extent.height; ++y) {
        std::byte* const row = texels.data() + y * extent.width * texel;
        for (std::size_t i = 0; i < extent.width * texel; ++i) {
            switch (y % 6) {
                case 0: break;  // noise
                case 1: row[i] = static_cast<std::byte>(i / texel * 3); break;
                case 2: row[i] = row[static_cast<std::ptrdiff_t>(i - extent.width * texel)]; break;
                case 3: row[i] = static_cast<std::byte>(i / texel + y); break;
                case 4: row[i] = static_cast<std::byte>(i / texel + y * i % 3); break;
                default: row[i] = static_cast<std::byte>(i < 40 ? 200 : 0); break;
            }
        }
    }
    return texels;
}

TEST_F(PngTest, EveryFormatAndSizeIsReadAsItWasWritten) {
    // One block, several, and blocks of one row.
    for (const Extent extent : {Extent{1, 1}, Extent{3, 2}, Extent{37, 29}, Extent{1021, 4200}, Extent{70001, 61}}) {
        for (const Format format : kFormats) {
            SCOPED_TRACE(std::string(name(format)) + " " + to_string(extent));
            const Bytes texels = mixed_texels(format, extent);
            write_image(at("a.png"), format, extent, texels);
            const Image image = read_image(at("a.png"));
            EXPECT_EQ(image.extent, extent);
            EXPECT_EQ(image.format, format);
            EXPECT_TRUE(image.texels == texels);
        }
    }
}

TEST_F(PngTest, RowsOfSeveralCallsAreOneStream) {
    const Extent extent{1500, 2100};  // bands of 4 MiB
    const Bytes texels = mixed_texels(Format::rgba8_unorm, extent);
    write_image(at("a.tif"), Format::rgba8_unorm, extent, texels);
    save(at("a.png"), open_image(at("a.tif")));
    EXPECT_TRUE(read_image(at("a.png")).texels == texels);
    write_image(at("b.png"), Format::rgba8_unorm, extent, texels);
    EXPECT_TRUE(read_image(at("b.png")).texels == texels);
}

TEST_F(PngTest, TheBytesOfAFileDoNotDependOnTheNumberOfThreads) {
    const Extent extent{1900, 2400};
    const Bytes texels = mixed_texels(Format::rgba8_unorm, extent);
    write_image(at("many.png"), Format::rgba8_unorm, extent, texels);
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    write_image(at("one.png"), Format::rgba8_unorm, extent, texels);
    EXPECT_TRUE(bytes_of("one.png") == bytes_of("many.png"));
}

// OpenImageIO compresses files for which compression is chosen.
TEST_F(PngTest, MetadataAndSizeAreThoseOfFilesThatOpenImageIoCompresses) {
    for (const Extent extent : {Extent{481, 321}, Extent{2300, 1900}}) {
        SCOPED_TRACE(to_string(extent));
        Bytes texels(extent.width * extent.height * 4);
        for (std::size_t i = 0; i < texels.size(); ++i)
            texels[i] =
                static_cast<std::byte>(i % 4 == 3 ? 255 : (i / 4 % extent.width + i / 4 / extent.width) / 5 + i % 3);
        write_image(at("a.tif"), Format::rgba8_srgb, extent, texels);
        SaveOptions options{.attributes = {{"Copyright", "string", "nobody"},
                                           {"XResolution", "float", "300"},
                                           {"YResolution", "float", "300"},
                                           {"ResolutionUnit", "string", "in"}}};
        save(at("own.png"), open_image(at("a.tif")), options);
        options.compression = "default";
        save(at("other.png"), open_image(at("a.tif")), options);
        const ImageFile own = open_image(at("own.png")), other = open_image(at("other.png"));
        EXPECT_EQ(own.info(), other.info());
        const auto texts = [](const ImageFile& image) {
            std::vector<std::string> lines;
            for (const ImageAttribute& each : image.metadata().attributes)
                lines.push_back(each.name + "=" + each.value);
            return lines;
        };
        EXPECT_EQ(texts(own), texts(other));
        EXPECT_FALSE(texts(own).empty());
        EXPECT_TRUE(read_image(at("own.png")).texels == read_image(at("other.png")).texels);
        EXPECT_LT(fs::file_size(at("own.png")), fs::file_size(at("other.png")) * 11 / 10);
    }
}

TEST_F(PngTest, MoreRowsThanLibpngReadsAreRefused) {
    const Bytes texels(1'000'001);
    EXPECT_THROW(write_image(at("a.png"), Format::r8_unorm, {1, texels.size()}, texels), Error);
    EXPECT_EQ(folder_.files(), 0);
    write_image(at("a.png"), Format::r8_unorm, {1, texels.size() - 1}, std::span(texels).first(texels.size() - 1));
    EXPECT_EQ(read_image(at("a.png")).extent, (Extent{1, texels.size() - 1}));
}

}  // namespace
}  // namespace texton
