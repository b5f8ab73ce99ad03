// Kernels, parameters and samplers of command lines.
#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "viewer/model/kernel_run.h"

namespace texton::verify {
namespace {

TEST(SamplerTextTest, AKeyIsRefusedTheSecondTime) {
    for (const char* text :
         {"border=0,border=0/0/0/1", "address=wrap/clamp,address=mirror", "filter=point,filter=point"})
        test::expect_error([&] { (void)sampler_json(text); }, ErrorCode::bad_argument, "texton::verify",
                           {"--sampler", "given twice"});
    EXPECT_EQ(sampler_json("border=0/0.5/1/1,filter=linear").dump(),
              R"({"border":[0.0,0.5,1.0,1.0],"filter":"linear"})");
}

TEST(ResultSizeTest, ProportionsAreThoseOfTheStandardSize) {
    struct Row {
        const char* text;
        Extent of_wide;   // 640 x 400
        Extent of_small;  // 3 x 9 x 6
    };
    for (const Row& row : {Row{"64x48", {64, 48, 1}, {64, 48, 6}}, Row{"64x48x2", {64, 48, 2}, {64, 48, 2}},
                           Row{"320x", {320, 200, 1}, {320, 960, 6}}, Row{"x100", {160, 100, 1}, {33, 100, 6}},
                           Row{"50%", {320, 200, 1}, {2, 5, 6}}, Row{"12.5%", {80, 50, 1}, {1, 1, 6}},
                           Row{"200%", {1280, 800, 1}, {6, 18, 6}}, Row{"within:100x100", {100, 63, 1}, {3, 9, 6}},
                           Row{"within:1000x8", {13, 8, 1}, {3, 8, 6}}, Row{"1x", {1, 1, 1}, {1, 3, 6}}}) {
        SCOPED_TRACE(row.text);
        const ResultSize size = result_size(row.text, "--size");
        EXPECT_EQ(size.of({640, 400, 1}), row.of_wide);
        EXPECT_EQ(size.of({3, 9, 6}), row.of_small);
        EXPECT_EQ(text_of(size), row.text);
        EXPECT_EQ(result_size(text_of(size), "--size"), size);
    }
    for (const char* text :
         {"",     "x",    "5",   "0x5",     "5x0x",      "-5x",        "x-5",          "1.5x", "0%",   "-3%",   "%",
          "nan%", "1e9%", "axb", "within:", "within:5x", "within:50%", "within:5x5x5", "5x5x", "x5x5", "5x5x5x"})
        test::expect_error([&] { (void)result_size(text, "--size"); }, ErrorCode::bad_argument, "texton::verify",
                           {"--size", "is not a size", "50%", "within:640x480"});
}

}  // namespace
}  // namespace texton::verify
