// Limits that are joined, regions, maps, FLIP, masks by alpha and special values.
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <texton/image.h>
#include <texton/image_save.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/verify/image_difference.h"
#include "viewer/verify/pattern.h"
#include "viewer/verify/run_suite.h"

namespace texton::verify {
namespace {

using test::expect_error;
using testing::HasSubstr;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

HostImage floats(Extent extent, const std::vector<float>& values) {
    HostImage image(Format::r32_float, extent);
    EXPECT_EQ(image.texels.size(), values.size() * sizeof(float));
    std::memcpy(image.texels.data(), values.data(), image.texels.size());
    return image;
}

class CriteriaTest : public testing::Test {
protected:
    /// Reads the criteria of a case with these keys.
    Criteria criteria(const std::string& keys) const {
        const Json value = Json::parse("{" + keys + "}");
        JsonObject object(value, "s.json, case 'a'");
        Criteria out = read_criteria(object, {.base = folder_.at(""), .within = folder_.at("")});
        object.refuse_others();
        return out;
    }
    /// Returns the limits of `keys` that a second image exceeds.
    std::string exceeded(const HostImage& a, const HostImage& b, const std::string& keys) const {
        return difference_of(a, b, criteria(keys)).exceeded;
    }
    void refused(const std::string& keys, std::initializer_list<std::string_view> fragments) const {
        expect_error([&] { (void)criteria(keys); }, ErrorCode::bad_argument, "texton::verify", fragments);
    }
    void fails(const HostImage& a, const HostImage& b, const std::string& keys,
               std::initializer_list<std::string_view> fragments) const {
        expect_error([&] { (void)exceeded(a, b, keys); }, ErrorCode::bad_argument, "texton::verify", fragments);
    }

