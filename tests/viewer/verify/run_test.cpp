// Patterns, references, and comparison of results with references.
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/verify/kernel_footprint.h"
#include "viewer/verify/run_suite.h"

namespace texton::verify {
namespace {

using test::expect_error;
using testing::HasSubstr;

// --- patterns --------------------------------------------------------------------------------------------------------

std::vector<float> floats_of(const HostImage& image) { return read_channels(image.view()); }

TEST(PatternTest, SameSeedGivesTheSameImageAndAnotherSeedDiffers) {
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {16, 16}};
    EXPECT_EQ(draw({.seed = 1}, info).sha256(), draw({.seed = 1}, info).sha256());
    EXPECT_NE(draw({.seed = 1}, info).sha256(), draw({.seed = 2}, info).sha256());
}

TEST(PatternTest, EveryFormatIsFilledOverItsWholeRange) {
    for (const FormatInfo& row : formats()) {
        if (row.layout == FormatLayout::planar) continue;
        const HostArray array = draw({}, {.format = row.format, .extent = {32, 32}});
        std::set<std::byte> values(array.levels[0].texels.begin(), array.levels[0].texels.end());
        EXPECT_GT(values.size(), 50U) << row.name;
    }
    const std::vector<float> signs = floats_of(draw({}, {.format = Format::r16_snorm, .extent = {64, 64}}).levels[0]);
    EXPECT_LT(*std::ranges::min_element(signs), -0.9f);
    const HostArray bright = draw({.range = {{2, 6}}}, {.format = Format::rgba32_float, .extent = {8, 8}});
    for (const float value : floats_of(bright.levels[0])) EXPECT_TRUE(value >= 2 && value <= 6) << value;
}

TEST(PatternTest, AllLevelsAndSlicesAreDrawn) {
    const HostArray cube =
        draw({.kind = PatternKind::gradient},
             {.format = Format::r8_unorm, .extent = {8, 8}, .kind = ArrayKind::cubemap, .levels = 4});
    ASSERT_EQ(cube.levels.size(), 4U);
    EXPECT_EQ(cube.levels[1].extent, (Extent{4, 4, 6}));
    EXPECT_EQ(cube.levels[1].texels[3], std::byte{223});  // 7/8 of 255
}

TEST(PatternTest, SpecialValuesAreAmongNoise) {
    const ArrayInfo info{.format = Format::rgba32_float, .extent = {64, 64}};
    std::size_t nans = 0, infinities = 0, zeros = 0, denormals = 0, ordinary = 0;
    const HostArray drawn = draw({.kind = PatternKind::special}, info);
    for (std::size_t i = 0; i < drawn.levels[0].texels.size(); i += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, &drawn.levels[0].texels[i], sizeof value);
        if (std::isnan(value))
            ++nans;
        else if (std::isinf(value))
            ++infinities;
        else if (value == 0 && std::signbit(value))
            ++zeros;
        else if (std::fpclassify(value) == FP_SUBNORMAL)
            ++denormals;
        else if (value > 0 && value < 1)
            ++ordinary;
    }
    for (const std::size_t count : {nans, infinities, zeros, denormals}) EXPECT_GT(count, 5U);
    EXPECT_GT(ordinary, std::size_t{64} * 64 * 3);
    const HostArray codes = draw({.kind = PatternKind::special}, {.format = Format::r8_unorm, .extent = {64, 64}});
    for (const int code : {0, 1, 254, 255})
        EXPECT_GT(std::ranges::count(codes.levels[0].texels, static_cast<std::byte>(code)), 40) << code;
}

TEST(PatternTest, TiesAreInTheMiddleBetweenCodes) {
    const ArrayInfo info{.format = Format::r32_float, .extent = {32, 32}};
    const std::vector<float> channels = floats_of(draw({.kind = PatternKind::ties}, info).levels[0]);
    for (std::size_t i = 0; i < channels.size(); i += 4) {
        const float codes = channels[i] * 255;
        EXPECT_NEAR(codes - std::floor(codes), 0.5f, 1e-4f) << codes;
    }
}

TEST(PatternTest, TransparentRectanglesHaveColors) {
    const HostArray drawn =
        draw({.kind = PatternKind::transparent}, {.format = Format::rgba8_unorm, .extent = {32, 32}});
    std::size_t transparent = 0, colored = 0, opaque = 0;
    for (std::size_t i = 0; i < 4096; i += 4) {
        const std::byte* texel = &drawn.levels[0].texels[i];
        if (texel[3] == std::byte{255}) ++opaque;
        if (texel[3] != std::byte{0}) continue;
        ++transparent;
        if (texel[0] != std::byte{0}) ++colored;
    }
    EXPECT_GT(transparent, 300U);
    EXPECT_GT(colored, 300U);
    EXPECT_GT(opaque, 100U);
}

