#include "tests/support/running_test.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <gtest/gtest.h>

// Defined only in programs with a sanitizer.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());
// The undefined behavior sanitizer has no such callback, so it must end the process with a signal.
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1"; }

namespace texton::test {
namespace {

constexpr std::array kFatalSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// Signal handlers read this array, so it is neither allocated nor freed.
std::array<char, 512> running{};

void set_running(const char* suite, const char* test) {
    std::size_t length = 0;
    for (const std::string_view part :
         {std::string_view(suite), std::string_view(*test != 0 ? "." : ""), std::string_view(test)}) {
        length += part.copy(running.data() + length, running.size() - 1 - length);
    }
    running[length] = 0;
}

// Safe in a signal handler.
void print(std::string_view text) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

void print_running(std::string_view what) {
    print(what);
    print(running[0] != 0 ? std::string_view(running.data()) : std::string_view("no test"));
    print("\n");
}

void on_fatal_signal(int number) {
    std::array<char, 2> digits{static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
    print("\n*** signal ");
    print({digits.data() + (number < 10 ? 1 : 0), static_cast<std::size_t>(number < 10 ? 1 : 2)});
    print_running(" while running: ");
    raise(number);  // SA_RESETHAND: the default action runs now
}

void on_alarm(int) {
    print_running("\n*** time limit exceeded while running: ");
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
}

void handle(int number, void (*handler)(int)) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_DFL) return;  // a sanitizer installed it
    action.sa_handler = handler;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK | SA_NODEFER);
    sigaction(number, &action, nullptr);
}

unsigned seconds_allowed() {
    if (const char* asked = std::getenv("TEXTON_TEST_SECONDS"))
        return static_cast<unsigned>(std::strtoul(asked, nullptr, 10));
    return __sanitizer_set_death_callback != nullptr ? 1200 : 300;
}

class RunningTest : public testing::EmptyTestEventListener {
public:
    explicit RunningTest(unsigned seconds) : seconds_(seconds) {}

    // The tests of this process are selected by now. A test that starts the program again passes its own selection.
    void OnTestProgramStart(const testing::UnitTest& /*tests*/) override {
        for (const char* choice : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_FILTER", "GTEST_OUTPUT"})
            unsetenv(choice);
    }
    void OnTestSuiteStart(const testing::TestSuite& suite) override { begin(suite.name(), ""); }
    void OnTestStart(const testing::TestInfo& test) override { begin(test.test_suite_name(), test.name()); }
    void OnTestEnd(const testing::TestInfo& test) override { begin(test.test_suite_name(), ""); }
    void OnTestSuiteEnd(const testing::TestSuite& /*suite*/) override {
        alarm(0);
        set_running("", "");
    }

private:
    // Code between two tests belongs to the suite and has the same time limit.
    void begin(const char* suite, const char* test) const {
        set_running(suite, test);
        alarm(seconds_);
    }

    unsigned seconds_;
};

}  // namespace

void name_running_test() {
    // The handlers need their own stack because an endless recursion leaves none.
    static std::array<std::byte, 1 << 16> memory;
    const stack_t stack{.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
    stack_t present{};
    if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) != 0) sigaltstack(&stack, nullptr);
    for (const int number : kFatalSignals) handle(number, on_fatal_signal);
    handle(SIGALRM, on_alarm);
    if (__sanitizer_set_death_callback != nullptr) {
        __sanitizer_set_death_callback([] { print_running("\n*** while running: "); });
    }
    testing::UnitTest::GetInstance()->listeners().Append(new RunningTest(seconds_allowed()));
}

}  // namespace texton::test