    const HostImage before_ = floats({4, 2}, {1, 1, 1, 1, 1, 1, 1, 1});
    const HostImage after_ = floats({4, 2}, {1, 1, 1.5f, 1, 1, 1, 1, 1.25f});
    test::ImageFolder folder_;
};

// --- joined limits ---------------------------------------------------------------------------------------------------

TEST_F(CriteriaTest, OneToleranceOfAnyIsEnough) {
    EXPECT_EQ(exceeded(before_, after_, R"("tolerance": {"any": [{"max": 0.1}, {"max": 0.5}]})"), "");
    const std::string neither = exceeded(before_, after_, R"("tolerance": {"any": [{"max": 0.1}, {"share": 0.1}]})");
    EXPECT_EQ(neither, "any of (max 0.5 (allowed: 0.1) or share 0.25 (allowed: 0.1))");
}

TEST_F(CriteriaTest, AllTolerancesOfAllAndAllLimitsBesideThemMustHold) {
    EXPECT_EQ(exceeded(before_, after_, R"("tolerance": {"share": 0.25, "all": [{"max": 0.5}, {"mse": 0.1}]})"), "");
    EXPECT_EQ(exceeded(before_, after_, R"("tolerance": {"share": 0.25, "all": [{"max": 0.5}, {"max": 0.4}]})"),
              "max 0.5 (allowed: 0.4)");
    EXPECT_EQ(exceeded(before_, after_, R"("tolerance": {"share": 0.2, "any": [{"max": 0.5}]})"),
              "share 0.25 (allowed: 0.2)");
}

TEST_F(CriteriaTest, TolerancesAreNestedToAnyDepth) {
    const std::string nested =
        R"("tolerance": {"any": [{"ulp": 0}, {"all": [{"max": 0.5}, {"any": [{"ssim": 2}, {"share": 0.25}]}]}]})";
    EXPECT_EQ(exceeded(before_, after_, nested), "");
    EXPECT_THAT(exceeded(before_, floats({4, 2}, {1, 2, 1, 1, 1, 1, 1, 1}), nested), HasSubstr("max 1 (allowed: 0.5)"));
}

TEST_F(CriteriaTest, InvalidTolerancesAreNamed) {
    refused(R"("tolerance": {"any": []})", {"s.json, case 'a', 'tolerance': 'any' is []"});
    refused(R"("tolerance": {"all": {"max": 1}})", {"'tolerance': 'all' is"});
    refused(R"("tolerance": {"any": [{"max": 1}, {"maximum": 1}]})",
            {"'tolerance', 'any', 2: 'maximum' is not a known key"});
    refused(R"("tolerance": {"any": [{}]})", {"'tolerance', 'any', 1: no limit is given"});
    refused(R"("tolerance": 3)", {"'tolerance'", "3 is not an object"});
}

// --- FLIP ------------------------------------------------------------------------------------------------------------

TEST_F(CriteriaTest, FlipHasALimitOfItsMeanAndOfItsMaximum) {
    const HostImage a = draw({.seed = 1}, {.format = Format::rgba8_unorm, .extent = {24, 24}}).levels[0];
    const HostImage b = draw({.seed = 2}, {.format = Format::rgba8_unorm, .extent = {24, 24}}).levels[0];
    const Flip flip = *compare(a.view(), b.view(), {.flip = true}).flip;
    ASSERT_LT(flip.mean, flip.max);
    const auto keys = [](const char* form, double value) { return fmt::format(fmt::runtime(form), value); };
    EXPECT_EQ(exceeded(a, b, keys(R"("tolerance": {{"flip": {}}})", flip.mean + 1e-6)), "");
    EXPECT_THAT(exceeded(a, b, keys(R"("tolerance": {{"flip": {}}})", flip.mean - 1e-6)), HasSubstr("FLIP "));
    EXPECT_EQ(exceeded(a, b, keys(R"("tolerance": {{"flip": {{"max": {}}}}})", flip.max + 1e-6)), "");
    EXPECT_THAT(exceeded(a, b, keys(R"("tolerance": {{"flip": {{"max": {}}}}})", flip.max - 1e-6)),
                HasSubstr("max FLIP"));
    EXPECT_EQ(exceeded(a, a, R"("tolerance": {"flip": 0})"), "");
}

TEST_F(CriteriaTest, FlipDependsOnPixelsPerDegreeAndLeavesOutMaskedTexels) {
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {24, 24}};
    const HostImage a = draw({.seed = 1}, info).levels[0], b = draw({.seed = 2}, info).levels[0];
    const std::string limit = R"("tolerance": {"flip": {"mean": 0, "pixels_per_degree": 20}})";
    const Flip flip = *compare(a.view(), b.view(), {.flip = true, .pixels_per_degree = 20}).flip;
    EXPECT_THAT(exceeded(a, b, limit), HasSubstr(fmt::format("FLIP {:.9g}", flip.mean)));
    EXPECT_EQ(exceeded(a, b, limit + R"(, "mask": [[0, 0, 24, 23], [0, 23, 23, 1]], "ignore": ["r", "g", "b"])"), "");
    refused(R"("tolerance": {"flip": {"mean": 1, "pixels_per_degree": 0}})", {"'pixels_per_degree' is 0"});
    refused(R"("tolerance": {"flip": {"pixels_per_degree": 60}})", {"'flip': 'mean' is missing"});
    refused(R"("tolerance": {"flip": "low"})", {"'flip'"});
}

// --- maps ------------------------------------------------------------------------------------------------------------

TEST_F(CriteriaTest, MapGivesTheAllowedDifferenceOfEachTexel) {
    const auto map = [&](std::vector<float> values, Extent extent = {4, 2}) {
        const HostImage image = floats(extent, values);
        save(folder_.at("map.exr"), image.view());
    };
    const std::string keys = R"("tolerance": {"map": "map.exr"})";
    map({0, 0, 0.5f, 0, 0, 0, 0, 0.25f});
    EXPECT_EQ(exceeded(before_, after_, keys), "");
    map({0, 0, 0.5f, 0, 0, 0, 0.25f, 0});
    EXPECT_EQ(exceeded(before_, after_, keys), "1 texels exceed the map map.exr");
    map({0, 0, kInfinity, 0, 0, 0, 0, kInfinity});
    EXPECT_EQ(exceeded(before_, after_, keys), "");
    map({0, 0, -1, 0, 0, 0, 0, 0});
    fails(before_, after_, keys, {"s.json, case 'a': 'map' is map.exr, which contains -1 at texel 2"});
    map({0, 0}, {2, 1});
    fails(before_, after_, keys, {"s.json, case 'a': 'map' is map.exr, which is 2 x 1, but the image is 4 x 2"});
}

TEST_F(CriteriaTest, MapHasOneChannelOrThoseOfTheImage) {
    const HostImage a(Format::rgba8_unorm, {1, 1});
    HostImage b = a;
    b.texels[1] = std::byte{2};
    const auto map = [&](Format format, std::vector<std::byte> texels) {
        write_image(folder_.at("map.png"), format, {1, 1}, texels);
    };
    const std::string keys = R"("tolerance": {"map": "map.png"})";
    map(Format::rgba8_unorm, {std::byte{0}, std::byte{2}, std::byte{0}, std::byte{0}});
    EXPECT_EQ(exceeded(a, b, keys), "");
    map(Format::rgba8_unorm, {std::byte{2}, std::byte{1}, std::byte{2}, std::byte{2}});
    EXPECT_THAT(exceeded(a, b, keys), HasSubstr("1 texels exceed the map"));
    map(Format::r8_unorm, {std::byte{2}});
    EXPECT_EQ(exceeded(a, b, keys), "");
    map(Format::rg8_unorm, {std::byte{2}, std::byte{2}});
    fails(a, b, keys, {"'map' is map.png, which has 2 channels, but channel 4 is compared"});
    EXPECT_EQ(exceeded(a, b, keys + R"(, "ignore": ["b", "a"])"), "");
}

// --- regions ---------------------------------------------------------------------------------------------------------

TEST_F(CriteriaTest, RegionHasALimitOfItsOwn) {
    const std::string keys = R"("regions": [{"rectangle": [2, 0, 2, 1], "tolerance": {"max": 0.5}},
        {"rectangle": [3, 0, 1, 2], "tolerance": {"max": 0.25}, "name": "edge"}])";
    EXPECT_EQ(exceeded(before_, after_, keys), "");
    EXPECT_EQ(exceeded(before_, floats({4, 2}, {1, 1, 1, 1.5f, 1, 1, 1, 1}), keys), "");  // the first region applies
    EXPECT_EQ(exceeded(before_, floats({4, 2}, {1, 1, 2, 1, 1, 1, 1, 1}), keys), "region 1: max 1 (allowed: 0.5)");
    EXPECT_EQ(exceeded(before_, floats({4, 2}, {1, 1, 1, 1, 1, 1, 1, 1.5f}), keys),
              "region edge: max 0.5 (allowed: 0.25)");
    EXPECT_THAT(exceeded(before_, floats({4, 2}, {1.5f, 1, 1, 1, 1, 1, 1, 1}), keys),
                HasSubstr("outside of the regions: max ulp"));
}