TEST(PatternTest, StepsRepeatAValueOverSeveralTexels) {
    const HostArray drawn = draw({.kind = PatternKind::steps}, {.format = Format::r8_unorm, .extent = {16, 12}});
    const auto at = [&](std::size_t x, std::size_t y) { return drawn.levels[0].texels[16 * y + x]; };
    for (std::size_t y = 0; y < 12; ++y)
        for (std::size_t x = 0; x < 16; ++x) EXPECT_EQ(at(x, y), at(x / 4 * 4, y / 3 * 3));
    const std::set<std::byte> values(drawn.levels[0].texels.begin(), drawn.levels[0].texels.end());
    EXPECT_TRUE(values.contains(std::byte{0}) && values.contains(std::byte{255}));
}

TEST(PatternTest, UnsupportedFormatsAreRefused) {
    const ArrayInfo blocks{.format = Format::bc1_unorm, .extent = {8, 8}};
    EXPECT_EQ(draw({}, blocks).levels[0].texels.size(), 32U);
    expect_error([&] { (void)draw({.kind = PatternKind::checker}, blocks); }, ErrorCode::unsupported,
                 "texton::verify::draw", {"bc1_unorm", "noise"});
    expect_error(
        [] {
            (void)draw({}, {.format = Format::nv12, .extent = {8, 8}});
        },
        ErrorCode::unsupported, "texton::verify::draw", {"nv12"});
}

// --- references ------------------------------------------------------------------------------------------------------

class ReferenceTest : public testing::Test {
protected:
    Reference some() const {
        return {.path = reference_path(folder_.at("refs"), "a/b 1.5"),
                .images = {draw({}, {.format = Format::rgba8_unorm, .extent = {5, 3}}).levels[0],
                           draw({}, {.format = Format::r32_float, .extent = {2, 2}}).levels[0]},
                .inputs = {"00ff"},
                .device = "a device",
                .driver = 13000,
                .toolkit = "0.1.0"};
    }
    test::ImageFolder folder_;
};

TEST_F(ReferenceTest, WrittenReferenceIsReadBack) {
    const Reference written = some();
    write_reference(written);
    EXPECT_EQ(written.path.filename(), "a_b_1.5.texref");
    const Reference read = read_reference(written.path);
    EXPECT_EQ(read.images, written.images);
    EXPECT_EQ(read.inputs, written.inputs);
    EXPECT_EQ(read.device, "a device");
    EXPECT_EQ(read.driver, 13000);
    EXPECT_EQ(read.toolkit, "0.1.0");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.at("refs")), {}), 1);
}

TEST_F(ReferenceTest, AReferenceWithTheOldHeaderIsRead) {
    const Reference written = some();
    write_reference(written);
    std::ifstream file(written.path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string key = "\"images\":";
    ASSERT_NE(text.find(key), std::string::npos);
    text.replace(text.find(key), key.size(), "\"pictures\":");
    std::ofstream(written.path, std::ios::binary) << text;
    EXPECT_EQ(read_reference(written.path).images.at(0).texels, written.images.at(0).texels);
}

TEST_F(ReferenceTest, OnlyTheVariantsOfTheCaseAreFound) {
    for (const auto& [name, variant] : {std::pair("a", ""), {"a", "sm_90"}, {"a.b", ""}, {"ab", ""}}) {
        Reference reference = some();
        reference.path = reference_path(folder_.path(), name, variant);
        write_reference(reference);
    }
    const std::vector<Reference> found = ReferenceFolder(folder_.path()).read("a");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].path.filename(), "a.texref");
    EXPECT_EQ(found[1].path.filename(), "a@sm_90.texref");
    EXPECT_TRUE(ReferenceFolder(folder_.at("none")).read("a").empty());
}

TEST_F(ReferenceTest, DamagedFilesAreNamed) {
    const Reference written = some();
    write_reference(written);
    const test::Bytes whole = test::file_bytes(written.path);
    const auto refused = [&](const test::Bytes& bytes, const char* why) {
        test::write_bytes(written.path, bytes);
        expect_error([&] { (void)read_reference(written.path); }, ErrorCode::io, "texton::verify::read_reference",
                     {"a_b_1.5.texref", why});
    };
    test::Bytes changed = whole;
    changed.back() ^= std::byte{1};
    refused(changed, "SHA-256");
    refused(test::Bytes(whole.begin(), whole.end() - 1), "truncated");
    refused(test::Bytes(whole.begin(), whole.begin() + 20), "not a reference");
    refused({}, "not a reference");
    test::Bytes huge = whole;
    const std::string text(reinterpret_cast<const char*>(whole.data()), whole.size());
    const std::size_t width = text.find("\"width\":5");
    ASSERT_NE(width, std::string::npos);
    huge.insert(huge.begin() + static_cast<std::ptrdiff_t>(width) + 9, 9, std::byte{'0'});
    refused(huge, "not a reference");
}

