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

}  // namespace
}  // namespace texton::verify
