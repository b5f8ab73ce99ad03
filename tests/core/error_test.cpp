#include <texton/error.h>

#include <set>
#include <string>

#include <gmock/gmock.h>

#include "tests/support/expect_error.h"

namespace texton {
namespace {

using test::expect_well_formed;

constexpr ErrorCode kAll[] = {
    ErrorCode::bad_argument,   ErrorCode::out_of_bounds, ErrorCode::overflow,       ErrorCode::overlap,
    ErrorCode::released,       ErrorCode::wrong_device,  ErrorCode::wrong_location, ErrorCode::not_registered,
    ErrorCode::out_of_memory,  ErrorCode::unsupported,   ErrorCode::not_permitted,  ErrorCode::capturing,
    ErrorCode::device_failure, ErrorCode::device_lost,   ErrorCode::not_mapped,     ErrorCode::io};

TEST(ErrorTest, EveryCodeHasAUniqueName) {
    std::set<std::string_view> names;
    for (const ErrorCode code : kAll) {
        EXPECT_FALSE(name(code).empty());
        EXPECT_NE(name(code), "unknown");
        names.insert(name(code));
    }
    EXPECT_EQ(names.size(), std::size(kAll));
    EXPECT_EQ(name(ErrorCode::out_of_memory), "out_of_memory");
}

TEST(ErrorTest, TheTextNamesTheObjectTheProblemAndTheRemedy) {
    const Error error({.code = ErrorCode::bad_argument,
                       .object = "texton::Linear",
                       .problem = "0 bytes were asked for",
                       .remedy = "Ask for at least 1 byte.",
                       .numbers = {{"bytes", 0}}});
    EXPECT_STREQ(error.what(), "texton::Linear: 0 bytes were asked for. Ask for at least 1 byte.");
    EXPECT_EQ(error.code(), ErrorCode::bad_argument);
    EXPECT_EQ(error.object(), "texton::Linear");
    EXPECT_EQ(error.problem(), "0 bytes were asked for");
    EXPECT_EQ(error.remedy(), "Ask for at least 1 byte.");
    EXPECT_THAT(error.numbers(), testing::ElementsAre(ErrorNumber{"bytes", 0}));
    EXPECT_TRUE(error.call().empty());
    EXPECT_TRUE(error.cuda_name().empty());
    expect_well_formed(error);
}

TEST(ErrorTest, TheTextEndsWithTheFailedDriverCall) {
    const Error error({.code = ErrorCode::out_of_memory,
                       .object = "texton::Linear",
                       .problem = "8 bytes were asked for, but 4 are free",
                       .remedy = "Ask for less.",
                       .numbers = {{"bytes", 8}, {"free", 4}},
                       .call = "cudaMalloc",
                       .cuda_name = "cudaErrorMemoryAllocation"});
    EXPECT_STREQ(error.what(),
                 "texton::Linear: 8 bytes were asked for, but 4 are free. Ask for less. "
                 "[cudaMalloc: cudaErrorMemoryAllocation]");
    EXPECT_EQ(error.call(), "cudaMalloc");
    EXPECT_EQ(error.cuda_name(), "cudaErrorMemoryAllocation");
    EXPECT_EQ(test::number_of(error, "free"), 4u);
}

TEST(ErrorTest, WithoutARemedyTheTextEndsWithTheProblem) {
    const Error error({.code = ErrorCode::io, .object = "texton::read_image", .problem = "no such file"});
    EXPECT_STREQ(error.what(), "texton::read_image: no such file.");
}

TEST(ErrorTest, AnErrorIsCaughtAsAStandardException) {
    try {
        throw Error({.object = "texton::Linear", .problem = "it failed"});
    } catch (const std::exception& error) {
        EXPECT_STREQ(error.what(), "texton::Linear: it failed.");
        return;
    }
    FAIL() << "not caught as std::exception";
}

}  // namespace
}  // namespace texton