TEST_F(CriteriaTest, MeansOfARegionAreThoseOfItsTexels) {
    const std::string region = R"("tolerance": {"max": 9}, "regions": [{"rectangle": [2, 0, 2, 2], "tolerance": )";
    EXPECT_EQ(exceeded(before_, after_, region + R"({"share": 0.5}}])"), "");
    EXPECT_EQ(exceeded(before_, after_, region + R"({"share": 0.4}}])"), "region 1: share 0.5 (allowed: 0.4)");
    EXPECT_EQ(exceeded(before_, after_, region + R"({"mse": 0.078125}}])"), "");
    EXPECT_THAT(exceeded(before_, after_, region + R"({"mse": 0.078}}])"), HasSubstr("MSE 0.078125"));
    EXPECT_EQ(exceeded(before_, after_, region + R"({"share": 0.34}}], "mask": [[2, 0, 1, 1]])"), "");
}

TEST_F(CriteriaTest, RegionReadsItsPartOfAMap) {
    const HostImage map = floats({4, 2}, {0, 0, 0.5f, 0, 0, 0, 0, 0.25f});
    save(folder_.at("map.exr"), map.view());
    const std::string keys =
        R"("tolerance": {"max": 9}, "regions": [{"rectangle": [2, 0, 2, 2], "tolerance": {"map": "map.exr"}}])";
    EXPECT_EQ(exceeded(before_, after_, keys), "");
    EXPECT_EQ(exceeded(before_, floats({4, 2}, {2, 1, 1.75f, 1, 1, 1, 1, 1.5f}), keys),
              "region 1: 2 texels exceed the map map.exr");
}

TEST_F(CriteriaTest, RegionsApplyToEverySlice) {
    const HostImage a(Format::r8_unorm, {2, 1, 2});
    HostImage b = a;
    b.texels[1] = b.texels[3] = std::byte{5};
    EXPECT_EQ(exceeded(a, b, R"("regions": [{"rectangle": [1, 0, 1, 1], "tolerance": {"ulp": 5}}])"), "");
    EXPECT_EQ(
        exceeded(a, b, R"("regions": [{"rectangle": [1, 0, 1, 1], "tolerance": {"count": {"texels": 1, "ulp": 4}}}])"),
        "region 1: 2 texels exceed the limit of count (allowed: 1)");
}

