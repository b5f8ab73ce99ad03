// The program texton when it is installed, copied or incomplete: the options that it answers itself, and the programs
// that it finds.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/command_line.h"
#include "viewer/launcher/command_names.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Ended;
using testing::HasSubstr;
using testing::Not;

class LauncherTest : public test::CommandLine {
protected:
    static fs::path commands() { return fs::path(kProgram).parent_path() / "texton-commands"; }

    /// Copies texton, without texton-commands, to a subfolder of the test's folder.
    std::string copied_to(const std::string& subfolder) const {
        fs::create_directories(at(subfolder));
        fs::copy_file(kProgram, at(subfolder + "/texton"));
        return "'" + at(subfolder + "/texton") + "' ";
    }
};

TEST_F(LauncherTest, HelpAndVersionMatchTheCommandsProgram) {
    for (const char* asked : {"--help", "-h", "--version"}) {
        const Ended launcher = run(asked), whole = shell("'" + commands().string() + "' " + asked);
        EXPECT_EQ(launcher.status, 0) << asked;
        EXPECT_EQ(launcher.out, whole.out) << asked;
    }
}

TEST_F(LauncherTest, HelpOfEveryCommandBeginsWithTheTypedCommand) {
    for (const launcher::CommandName& command : launcher::kCommandNames) {
        if (command.name == std::string("view")) continue;  // texton-view has its own help
        const Ended help = run(std::string(command.name) + " --help");
        EXPECT_EQ(help.status, 0) << help.err;
        EXPECT_THAT(help.out, HasSubstr(std::string("Usage: texton ") + command.name + " "));
    }
}

TEST_F(LauncherTest, FilesAreReadInACopyOfTheCommandsProcess) {
    fs::create_directories(at("alone"));
    fs::copy_file(commands(), at("alone/texton-commands"));  // without the program texton-reader
    const std::string alone = "'" + at("alone/texton-commands") + "' info '" +
                              test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS) + "/card.png'";
    const Ended info = shell(alone);
    EXPECT_EQ(info.status, 0) << info.err;
    EXPECT_THAT(info.out, HasSubstr("card.png"));
}

TEST_F(LauncherTest, HelpThatCannotBeWrittenFails) {
    const Ended full = shell("'" + kProgram + "' --help > /dev/full");
    EXPECT_EQ(full.status, 2);
    EXPECT_THAT(full.err, HasSubstr("texton: standard output could not be written"));
}

TEST_F(LauncherTest, OptionsBeforeACommandArePassedToTheCommand) {
    EXPECT_EQ(run("--help info").out, run("info --help").out);
    const Ended refused = run("--fast info");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("texton info: "));
}

TEST_F(LauncherTest, LauncherDoesNotLinkOpenImageIO) {
    EXPECT_THAT(shell("ldd '" + commands().string() + "'").out, HasSubstr("libOpenImageIO"));
    EXPECT_THAT(shell("ldd '" + kProgram + "'").out, Not(HasSubstr("libOpenImageIO")));
}

TEST_F(LauncherTest, InstalledLauncherFindsTheCommandsInLibexec) {
    const std::string texton = copied_to("bin");
    fs::create_directories(at("libexec/texton"));
    fs::create_symlink(commands(), at("libexec/texton/texton-commands"));
    const Ended help = shell(texton + "info --help");
    EXPECT_EQ(help.status, 0) << help.err;
    EXPECT_EQ(help.out, run("info --help").out);
}

TEST_F(LauncherTest, MissingCommandsErrorNamesTheSearchedPaths) {
    const std::string texton = copied_to("bin");
    const Ended refused = shell(texton + "info --help");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr(at("bin/texton-commands")));
    EXPECT_THAT(refused.err, HasSubstr(at("libexec/texton/texton-commands")));
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
    EXPECT_EQ(shell(texton + "--help").out, run("--help").out);
}

TEST_F(LauncherTest, TheReaderIsStartedOnceForCommandsThatReadImages) {
    const std::string reader = test::configured_path("TEXTON_READER", TEXTON_TEST_READER);
    const std::string image = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS) + "/card.png";
    std::ofstream(at("reader")) << "#!/bin/sh\necho start >> '" << at("starts") << "'\nexec '" << reader << "'\n";
    fs::permissions(at("reader"), fs::perms::owner_all);
    const auto starts = [&](const std::string& program, const std::string& arguments, int status) {
        fs::remove(at("starts"));
        const Ended result = shell("TEXTON_READER='" + at("reader") + "' '" + program + "' " + arguments);
        EXPECT_EQ(result.status, status) << arguments << result.err;
        return text("starts");
    };
    EXPECT_EQ(starts(kProgram, "info '" + image + "' '" + image + "'", 0), "start\n");
    EXPECT_EQ(starts(commands(), "info '" + image + "'", 0), "start\n");
    EXPECT_EQ(starts(kProgram, "info '" + image + "' --in-process", 0), "");
    EXPECT_EQ(starts(kProgram, "info --help", 0), "");
    EXPECT_EQ(starts(kProgram, "run --list", 0), "");
    EXPECT_EQ(starts(kProgram, "devices", 0), "");
}

TEST_F(LauncherTest, MissingViewerErrorNamesTheRemedy) {
    const Ended refused = shell("PATH=/nowhere " + copied_to("bin") + "view a.png");
    EXPECT_EQ(refused.status, 2);
    EXPECT_EQ(
        refused.err,
        "texton view: texton-view could not be started: No such file or directory. Install it beside this program, "
        "or put its folder on PATH.\n");
}

}  // namespace
}  // namespace texton
