#include <OpenImageIO/imageio.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <texton/image_file.h>
#include <texton/image_save.h>

#include "tests/support/dds_file.h"
#include "tests/support/image_folder.h"
#include "tests/support/zstd.h"

// Honest files of very large images, read in bands as a command reads them: in a separate process with its default
// limits of time and memory. TEXTON_LONG_RUN=1 makes the large images; otherwise the same tests use small ones.

namespace texton {
namespace {

namespace fs = std::filesystem;
using OIIO::TypeDesc;
using test::Bytes;

struct Kind {
    const char* ending;
    std::size_t largest;           // width and height with TEXTON_LONG_RUN=1
    int channels = 1;              // of the file
    const char* compression = "";  // of OpenImageIO, or of SaveOptions
    int tolerance = 0;             // of lossy kinds, in codes of 8 bits
};

constexpr std::size_t kFull = 32768;
constexpr std::size_t kOther = 8192;  // of kinds that are decoded as a whole, or whose files are not compressed
constexpr Kind kKinds[] = {
    {"png", kFull},
    {"tif", kFull, 1, "zip"},
    {"exr", kFull, 1, "zip"},
    {"jpg", kFull, 1, "jpeg:90", 3},
    {"hdr", kFull, 3, "", 1},
    {"dds", kFull},
    {"ktx2", kFull, 1, "zstd"},
    {"bmp", kOther, 3},
    {"tga", kOther, 3, "rle"},
    {"ppm", kOther, 3},
    {"sgi", kOther, 3},
    {"dpx", kOther, 3},
    {"webp", kOther, 3, "", 3},
    {"gif", 4096, 3, "", 16},  // as large as OpenImageIO's writer can write
    {"jp2", kOther, 3, "", 3},
};

constexpr std::size_t kBand = 64;  // rows of one value

class LargeFileTest : public testing::TestWithParam<Kind> {
protected:
    LargeFileTest() {
        std::string name = (fs::temp_directory_path() / "texton-large-XXXXXX").string();
        if (mkdtemp(name.data()) != nullptr) folder_ = name;
        setenv("TEXTON_READER", TEXTON_TEST_READER, 0);
    }
    ~LargeFileTest() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    static bool is_long() {
        const char* asked = std::getenv("TEXTON_LONG_RUN");
        return asked != nullptr && std::string_view(asked) == "1";
    }
    static std::size_t side() { return is_long() ? GetParam().largest : 256; }
    // The value of a texel. It is the same in blocks of 64 x 64 texels, so that every kind compresses it well.
    static std::uint8_t code(std::size_t x, std::size_t y) {
        return static_cast<std::uint8_t>(x / kBand * 3 + y / kBand * 5);
    }

    // Returns the first channel of a texel of half or float.
    static double value_of(Format format, const std::byte* texel) {
        if (info(format).bits == 32) {
            float value = 0;
            std::memcpy(&value, texel, sizeof(value));
            return value;
        }
        std::uint16_t half = 0;
        std::memcpy(&half, texel, sizeof(half));
        return std::ldexp((half & 0x3ff) + ((half >> 10) != 0 ? 1024 : 0), std::max(half >> 10, 1) - 25);
    }

