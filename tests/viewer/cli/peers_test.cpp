// texton compare and texton info beside idiff and iinfo of OpenImageIO, which report the same wherever float32 tells
// the values apart.
#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/support/command_line.h"
#include "tests/support/configured_path.h"
#include "tests/support/image_folder.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using OIIO::TypeDesc;
using test::Ended;

// What both programs say about two files.
struct Verdict {
    bool equal = false;
    std::size_t differing = 0;  // texels
    double max = 0;
};

class CliPeersTest : public test::CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        ASSERT_EQ(shell("idiff --help && iinfo --help").status, 0) << "install the package openimageio-tools";
    }
    Verdict of_texton(const std::string& a, const std::string& b) const {
        const Ended result = run("compare --json --metric differing --metric max " + a + " " + b);
        EXPECT_LE(result.status, 1) << result.err;
        const json out = json::parse(result.out);
        Verdict verdict{.equal = out["equal"]};
        for (const json& image : out["images"]) {
            verdict.differing += image["differing"].get<std::size_t>();
            verdict.max = std::max(verdict.max, image["max"].get<double>());
        }
        EXPECT_EQ(result.status == 0, verdict.equal);
        return verdict;
    }
    Verdict of_idiff(const std::string& a, const std::string& b) const {
        const Ended result = shell("idiff -a -fail 0 -warn 0 " + a + " " + b);
        Verdict verdict{.equal = result.status == 0};
        const auto each = [&](const char* pattern, const auto& use) {
            const std::regex expression(pattern);
            for (std::sregex_iterator at(result.out.begin(), result.out.end(), expression), end; at != end; ++at)
                use((*at)[1].str());
        };
        each("Max error  = ([-+.e0-9]+)",
             [&](const std::string& text) { verdict.max = std::max(verdict.max, std::stod(text)); });
        // Printed once for warnings and once for failures.
        each("([0-9]+) pixels \\([^)]*\\) over 0\n[^\n]* over 0",
             [&](const std::string& text) { verdict.differing += std::stoull(text); });
        return verdict;
    }
    // Writes an image, and one that differs from it in the given texels: `change` gets the bytes of one of them.
    void store_pair(const std::string& a, const std::string& b, const test::StoredImage& image, std::size_t step,
                    const std::function<void(std::byte*)>& change) const {
        test::store(at(a), {image});
        test::StoredImage other = image;
        const std::size_t texel = image.spec.pixel_bytes();
        for (std::vector<std::byte>& level : other.levels)
            for (std::size_t i = 0; i + texel <= level.size(); i += step * texel) change(level.data() + i);
        test::store(at(b), {other});
    }
};

// Values from 0 to 1 in every type, and alpha 1.
test::StoredImage ramp(int channels, TypeDesc type) {
    test::StoredImage image = test::stored_image(33, 21, channels, type, 1);
    std::vector<float> values(image.levels.front().size() / type.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 250) / 250;
    // idiff multiplies colors by alpha.
    for (std::size_t alpha = 3; channels == 4 && alpha < values.size(); alpha += 4) values[alpha] = 1;
    OIIO::convert_types(TypeDesc::FLOAT, values.data(), type, image.levels.front().data(),
                        static_cast<int>(values.size()));
    return image;
}

TEST_F(CliPeersTest, CompareFindsTheDifferencesThatIdiffFinds) {
    struct Case {
        const char* ending;
        int channels;
        TypeDesc type;
    };
    for (const auto& [ending, channels, type] :
         {Case{"png", 3, TypeDesc::UINT8}, Case{"png", 4, TypeDesc::UINT16}, Case{"tif", 1, TypeDesc::UINT8},
          Case{"tif", 4, TypeDesc::UINT16}, Case{"tif", 3, TypeDesc::FLOAT}, Case{"exr", 4, TypeDesc::HALF},
          Case{"exr", 1, TypeDesc::FLOAT}, Case{"bmp", 3, TypeDesc::UINT8}, Case{"tga", 4, TypeDesc::UINT8}}) {
        SCOPED_TRACE(std::string(ending) + ' ' + std::to_string(channels) + ' ' + type.c_str());
        const std::string a = std::string("a.") + ending, b = std::string("b.") + ending;
        const std::size_t bytes = type.size();
        store_pair(a, b, ramp(channels, type), 5, [bytes](std::byte* texel) {
            // The byte before the highest one of the first channel; of bytes, the value.
            std::byte& changed = texel[bytes == 1 ? 0 : bytes - 2];
            changed ^= std::byte{8};
        });
        const Verdict ours = of_texton(a, b), theirs = of_idiff(a, b);
        EXPECT_FALSE(ours.equal);
        EXPECT_FALSE(theirs.equal);
        EXPECT_EQ(ours.differing, theirs.differing);
        EXPECT_EQ(ours.differing, (33u * 21 + 4) / 5);
        EXPECT_NEAR(ours.max, theirs.max, 1e-5 * ours.max + 6e-8);  // float32, printed with six digits
        EXPECT_TRUE(of_texton(a, a).equal);
        EXPECT_TRUE(of_idiff(a, a).equal);
    }
}