TEST_F(CriteriaTest, InvalidRegionsAreNamed) {
    refused(R"("regions": {})", {"'regions' is {}"});
    refused(R"("regions": [{"tolerance": {"ulp": 1}}])", {"'regions', 1: 'rectangle' is missing"});
    refused(R"("regions": [{"rectangle": [0, 0, 0, 1], "tolerance": {"ulp": 1}}])", {"'rectangle' is [0,0,0,1]"});
    refused(R"("regions": [{"rectangle": [0, 0, 1, 1]}])", {"'tolerance' is missing"});
    refused(R"("regions": [{"rectangle": [0, 0, 1, 1], "tolerance": {"ulp": 1}, "mask": []}])",
            {"'mask' is not a known key"});
    fails(before_, after_, R"("regions": [{"rectangle": [3, 0, 2, 1], "tolerance": {"ulp": 1}}])",
          {"case 'a', 'regions', 1: 'rectangle' has a rectangle that ends at 5, 1, but the image is 4 x 2"});
    fails(before_, after_,
          R"("mask": [[0, 0, 2, 2]], "regions": [{"rectangle": [0, 0, 1, 1], "tolerance": {"ulp": 1}}])",
          {"'regions', 1: 'rectangle' has no texel that is compared"});
}

// --- masks by alpha --------------------------------------------------------------------------------------------------

TEST_F(CriteriaTest, TexelsWithoutAlphaAreNotCompared) {
    const auto image = [](std::vector<int> alphas, int red) {
        HostImage out(Format::rgba8_unorm, {alphas.size(), 1});
        for (std::size_t i = 0; i < alphas.size(); ++i) {
            out.texels[4 * i] = static_cast<std::byte>(i == 0 ? red : 7);
            out.texels[4 * i + 3] = static_cast<std::byte>(alphas[i]);
        }
        return out;
    };
    const HostImage clear = image({0, 255}, 10), clear_too = image({0, 255}, 20), solid = image({9, 255}, 20);
    for (const char* of : {"reference", "image", "both"}) {
        const std::string keys = fmt::format(R"("mask": {{"alpha": "{}"}})", of);
        EXPECT_EQ(exceeded(clear, clear_too, keys), "") << of;
        EXPECT_EQ(exceeded(clear, solid, keys).empty(), std::string_view(of) == "reference") << of;
        EXPECT_EQ(exceeded(solid, clear, keys).empty(), std::string_view(of) == "image") << of;
    }
    fails(before_, after_, R"("mask": {"alpha": "image"})",
          {"case 'a': 'mask' is an alpha, but the image has 1 channels"});
    refused(R"("mask": {"alpha": "mine"})", {"'mask': 'alpha' is \"mine\""});
    refused(R"("mask": {})", {"'mask' is {}"});
    refused(R"("mask": {"files": "x"})", {"'files' is not a known key"});
}

TEST_F(CriteriaTest, MaskJoinsAFileRectanglesAndAlpha) {
    // Each part of the mask excludes one texel that differs.
    write_image(folder_.at("m.png"), Format::r8_unorm, {4, 1},
                std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}, std::byte{1}});
    HostImage a(Format::rgba8_unorm, {4, 1});
    for (const std::size_t texel : {0, 1, 3}) a.texels[4 * texel + 3] = std::byte{255};
    HostImage b = a;
    for (const std::size_t texel : {0, 1, 2}) b.texels[4 * texel] = std::byte{9};
    const std::string file = R"("file": "m.png")", box = R"("rectangles": [[1, 0, 1, 1]])",
                      alpha = R"("alpha": "both")";
    EXPECT_EQ(exceeded(a, b, "\"mask\": {" + file + ", " + box + ", " + alpha + "}"), "");
    for (const std::string& two : {file + ", " + box, box + ", " + alpha, file + ", " + alpha})
        EXPECT_THAT(exceeded(a, b, "\"mask\": {" + two + "}"), HasSubstr("max ulp 9")) << two;
}

// --- special values --------------------------------------------------------------------------------------------------

TEST_F(CriteriaTest, RuleEqualAcceptsOtherBitsAlsoWithUlp0) {
    const float other_nan = std::bit_cast<float>(std::bit_cast<std::uint32_t>(kNaN) ^ 1U);
    const HostImage a = floats({3, 1}, {0, kNaN, 1}), b = floats({3, 1}, {-0.0f, other_nan, 1});
    EXPECT_THAT(exceeded(a, b, ""), HasSubstr("the stored bits of 2 texels differ"));
    EXPECT_EQ(exceeded(a, b, R"("special": "equal")"), "");
    EXPECT_THAT(exceeded(a, b, R"("special": {"nan": "equal"})"), HasSubstr("the stored bits of 1 texels differ"));
    EXPECT_THAT(exceeded(a, b, R"("special": {"zero": "equal"})"), HasSubstr("the stored bits of 1 texels differ"));
    EXPECT_THAT(exceeded(a, floats({3, 1}, {0, 5, 1}), R"("special": "equal")"), HasSubstr("max ulp"));
}

