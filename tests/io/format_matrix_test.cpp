#include <algorithm>
#include <cctype>
#include <map>

#include <texton/error.h>
#include <texton/image_file.h>
#include <texton/image_save.h>

#include "arrays/files/alpha.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

// Every format in every kind of file that can be written: the texels come back, equal in every bit, or the error names
// the option or the kind of file that helps.

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::read_part;
using test::same_bytes;

constexpr Extent kExtent{64, 32};  // smaller files of JPEG 2000 cannot be read by OpenImageIO

struct Container {
    const char* ending;
    bool is_exact = true;  // false: texels are compressed with loss, or stored in other codes
};
constexpr Container kContainers[] = {{"dds"}, {"png"},  {"tif"}, {"exr"},         {"hdr", false}, {"jpg", false},
                                     {"bmp"}, {"tga"},  {"ppm"}, {"webp", false}, {"jp2", false}, {"dpx", false},
                                     {"sgi"}, {"iff"},  {"ico"}, {"gif", false},  {"zfile"},      {"fits"},
                                     {"yuv"}, {"ktx2"}, {"y4m"}};

std::string name_of(const testing::TestParamInfo<Container>& info) { return info.param.ending; }

class FormatMatrixTest : public testing::TestWithParam<Container> {
protected:
    fs::path at(const std::string& name) const { return folder_.at(name); }
    fs::path output() const { return at(std::string("out.") + GetParam().ending); }

    // Returns an image of the format, from a file. Alpha is 1, because some kinds of file hold no other.
    ImageFile source(Format format, const ImageOptions& options = {}) const {
        const FormatInfo& row = info(format);
        Bytes texels = test::pattern(packed_bytes(format, kExtent), 3);
        if (row.layout == FormatLayout::planar) {
            for (std::size_t at = 0; at < texels.size() && format == Format::p010; at += 2)
                texels[at] &= std::byte{0xc0};  // the lower bits are unused
            return open_image(test::write_bytes(at("source.yuv"), texels), {.raw = RawFrames{format, kExtent}});
        }
        if (row.layout == FormatLayout::plain) {
            if (row.kind == FormatKind::floating) make_finite(format, texels);
            if (row.channels == 4) detail::set_alpha_to_one(as_read(format), texels);
        } else if (row.layout == FormatLayout::block) {
            opaque(format, texels);
        } else {
            const auto alpha = static_cast<std::byte>(0xff00 >> channel_bits(format, 3).count);  // the highest bits
            for (std::size_t at = row.bytes - 1; at < texels.size(); at += row.bytes) texels[at] |= alpha;
        }
        save(at("source.ktx2"), host_view(texels.data(), format, kExtent));
        return open_image(at("source.ktx2"), options);
    }

    // Saves the image and compares what was written. Throws the errors of save().
    void round_trip(const ImageFile& image) const {
        save(output(), image);
        const Format format = image.info().format;
        if (plane_count(format) > 1) {
            const ImageOptions raw{.raw = RawFrames{format, kExtent}};
            const ImageFile again =
                open_image(output(), GetParam().ending == std::string("yuv") ? raw : ImageOptions{});
            for (int plane = 0; plane < 2; ++plane)
                EXPECT_TRUE(same_bytes(read_part(again.plane(plane)), read_part(image.plane(plane))));
            return;
        }
        EXPECT_EQ(open_image(output()).info().extent, kExtent);
        if (!GetParam().is_exact) return;
        // Kinds of file without types of Texton's say that integers are unorm or sint.
        const ImageFile again = open_image(output(), {.format = format});
        EXPECT_TRUE(same_bytes(read_part(again), read_part(image)));
    }

private:
    // Files do not say that integers of 8 or 16 bits are not unorm.
    static Format as_read(Format format) {
        if (format == Format::rgba8_uint) return Format::rgba8_unorm;
        return format == Format::rgba16_uint ? Format::rgba16_unorm : format;
    }
    static void make_finite(Format format, Bytes& texels) {
        const std::size_t bytes = info(format).bits / 8;
        for (std::size_t at = bytes - 1; at < texels.size(); at += bytes) texels[at] &= std::byte{0xbb};
    }
    // Makes all texels opaque: BC1 has no transparent code if its first end is larger.
    static void opaque(Format format, Bytes& blocks) {
        const std::size_t bytes = info(format).bytes;
        for (std::size_t at = 0; at < blocks.size(); at += bytes) {
            if (format == Format::bc1_unorm || format == Format::bc1_srgb) {
                blocks[at + 1] |= std::byte{0x80};
                blocks[at + 3] &= std::byte{0x7f};
            } else if (format == Format::bc7_unorm || format == Format::bc7_srgb) {
                blocks[at] = std::byte{1};  // mode 0 has no alpha
            } else if (info(format).channels == 4) {
                std::fill_n(&blocks[at], 8, std::byte{0xff});
            }
        }
    }

    test::ImageFolder folder_;
};