// --- verdicts --------------------------------------------------------------------------------------------------------

class VerifyRunTest : public testing::Test {
protected:
    /// Returns a suite of one case that resamples noise of this format to the same size.
    Suite suite(const std::string& keys = "", const std::string& format = "rgba8_unorm") const {
        std::ofstream(folder_.at("s.json"))
            << R"({"cases": [{"name": "a", "kernel": "resample", "input": {"pattern": "noise", "size": [8, 8], "format": ")"
            << format << "\"}" << keys << "}]}";
        return read_suite(folder_.at("s.json"));
    }
    static Result run(const Suite& suite) { return run_case(suite.cases.front(), suite, Device::cpu()); }

    /// Approves the current result with `change` applied to it.
    template <class Change>
    static void approve(const Suite& suite, const Change& change, const std::string& variant = "") {
        const Result result = run(suite);
        Reference reference{.path = reference_path(suite.references, "a", variant),
                            .images = result.images,
                            .inputs = result.inputs,
                            .device = "cpu",
                            .toolkit = "0"};
        change(reference.images.at(0));
        write_reference(reference);
    }
    static void keep(HostImage&) {}
    static void two_codes_off(HostImage& image) {
        std::byte& code = image.texels[4];
        code = static_cast<std::byte>(std::to_integer<int>(code) ^ 2);
    }

    test::ImageFolder folder_;
};

TEST_F(VerifyRunTest, CaseWithEqualBytesPasses) {
    const Suite only = suite();
    EXPECT_EQ(run(only).outcome, Outcome::no_reference);
    approve(only, keep);
    const Result result = run(only);
    EXPECT_EQ(result.outcome, Outcome::passed) << result.message;
    EXPECT_TRUE(result.equal);
    EXPECT_EQ(result.differing(), 0U);
}

TEST_F(VerifyRunTest, DifferenceFailsUnlessWithinTheTolerance) {
    approve(suite(), two_codes_off);
    const Result result = run(suite());
    EXPECT_EQ(result.outcome, Outcome::differs);
    EXPECT_THAT(result.message, HasSubstr("1 of 64 texels differ: max ulp 2 (allowed: 0)"));
    EXPECT_EQ(result.max_ulp(), 2U);
    const auto outcome = [&](const std::string& tolerance) {
        return run(suite(R"(, "tolerance": )" + tolerance)).outcome;
    };
    EXPECT_EQ(outcome(R"({"ulp": 2})"), Outcome::passed);
    EXPECT_EQ(outcome(R"({"ulp": 1})"), Outcome::differs);
    EXPECT_EQ(outcome(R"({"max": 0.008})"), Outcome::passed);
    EXPECT_EQ(outcome(R"({"max": 0.007})"), Outcome::differs);
    EXPECT_EQ(outcome(R"({"psnr": 60})"), Outcome::passed);
    EXPECT_EQ(outcome(R"({"psnr": 90})"), Outcome::differs);
    EXPECT_EQ(outcome(R"({"mse": 1e-6})"), Outcome::passed);
    EXPECT_EQ(outcome(R"({"mse": 1e-8})"), Outcome::differs);
    EXPECT_EQ(outcome(R"({"share": 0.02})"), Outcome::passed);
    EXPECT_EQ(outcome(R"({"share": 0.01})"), Outcome::differs);
    EXPECT_EQ(outcome(R"({"ulp": 2, "share": 0.01})"), Outcome::differs);
}

TEST_F(VerifyRunTest, OneMatchingReferenceOfSeveralIsEnough) {
    approve(suite(), two_codes_off);
    approve(suite(), keep, "other");
    const Result result = run(suite());
    EXPECT_EQ(result.outcome, Outcome::passed);
    EXPECT_EQ(result.reference->path.filename(), "a@other.texref");
}

TEST_F(VerifyRunTest, DifferingSizesAndFormatsAreReported) {
    approve(suite(), keep);
    EXPECT_THAT(run(suite(R"(, "size": [4, 4])")).message,
                HasSubstr("the image is 4 x 4 of rgba8_unorm, but the reference is 8 x 8 of rgba8_unorm"));
    const Result other = run(suite("", "rg8_unorm"));
    EXPECT_THAT(other.message, HasSubstr("the image is 8 x 8 of rg8_unorm"));
    EXPECT_THAT(other.message, HasSubstr("its inputs differ"));
}