    void make(const fs::path& path) const {
        const Kind& kind = GetParam();
        const std::string ending = kind.ending;
        if (ending == "ktx2") {
            const fs::path dds = folder_ / "source.dds";
            make_dds(dds);
            save(path, open_image(dds),
                 {.compression = std::string_view(kind.compression) == "zstd" ? test::zstd_if_built() : ""});
            fs::remove(dds);
        } else if (ending == "dds") {
            make_dds(path);
        } else {
            make_with_oiio(path);
        }
    }
    static void make_dds(const fs::path& path) {
        const auto sides = static_cast<std::uint32_t>(side());
        std::ofstream out(path, std::ios::binary);
        const Bytes header = test::dds::file(test::dds::dxgi_header(sides, sides, 61), {});  // R8_UNORM
        out.write(reinterpret_cast<const char*>(header.data()), static_cast<std::streamsize>(header.size()));
        std::vector<char> row(side());
        for (std::size_t y = 0; y < side(); ++y) {
            for (std::size_t x = 0; x < side(); ++x) row[x] = static_cast<char>(code(x, y));
            out.write(row.data(), static_cast<std::streamsize>(row.size()));
        }
        ASSERT_TRUE(out.flush().good());
    }
    static void make_with_oiio(const fs::path& path) {
        const Kind& kind = GetParam();
        const auto sides = static_cast<int>(side());
        const bool floats = std::string_view(kind.ending) == "hdr" || std::string_view(kind.ending) == "exr";
        const auto out = OIIO::ImageOutput::create(path.string());
        ASSERT_TRUE(out != nullptr) << OIIO::geterror();
        OIIO::ImageSpec spec(sides, sides, kind.channels, floats ? TypeDesc::HALF : TypeDesc::UINT8);
        if (kind.compression[0] != '\0') spec.attribute("compression", kind.compression);
        ASSERT_TRUE(out->open(path.string(), spec)) << out->geterror();
        const auto channels = static_cast<std::size_t>(kind.channels);
        std::vector<float> values(side() * channels * kBand);
        for (std::size_t y = 0; y < side(); y += kBand) {
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = static_cast<float>(code(i / channels % side(), y)) / 255;
            ASSERT_TRUE(out->write_scanlines(static_cast<int>(y), static_cast<int>(y + kBand), 0, TypeDesc::FLOAT,
                                             values.data()))
                << out->geterror();
        }
        ASSERT_TRUE(out->close()) << out->geterror();
    }

    fs::path folder_;
};

TEST_P(LargeFileTest, AnHonestFileIsReadCompletely) {
    const Kind& kind = GetParam();
    constexpr std::uintmax_t kFree = std::uintmax_t{8} << 30;
    if (is_long() && fs::space(folder_).available < kFree) GTEST_SKIP() << folder_ << " has less than 8 GiB free";
    const std::string ending = kind.ending;
    if (ending != "dds" && ending != "ktx2" && OIIO::ImageOutput::create("a." + ending) == nullptr) {
        (void)OIIO::geterror();
        GTEST_SKIP() << "OpenImageIO does not write ." << kind.ending;
    }
    const fs::path path = folder_ / (std::string("large.") + kind.ending);
    ASSERT_NO_FATAL_FAILURE(make(path));
    RecordProperty("file_bytes", std::to_string(fs::file_size(path)));

    const ImageFile image = open_image(path, {}, {.isolated = true});
    const ArrayInfo info = image.info();
    ASSERT_EQ(info.extent, (Extent{side(), side()}));
    const std::size_t texel = texton::info(info.format).bytes;
    const bool is_float = texton::info(info.format).kind == FormatKind::floating;
    ASSERT_TRUE(is_float || texton::info(info.format).bits == 8) << name(info.format);
    Bytes band(side() * kBand * texel);
    for (std::size_t y = 0; y < side(); y += kBand) {
        image.read({.region = Region{{0, y}, {side(), kBand}}}, band);
        for (std::size_t row = 1; kind.tolerance == 0 && row < kBand; ++row) {
            ASSERT_TRUE(std::equal(band.begin(), band.begin() + static_cast<std::ptrdiff_t>(side() * texel),
                                   band.begin() + static_cast<std::ptrdiff_t>(row * side() * texel)))
                << "row " << y + row;
        }
        for (std::size_t x = 0; x < side(); x += 31) {
            const std::size_t at = (y + x) % kBand * side() + x;
            double value = std::to_integer<unsigned>(band[at * texel]);
            if (is_float) value = 255 * value_of(info.format, band.data() + at * texel);
            ASSERT_NEAR(value, code(x, y), kind.tolerance + (is_float ? 0.2 : 0)) << "texel " << x << ", " << y;
        }
    }
}

std::string name_of(const testing::TestParamInfo<Kind>& kind) { return kind.param.ending; }
INSTANTIATE_TEST_SUITE_P(Kinds, LargeFileTest, testing::ValuesIn(kKinds), name_of);

}  // namespace
}  // namespace texton