TEST_F(CriteriaTest, RuleBitsComparesStoredBitsUnderEveryLimit) {
    const HostImage a = floats({3, 1}, {0, kNaN, 1}), b = floats({3, 1}, {-0.0f, -kNaN, 1.25f});
    EXPECT_EQ(exceeded(a, b, R"("tolerance": {"max": 0.5})"), "");
    EXPECT_EQ(exceeded(a, b, R"("tolerance": {"max": 0.5}, "special": "bits")"),
              "2 texels have NaN or 0 with other stored bits");
    EXPECT_EQ(exceeded(a, b, R"("tolerance": {"max": 0.5}, "special": {"zero": "bits"})"),
              "1 texels have NaN or 0 with other stored bits");
    EXPECT_EQ(exceeded(a, b, R"("tolerance": {"max": 0.5}, "special": "bits", "mask": [[0, 0, 2, 1]])"), "");
}

TEST_F(CriteriaTest, RuleIgnoreLeavesOutTexelsOfTheReferenceOnly) {
    const HostImage a = floats({3, 1}, {kNaN, kInfinity, 1}), b = floats({3, 1}, {2, 3, 1});
    EXPECT_EQ(exceeded(a, b, R"("special": "ignore")"), "");
    EXPECT_THAT(exceeded(a, b, R"("special": {"nan": "ignore"})"), HasSubstr("max ulp"));
    EXPECT_THAT(exceeded(b, a, R"("special": "ignore")"), HasSubstr("max ulp"));
    fails(floats({1, 1}, {kNaN}), floats({1, 1}, {0}), R"("special": "ignore")",
          {"case 'a': 'special' leaves no texel to compare"});
}

TEST_F(CriteriaTest, RuleRefuseFailsForEqualImagesToo) {
    const HostImage a = floats({3, 1}, {kNaN, kInfinity, 1});
    EXPECT_EQ(exceeded(a, a, R"("special": "refuse")"),
              "1 texels contain NaN, which 'special' refuses, 1 texels contain an infinity, which 'special' refuses");
    EXPECT_EQ(exceeded_by_equal(a, criteria(R"("special": {"nan": "refuse"})")),
              "1 texels contain NaN, which 'special' refuses");
    EXPECT_EQ(exceeded_by_equal(a, criteria(R"("special": "refuse", "mask": [[0, 0, 2, 1]])")), "");
    EXPECT_EQ(exceeded_by_equal(a, criteria("")), "");
    // Values of the reference are not refused.
    EXPECT_EQ(exceeded(a, floats({3, 1}, {1, 2, 1}), R"("special": "refuse", "tolerance": {"share": 1})"), "");
}

TEST_F(CriteriaTest, SpecialValuesOfOtherFormatsDoNotExist) {
    const HostImage a(Format::rgba8_unorm, {2, 1});
    EXPECT_EQ(exceeded_by_equal(a, criteria(R"("special": "refuse")")), "");
}

TEST_F(CriteriaTest, InvalidRulesAreNamed) {
    refused(R"("special": "same")", {"case 'a': 'special' is \"same\""});
    refused(R"("special": {})", {"'special' is {}"});
    refused(R"("special": {"nan": 1})", {"'special': 'nan' is 1"});
    refused(R"("special": {"zero": "ignore"})", {"'special': 'zero' is \"ignore\""});
    refused(R"("special": {"inf": "bits"})", {"'inf' is not a known key"});
}

// --- cases -----------------------------------------------------------------------------------------------------------

TEST_F(CriteriaTest, MaskOfAnotherSizeFailsACaseWhoseImageIsEqualToItsReference) {
    write_image(folder_.at("x.png"), Format::r8_unorm, {2, 2}, std::vector<std::byte>(4));
    write_image(folder_.at("m.png"), Format::r8_unorm, {2, 3}, std::vector<std::byte>(6, std::byte{1}));
    const auto run = [&](const std::string& keys) {
        std::ofstream(folder_.at("s.json")) << R"({"cases": [{"name": "a", "images": "x.png")" << keys << "}]}";
        const Suite suite = read_suite(folder_.at("s.json"));
        return std::pair(run_case(suite.cases[0], suite, Device::cpu()), reference_path(suite.references, "a"));
    };
    const auto [first, path] = run("");
    write_reference({.path = path, .images = first.images, .inputs = {}, .device = "cpu", .toolkit = "0"});
    EXPECT_EQ(run("").first.outcome, Outcome::passed);
    const Result result = run(R"(, "mask": "m.png")").first;
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_THAT(result.message, HasSubstr("s.json, case 'a', 'images', 1: 'mask' is m.png, which is 2 x 3"));
}

}  // namespace
}  // namespace texton::verify
