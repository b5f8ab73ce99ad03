#include <gmock/gmock.h>

#include <texton/error.h>

#include "tests/support/expect_error.h"
#include "viewer/verify/suite_text.h"

namespace texton::verify {
namespace {

using test::expect_error;

const std::vector<Region> kBox{{{1, 2, 0}, {3, 4, 1}}};
const std::vector<Region> kTwo{{{1, 2, 0}, {3, 4, 1}}, {{0, 0, 0}, {64, 16, 1}}};

TEST(SuiteTextTest, MaskIsAddedOnALineOfItsOwnAndNothingElseChanges) {
    const std::string before = R"(// the suite of the blur
{
    "cases": [
        {"name": "other", "images": "x.png"},
        {
            "name": "blur", // a comment with { and "
            "images": "a.png",
            /* another ] comment */
            "tolerance": {"ulp": 1} // the last one
        }
    ]
}
)";
    std::string expected = before;
    const std::string last = "\"tolerance\": {\"ulp\": 1} // the last one\n";
    expected.replace(expected.find(last), last.size(),
                     "\"tolerance\": {\"ulp\": 1}, // the last one\n            \"mask\": [[1, 2, 3, 4]]\n");
    EXPECT_EQ(with_mask(before, 1, 0, kBox), expected);
}

TEST(SuiteTextTest, MaskIsAddedToAnObjectOnOneLine) {
    EXPECT_EQ(with_mask(R"({"cases": [{"name": "a", "images": "a.png"}, {"name": "b \" ]", "kernel": "mips"}]})", 1, {},
                        kTwo),
              R"({"cases": [{"name": "a", "images": "a.png"}, )"
              R"({"name": "b \" ]", "kernel": "mips", "mask": [[1, 2, 3, 4], [0, 0, 64, 16]]}]})");
}

TEST(SuiteTextTest, ExistingMaskIsReplaced) {
    EXPECT_EQ(
        with_mask("{\"cases\": [{\"name\": \"a\", \"mask\": [\n [9, 9, 9, 9] // old\n ], \"images\": \"a.png\"}]}", 0,
                  0, kBox),
        "{\"cases\": [{\"name\": \"a\", \"mask\": [[1, 2, 3, 4]], \"images\": \"a.png\"}]}");
    EXPECT_EQ(with_mask(R"({"cases": [{"name": "a", "mask": [[9, 9, 9, 9]], "images": "a.png"}]})", 0, 0, {}),
              R"({"cases": [{"name": "a", "mask": [], "images": "a.png"}]})");
}

TEST(SuiteTextTest, MaskBelongsToThePatternOfTheImageIfThereAreSeveral) {
    const std::string suite =
        R"({"cases": [{"name": "a", "images": ["a.png", {"file": "b.png", "mask": []}, {"file": "c.png"}]}]})";
    EXPECT_EQ(with_mask(suite, 0, 0, kBox),
              R"({"cases": [{"name": "a", "images": [{"file": "a.png", "mask": [[1, 2, 3, 4]]}, )"
              R"({"file": "b.png", "mask": []}, {"file": "c.png"}]}]})");
    EXPECT_EQ(with_mask(suite, 0, 1, kBox),
              R"({"cases": [{"name": "a", "images": ["a.png", {"file": "b.png", "mask": [[1, 2, 3, 4]]}, )"
              R"({"file": "c.png"}]}]})");
    EXPECT_EQ(with_mask(suite, 0, 2, kBox),
              R"({"cases": [{"name": "a", "images": ["a.png", {"file": "b.png", "mask": []}, )"
              R"({"file": "c.png", "mask": [[1, 2, 3, 4]]}]}]})");
}

TEST(SuiteTextTest, MaskOfTheOnlyPatternIsReplacedThere) {
    EXPECT_EQ(with_mask(R"({"cases": [{"name": "a", "images": {"file": "a.png", "mask": []}}]})", 0, 0, kBox),
              R"({"cases": [{"name": "a", "images": {"file": "a.png", "mask": [[1, 2, 3, 4]]}}]})");
    EXPECT_EQ(with_mask(R"({"cases": [{"name": "a", "images": [{"file": "a.png"}]}]})", 0, 0, kBox),
              R"({"cases": [{"name": "a", "images": [{"file": "a.png"}], "mask": [[1, 2, 3, 4]]}]})");
}

TEST(SuiteTextTest, OldNameOfImagesAndAByteOrderMarkAreKept) {
    EXPECT_EQ(
        with_mask("\xEF\xBB\xBF{\"cases\": [{\"name\": \"a\", \"pictures\": [\"a.png\", \"b.png\"]}]}", 0, 1, kBox),
        "\xEF\xBB\xBF{\"cases\": [{\"name\": \"a\", \"pictures\": [\"a.png\", {\"file\": \"b.png\", \"mask\": [[1, 2, "
        "3, 4]]}]}]}");
}

TEST(SuiteTextTest, OfARepeatedKeyTheLastValueIsReplaced) {
    EXPECT_EQ(with_mask(R"({"cases": [{"name": "a", "mask": [], "mask": [], "images": "a.png"}]})", 0, 0, kBox),
              R"({"cases": [{"name": "a", "mask": [], "mask": [[1, 2, 3, 4]], "images": "a.png"}]})");
}

TEST(SuiteTextTest, MatrixOfMasksOrImagesIsRefusedWithTheTextToInsert) {
    for (const char* matrix : {R"({"mask": [[], []]})", R"({"kind": {"x": {"images": "b.png"}}})"})
        expect_error(
            [&] {
                (void)with_mask(
                    R"({"cases": [{"name": "a", "images": "a.png", "matrix": )" + std::string(matrix) + "}]}", 0, 0,
                    kBox);
            },
            ErrorCode::unsupported, "texton::verify", {"case 'a'", "\"mask\": [[1, 2, 3, 4]]"});
}

}  // namespace
}  // namespace texton::verify
