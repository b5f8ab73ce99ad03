// Commands of suites: how they are run, how they end, and what they leave.
#include <dirent.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/verify/command.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using testing::HasSubstr;
using Reason = CommandEnd::Reason;

class CommandTest : public testing::Test {
protected:
    CommandEnd run(const std::string& script, double time_limit = 60, std::stop_token stop = {}) const {
        return run_command(shell(script, time_limit), folder_.path(), "/suite", stop);
    }
    static Command shell(const std::string& script, double time_limit = 60) {
        Command command;
        command.arguments = {"sh", "-c", script};
        command.time_limit = std::chrono::duration<double>(time_limit);
        return command;
    }
    std::string text(const std::string& name) const {
        std::ifstream file(folder_.at(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static std::ptrdiff_t descriptors() {
        return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
    }
    /// Returns true if the process that wrote its number to the file is neither running nor a zombie.
    bool is_gone(const std::string& name) const {
        const std::string number = text(name);
        return !number.empty() && ::kill(std::stoi(number), 0) != 0 && errno == ESRCH;
    }

    test::ImageFolder folder_;
};

TEST_F(CommandTest, ArgumentsArePassedWithoutAShell) {
    Command command;
    command.arguments = {"printf", "%s|", "a b", "$HOME", "*", "{out}", "{suite}/x{suite}", "{other}"};
    const CommandEnd end = run_command(command, folder_.path(), "/suite");
    EXPECT_EQ(end.reason, Reason::exited);
    EXPECT_EQ(end.number, 0);
    EXPECT_EQ(end.output, "a b|$HOME|*|" + folder_.path().string() + "|/suite/x/suite|{other}|");
}

TEST_F(CommandTest, CommandRunsInItsFolderWithItsEnvironmentAndEmptyInput) {
    ::setenv("TEXTON_TEST_REMOVED", "1", 1);
    Command command = shell("pwd; echo $A; echo ${TEXTON_TEST_REMOVED-none}; cat; ls /proc/self/fd | wc -l");
    command.environment = {{"A", "in {suite}"}, {"TEXTON_TEST_REMOVED", std::nullopt}};
    const CommandEnd end = run_command(command, folder_.path(), "/suite");
    ::unsetenv("TEXTON_TEST_REMOVED");
    // ls has the three standard descriptors and that of the folder.
    EXPECT_EQ(end.output, fs::canonical(folder_.path()).string() + "\nin /suite\nnone\n4\n");
}

TEST_F(CommandTest, ExitStatusAndSignalAreReported) {
    const CommandEnd exited = run("exit 3");
    EXPECT_EQ(exited.reason, Reason::exited);
    EXPECT_EQ(exited.number, 3);
    EXPECT_EQ(text_of(exited, shell("")), "ended with exit status 3 (expected: 0)");
    const CommandEnd crashed = run("echo before; kill -SEGV $$");
    EXPECT_EQ(crashed.reason, Reason::signal);
    EXPECT_EQ(crashed.number, SIGSEGV);
    EXPECT_EQ(crashed.output, "before\n");
    EXPECT_EQ(text_of(crashed, shell("")), "was ended by signal 11 (SIGSEGV)");
}

TEST_F(CommandTest, HangingCommandIsKilledWithAllItsProcesses) {
    const auto begin = std::chrono::steady_clock::now();
    const CommandEnd end = run("sleep 100 & echo $! > child; echo $$ > leader; echo waiting; wait", 0.3);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
    EXPECT_EQ(end.reason, Reason::time_limit);
    EXPECT_EQ(end.output, "waiting\n");
    EXPECT_EQ(text_of(end, shell("", 0.3)), "was killed after 0.3 s, the time limit");
    EXPECT_TRUE(is_gone("leader"));
    EXPECT_TRUE(is_gone("child"));
}

TEST_F(CommandTest, ProcessesThatACommandLeavesAreKilled) {
    // The process in the background keeps the pipe of the output open.
    const CommandEnd end = run("sleep 100 & echo $! > child; echo done");
    EXPECT_EQ(end.reason, Reason::exited);
    EXPECT_EQ(end.output, "done\n");
    EXPECT_TRUE(is_gone("child"));
}

TEST_F(CommandTest, SignalsThatThisProcessBlocksReachTheCommand) {
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
    const CommandEnd end = run("kill -TERM $$; echo survived");
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    EXPECT_EQ(end.reason, Reason::signal);
    EXPECT_EQ(end.number, SIGTERM);
}

TEST_F(CommandTest, StopKillsTheCommand) {
    std::stop_source stop;
    std::jthread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        stop.request_stop();
    });
    const CommandEnd end = run("echo $$ > leader; sleep 100", 60, stop.get_token());
    EXPECT_EQ(end.reason, Reason::stopped);
    EXPECT_TRUE(is_gone("leader"));
}

TEST_F(CommandTest, OnlyTheLastOutputIsKept) {
    const CommandEnd end = run("i=0; while [ $i -lt 30000 ]; do echo line $i; i=$((i+1)); done");
    EXPECT_EQ(end.output.size(), kMaxOutput);
    EXPECT_TRUE(end.output.ends_with("line 29999\n"));
}

TEST_F(CommandTest, DescriptorsAreClosed) {
    (void)run("true");
    const std::ptrdiff_t before = descriptors();
    for (int i = 0; i < 5; ++i) (void)run("echo x; sleep 0.01");
    (void)run("sleep 100", 0.05);
    Command command;
    command.arguments = {"no-such-program-of-texton"};
    EXPECT_FALSE(has_program(command, "/suite"));
    expect_error([&] { (void)run_command(command, folder_.path(), "/suite"); }, ErrorCode::io, "texton::verify",
                 {"no-such-program-of-texton", "cannot be started"});
    EXPECT_EQ(descriptors(), before);
}

TEST_F(CommandTest, ProgramWithASlashIsInTheFolderOfTheSuite) {
    std::ofstream(folder_.at("tool")) << "#!/bin/sh\necho found in $(pwd)\n";
    fs::permissions(folder_.at("tool"), fs::perms::owner_all);
    std::ofstream(folder_.at("text")) << "no program";
    Command command;
    command.arguments = {"./tool"};
    EXPECT_TRUE(has_program(command, folder_.path()));
    EXPECT_THAT(run_command(command, "/", folder_.path()).output, HasSubstr("found in /\n"));
    EXPECT_FALSE(has_program(command, "/"));
    command.arguments = {"./text"};
    EXPECT_FALSE(has_program(command, folder_.path()));
    command.arguments = {"sh"};
    EXPECT_TRUE(has_program(command, "/"));
}

TEST_F(CommandTest, WorkingFolderIsRemovedWithAllFiles) {
    fs::path path;
    {
        const WorkingFolder folder;
        path = folder.path();
        EXPECT_TRUE(fs::is_empty(path));
        EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
        EXPECT_NE(WorkingFolder().path(), path);
        fs::create_directories(path / "a/b");
        std::ofstream(path / "a/b/c") << "text";
        fs::create_directory_symlink(folder_.path(), path / "link");
        fs::permissions(path / "a", fs::perms::none);
    }
    EXPECT_FALSE(fs::exists(path));
    EXPECT_TRUE(fs::exists(folder_.path()));
}

TEST(LastLinesTest, LastLinesHaveNoControlCharacters) {
    EXPECT_EQ(last_lines("a\nb\nc\n", 2), "b\nc");
    EXPECT_EQ(last_lines("a\nb", 5), "a\nb");
    EXPECT_EQ(last_lines("\n\n", 5), "");
    EXPECT_EQ(last_lines("\x1b[31mred\ttab\r", 1), "?[31mred tab?");
}

}  // namespace
}  // namespace texton::verify
