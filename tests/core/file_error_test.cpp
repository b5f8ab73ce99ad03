#include "core/file_error.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

// Defined only in programs with a sanitizer.
extern "C" __attribute__((weak)) void __asan_init();
extern "C" __attribute__((weak)) void __tsan_init();

namespace texton {
namespace {

template <class Body>
Error error_of(const Body& body) {
    try {
        detail::guarded("texton::test", "file.png", body);
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "no error";
    return Error({});
}

TEST(FileErrorTest, MessagesContainNoNamesOfFunctions) {
    const Error length = error_of([] {
        std::vector<char> bytes;
        bytes.resize(~std::size_t{0});
    });
    EXPECT_EQ(length.problem(), "file.png specifies a size that does not fit in memory");
    const Error range = error_of([] { (void)std::map<int, int>().at(1); });
    EXPECT_EQ(range.problem().find("::"), std::string::npos) << range.problem();
    const Error text = error_of([] { (void)std::string("a").substr(2); });
    EXPECT_EQ(text.problem(), "file.png caused an error of a library: an error without a description");
    const Error own = error_of([] { throw std::runtime_error("the table ends\nearly.\n"); });
    EXPECT_EQ(own.problem(), "file.png caused an error of a library: the table ends early");
}

TEST(FileErrorTest, FreeMemoryRespectsTheLimitsOfTheProcess) {
    if (__asan_init != nullptr || __tsan_init != nullptr) GTEST_SKIP() << "sanitizers need any amount of memory";
    constexpr rlim_t kLimit = rlim_t{512} << 20;
    for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
        const pid_t process = ::fork();
        if (process == 0) {
            const rlimit limit{kLimit, kLimit};
            ::setrlimit(resource, &limit);
            const Error error = error_of([] { throw std::bad_alloc(); });
            ::_exit(test::number_of(error, "free") < kLimit ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(process, &status, 0), process);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    EXPECT_GT(test::number_of(error_of([] { throw std::bad_alloc(); }), "free"), 0u);
}

TEST(FileErrorTest, EveryExceptionBecomesAnErrorThatNamesTheFile) {
    const auto becomes = [](const auto& thrown, ErrorCode code, std::string_view fragment) {
        test::expect_error([&] { detail::guarded("texton::test", "some.png", [&] { throw thrown; }); }, code,
                           "texton::test", {"some.png", fragment});
    };
    becomes(std::bad_alloc(), ErrorCode::out_of_memory, "memory");
    becomes(std::bad_array_new_length(), ErrorCode::out_of_memory, "memory");
    becomes(std::length_error("vector::reserve"), ErrorCode::io, "does not fit in memory");
    becomes(std::runtime_error("two\nlines."), ErrorCode::io, "two lines");
    becomes(std::runtime_error(""), ErrorCode::io, "without a description");
    becomes(std::filesystem::filesystem_error("status", std::make_error_code(std::errc::permission_denied)),
            ErrorCode::io, "Permission denied");
    becomes(5, ErrorCode::io, "unknown type");
}

TEST(FileErrorTest, ErrorsAndExceptionsOfCallbacksPassUnchanged) {
    const Error error({.code = ErrorCode::overlap, .object = "texton::other", .problem = "a", .remedy = "B."});
    test::expect_error([&] { detail::guarded("texton::test", "some.png", [&] { throw error; }); }, ErrorCode::overlap,
                       "texton::other");
    const auto call = [](const auto& thrown) {
        detail::guarded("texton::test", "some.png", [&] { (void)detail::call_back([&]() -> bool { throw thrown; }); });
    };
    EXPECT_THROW(call(5), int);
    EXPECT_THROW(call(std::bad_alloc()), std::bad_alloc);
    EXPECT_EQ(detail::guarded("texton::test", "some.png", [] { return detail::call_back([] { return 7; }); }), 7);
}

}  // namespace
}  // namespace texton