// Returns the extensions that a text names.
std::vector<std::string> endings_in(const std::string& text) {
    std::vector<std::string> endings;
    for (std::size_t at = text.find('.'); at != std::string::npos; at = text.find('.', at + 1)) {
        std::size_t end = at + 1;
        while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end]))) ++end;
        if (end > at + 1) endings.push_back(text.substr(at, end - at));
    }
    return endings;
}

TEST_P(FormatMatrixTest, TexelsComeBackOrTheErrorNamesWhatHelps) {
    constexpr std::string_view kOwn[] = {"dds", "ktx2", "yuv", "y4m"};
    if (std::ranges::find(kOwn, GetParam().ending) == std::end(kOwn) &&
        OIIO::ImageOutput::create(output().string()) == nullptr) {
        (void)OIIO::geterror();
        GTEST_SKIP() << "OpenImageIO was built without a writer of this kind of file";
    }
    std::size_t kept = 0;
    for (const FormatInfo& row : formats()) {
        SCOPED_TRACE(row.name);
        const ImageFile image = source(row.format);
        ASSERT_EQ(image.info().format, row.format);
        const std::optional<Format> savable = savable_format(output(), row.format);
        if (savable == row.format) {
            EXPECT_NO_THROW(round_trip(image));
            ++kept;
            continue;
        }
        const Error error =
            test::expect_error([&] { save(output(), image); }, ErrorCode::io, "texton::save", {row.name});
        if (savable) {
            const std::string option = "ImageOptions::format = " + std::string(name(*savable)) + ".";
            EXPECT_NE(error.remedy().find(option), std::string::npos) << error.what();
            EXPECT_NO_THROW(round_trip(source(row.format, {.format = *savable})));
            continue;
        }
        const std::vector<std::string> endings = endings_in(error.remedy());
        EXPECT_FALSE(endings.empty()) << error.what();
        for (const std::string& ending : endings) {
            EXPECT_NE(ending, output().extension()) << error.what();
            EXPECT_EQ(savable_format(at("other" + ending), row.format), row.format) << error.what();
        }
    }
    EXPECT_GT(kept, 0u);
}

INSTANTIATE_TEST_SUITE_P(Files, FormatMatrixTest, testing::ValuesIn(kContainers), name_of);

TEST(SavableFormatTest, IsTheNearestFormatThatTheKindOfFileHolds) {
    const test::ImageFolder folder;
    const auto nearest = [&](const char* name, Format format) { return savable_format(folder.at(name), format); };
    EXPECT_EQ(nearest("a.png", Format::bc1_srgb), Format::rgba8_srgb);
    EXPECT_EQ(nearest("a.png", Format::bc4_unorm), Format::r16_unorm);
    EXPECT_EQ(nearest("a.png", Format::rgb10a2_unorm), Format::rgba16_unorm);
    EXPECT_EQ(nearest("a.png", Format::r8_snorm), Format::r8_unorm);
    EXPECT_EQ(nearest("a.png", Format::bc6h_ufloat), Format::rgba8_srgb);
    EXPECT_EQ(nearest("a.tif", Format::bc5_snorm), Format::rg16_snorm);
    EXPECT_EQ(nearest("a.tif", Format::r8_snorm), Format::r8_snorm);
    EXPECT_EQ(nearest("a.exr", Format::bc6h_sfloat), Format::rgba16_float);
    EXPECT_EQ(nearest("a.exr", Format::bc7_srgb), Format::rgba16_float);
    EXPECT_EQ(nearest("a.exr", Format::bc4_snorm), Format::r32_float);
    EXPECT_EQ(nearest("a.jpg", Format::bc5_unorm), Format::rgba8_unorm);
    EXPECT_EQ(nearest("a.hdr", Format::bc7_unorm), Format::rgba32_float);
    EXPECT_EQ(nearest("a.dds", Format::bc7_unorm), Format::bc7_unorm);
    EXPECT_EQ(nearest("a.dds", Format::r8_srgb), Format::rgba8_srgb);
    EXPECT_EQ(nearest("a.ktx2", Format::r8_srgb), Format::r8_srgb);
    EXPECT_EQ(nearest("a.ktx2", Format::nv12), std::nullopt);
    EXPECT_EQ(nearest("a.y4m", Format::p010), Format::p010);
    EXPECT_EQ(nearest("a.yuv", Format::nv12), Format::nv12);
    EXPECT_EQ(nearest("a.yuv", Format::r8_unorm), std::nullopt);
    EXPECT_EQ(nearest("a.png", Format::nv12), std::nullopt);
    EXPECT_EQ(nearest("a.png", Format::r32_uint), std::nullopt);
    EXPECT_EQ(folder.files(), 0);
    test::expect_error([&] { (void)nearest("a.nokind", Format::r8_unorm); }, ErrorCode::io, "texton::savable_format",
                       {"a.nokind"});
}

}  // namespace
}  // namespace texton