TEST_F(CliPeersTest, CompareFindsTheDifferencesOfLevelsThatIdiffFinds) {
    test::StoredImage chain = test::stored_chain(32, 16, 4, TypeDesc::UINT8, 1, 16);
    store_pair("a.tif", "b.tif", chain, 3, [](std::byte* texel) { texel[1] ^= std::byte{16}; });
    const Verdict ours = of_texton("a.tif", "b.tif"), theirs = of_idiff("a.tif", "b.tif");
    EXPECT_FALSE(theirs.equal);
    EXPECT_EQ(ours.differing, theirs.differing);
    EXPECT_NEAR(ours.max, theirs.max, 1e-6);
}

// idiff converts all values to float32, which tells the lowest bits apart only in the three changed texels of value 0.
TEST_F(CliPeersTest, CompareSeesDifferencesThatFloat32DoesNotTellApart) {
    store_pair("a.tif", "b.tif", ramp(1, TypeDesc::UINT32), 5, [](std::byte* texel) { texel[0] ^= std::byte{1}; });
    const Verdict ours = of_texton("a.tif", "b.tif"), theirs = of_idiff("a.tif", "b.tif");
    EXPECT_FALSE(ours.equal);
    EXPECT_EQ(ours.differing, (33u * 21 + 4) / 5);
    EXPECT_EQ(theirs.differing, 3u);
}

TEST_F(CliPeersTest, CompareSeesColorsOfTransparentTexels) {
    test::StoredImage image = ramp(4, TypeDesc::UINT8);
    std::vector<std::byte>& texels = image.levels.front();
    for (std::size_t alpha = 3; alpha < texels.size(); alpha += 4) texels[alpha] = std::byte{0};
    store_pair("a.png", "b.png", image, 5, [](std::byte* texel) { texel[0] ^= std::byte{8}; });
    EXPECT_TRUE(of_idiff("a.png", "b.png").equal);
    EXPECT_EQ(of_texton("a.png", "b.png").differing, (33u * 21 + 4) / 5);
}

TEST_F(CliPeersTest, InfoAgreesWithIinfo) {
    // Files of which Texton reads more: iinfo reads no cubes, layers, volumes or other block compression of DDS, and of
    // raw frames nothing.
    static constexpr std::array kOnlyTexton{"bc1.dds",  "bc2.dds",    "bc3.dds",    "bc5_snorm.dds",
                                            "cube.dds", "layers.dds", "levels.dds", "phantom.dds"};
    const fs::path assets = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS);
    std::string files;
    for (const auto& entry : fs::directory_iterator(assets)) {
        const std::string ending = entry.path().extension();
        if (ending == ".png" || ending == ".exr" || ending == ".dds") files += " '" + entry.path().string() + "'";
    }
    const Ended ours = run("info --json" + files);
    ASSERT_EQ(ours.status, 0) << ours.err;
    std::map<std::string, std::string> theirs;
    const std::string lines = shell("iinfo" + files).out;
    const std::regex line("([^\n]+?) +: +([0-9]+) x +([0-9]+)(?: x +([0-9]+))?, ([0-9]+) channel, ([^\n]*)");
    for (std::sregex_iterator at(lines.begin(), lines.end(), line), end; at != end; ++at)
        theirs[(*at)[1]] = (*at)[2].str() + ' ' + (*at)[3].str() + ' ' + (*at)[5].str() + ' ' + (*at)[6].str();
    std::size_t agreed = 0;
    const json listed = json::parse(ours.out);
    for (const json& file : listed["files"]) {
        const std::string path = file["path"], name = fs::path(path).filename();
        SCOPED_TRACE(name);
        const bool is_alone = std::ranges::find(kOnlyTexton, name) != kOnlyTexton.end();
        EXPECT_EQ(theirs.contains(path), !is_alone);
        if (!theirs.contains(path)) continue;
        std::istringstream seen(theirs[path]);
        std::size_t width = 0, height = 0, channels = 0;
        std::string type, kind;
        seen >> width >> height >> channels >> type >> kind;
        EXPECT_EQ(file["width"], width);
        EXPECT_EQ(file["height"], height);
        EXPECT_EQ(file["file_kind"], kind);
        ++agreed;
        if (kind == "dds") continue;  // Texton reports the compressed format, and iinfo the decoded one
        EXPECT_EQ(file["channels"].size(), channels);
        static const std::map<std::string, std::string> kTypes{
            {"uint8", "8_"}, {"uint16", "16_unorm"}, {"half", "16_float"}, {"float", "32_float"}};
        EXPECT_THAT(file["format"].get<std::string>(), testing::HasSubstr(kTypes.at(type)));
    }
    EXPECT_GE(agreed, 34u);
}

}  // namespace
}  // namespace texton