TEST_F(VerifyRunTest, ErrorOfACaseBecomesItsOutcome) {
    const Result result = run(suite(R"(, "parameters": {"crop": [0, 0, -4, 4]})"));
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_THAT(result.message, HasSubstr("crop.width"));
    std::ofstream(folder_.at("s.json"))
        << R"({"cases": [{"name": "a", "kernel": "resample", "input": {"file": "x.png"}}]})";
    EXPECT_THAT(run(read_suite(folder_.at("s.json"))).message, HasSubstr("x.png"));
}

TEST_F(VerifyRunTest, CasesRunInParallel) {
    const Suite many = suite(R"(, "matrix": {"input.seed": [1, 2, 3, 4, 5, 6, 7, 8, 9]})");
    std::vector<const Case*> cases;
    for (const Case& each : many.cases) cases.push_back(&each);
    std::size_t done = 0;
    const std::vector<Result> results =
        run_cases(cases, many, Device::cpu(), {.jobs = 3, .done = [&](std::size_t) { ++done; }});
    EXPECT_EQ(done, 9U);
    std::set<std::string> hashes;
    for (const Result& result : results) hashes.insert(result.inputs.at(0));
    EXPECT_EQ(hashes.size(), 9U);
}

// --- footprints ------------------------------------------------------------------------------------------------------

TEST_F(VerifyRunTest, FootprintContainsTheTexelsAndTheirWeights) {
    // Halfway between two texels in x, and at a quarter in y.
    const Suite linear = suite(R"(, "parameters": {"filter": "linear", "crop": [2.5, 1.25, 1, 1]}, "size": [1, 1])");
    const auto taps = footprints(std::get<KernelCase>(linear.cases[0].work), {{0, 0, 0}}).at(0);
    ASSERT_TRUE(taps);
    EXPECT_THAT(*taps, testing::UnorderedElementsAre(Tap{{2, 1, 0}, 0.375}, Tap{{3, 1, 0}, 0.375},
                                                     Tap{{2, 2, 0}, 0.125}, Tap{{3, 2, 0}, 0.125}));
    const Suite nearest = suite(R"(, "parameters": {"filter": "nearest"})");
    EXPECT_EQ(*footprints(std::get<KernelCase>(nearest.cases[0].work), {{5, 6, 0}}).at(0),
              std::vector<Tap>({{{5, 6, 0}, 1}}));
}

TEST_F(VerifyRunTest, FootprintContainsNegativeWeights) {
    const Suite cubic = suite(R"(, "parameters": {"filter": "catmull_rom", "crop": [3.5, 3.5, 1, 1]}, "size": [1, 1])");
    const auto taps = footprints(std::get<KernelCase>(cubic.cases[0].work), {{0, 0, 0}}).at(0);
    ASSERT_TRUE(taps);
    EXPECT_EQ(taps->size(), 16U);
    EXPECT_NEAR(taps->front().weight, 0.5625 * 0.5625, 1e-3);
}

TEST_F(VerifyRunTest, SumOfTooManyTexelsHasNoFootprint) {
    const Suite wide = suite(R"(, "parameters": {"filter": "area"}, "size": [1, 1])");
    EXPECT_TRUE(footprints(std::get<KernelCase>(wide.cases[0].work), {{0, 0, 0}}).at(0));  // 64 texels
    const Suite whole = [&] {
        std::ofstream(folder_.at("s.json"))
            << R"({"cases": [{"name": "a", "kernel": "resample", "input": {"pattern": "noise", "size": [24, 24]},
                   "parameters": {"filter": "area"}, "size": [1, 1]}]})";
        return read_suite(folder_.at("s.json"));
    }();
    EXPECT_FALSE(footprints(std::get<KernelCase>(whole.cases[0].work), {{0, 0, 0}}).at(0));  // 576 texels
    const Suite layered = [&] {
        std::ofstream(folder_.at("s.json"))
            << R"({"cases": [{"name": "a", "kernel": "resample", "input": {"pattern": "noise", "size": [4, 4],
                   "kind": "layered_2d", "layers": 2}}]})";
        return read_suite(folder_.at("s.json"));
    }();
    EXPECT_FALSE(footprints(std::get<KernelCase>(layered.cases[0].work), {{0, 0, 0}}).at(0));
}

}  // namespace
}  // namespace texton::verify
