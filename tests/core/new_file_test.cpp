#include "core/new_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "core/file_error.h"
#include "tests/support/expect_error.h"

// Files that are written completely or not at all.

namespace texton {
namespace {

namespace fs = std::filesystem;
using detail::NewFile;
using detail::write_file;

constexpr const char* kObject = "texton::test";

class NewFileTest : public testing::Test {
protected:
    NewFileTest() {
        std::string name = (fs::temp_directory_path() / "texton-file-XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~NewFileTest() override { fs::remove_all(folder_); }

    fs::path at(const std::string& name) const { return folder_ / name; }
    std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

    static void put(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }
    static std::string text(const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static struct stat status(const fs::path& path) {
        struct stat status {};
        EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
        return status;
    }
    static void refused(const fs::path& path, std::string_view fragment) {
        test::expect_error([&] { write_file(kObject, path, "new"); }, ErrorCode::io, kObject,
                           {path.string(), fragment});
    }

    fs::path folder_;
};

TEST_F(NewFileTest, PreparedFileGetsItsNameLaterOrIsRemoved) {
    put(at("a"), "old");
    {
        NewFile kept(kObject, at("a")), dropped(kObject, at("b"));
        kept.write(std::as_bytes(std::span(std::string_view("new"))));
        kept.prepare();
        dropped.prepare();
        EXPECT_EQ(text(at("a")), "old");
        EXPECT_EQ(files(), 3);
        kept.complete();
    }
    EXPECT_EQ(text(at("a")), "new");
    EXPECT_EQ(files(), 1);
}

TEST_F(NewFileTest, PreparedFileWhoseFolderIsGoneIsAnError) {
    fs::create_directory(at("folder"));
    NewFile file(kObject, at("folder/a"));
    file.prepare();
    fs::remove_all(at("folder"));
    test::expect_error([&] { file.complete(); }, ErrorCode::io, kObject, {"folder/a", "cannot be written"});
}

TEST_F(NewFileTest, AFileAppearsOnlyWhenItIsComplete) {
    {
        NewFile file(kObject, at("a.txt"));
        file.write(std::as_bytes(std::span(std::string_view("one "))));
        file.write(std::as_bytes(std::span(std::string_view("two"))));
        EXPECT_FALSE(fs::exists(at("a.txt")));
        EXPECT_EQ(file.size(), 7u);
        file.complete();
        EXPECT_EQ(text(at("a.txt")), "one two");
    }
    EXPECT_EQ(files(), 1);
}

TEST_F(NewFileTest, AnAbandonedFileLeavesTheOldOneAndNothingElse) {
    put(at("a.txt"), "old");
    {
        NewFile file(kObject, at("a.txt"));
        file.write(std::as_bytes(std::span(std::string_view("new"))));
        EXPECT_EQ(text(at("a.txt")), "old");
    }
    EXPECT_EQ(text(at("a.txt")), "old");
    EXPECT_EQ(files(), 1);
}

TEST_F(NewFileTest, TheTemporaryNameIsRandomAndKeepsTheExtension) {
    const NewFile a(kObject, at("a.tif")), b(kObject, at("a.tif"));
    EXPECT_NE(a.name(), b.name());
    EXPECT_EQ(a.name().extension(), ".tif");
    EXPECT_EQ(a.name().parent_path(), folder_);
    const std::string longest(255, 'n');
    write_file(kObject, at(longest), "long");
    EXPECT_EQ(text(at(longest)), "long");
}

TEST_F(NewFileTest, ATemporaryFileThatWasExchangedForALinkIsNotRenamed) {
    put(at("victim"), "precious");
    put(at("a.txt"), "old");
    {
        NewFile file(kObject, at("a.txt"));
        fs::remove(file.name());
        fs::create_symlink(at("victim"), file.name());
        file.write(std::as_bytes(std::span(std::string_view("new"))));
        test::expect_error([&] { file.complete(); }, ErrorCode::io, kObject, {"a.txt", "was replaced"});
    }
    EXPECT_EQ(text(at("victim")), "precious");
    EXPECT_EQ(text(at("a.txt")), "old");
    EXPECT_FALSE(fs::is_symlink(at("a.txt")));
}

TEST_F(NewFileTest, PermissionsOfTheReplacedFileAreKept) {
    for (const mode_t mode : {mode_t{0600}, mode_t{0640}, mode_t{0666}, mode_t{0755}}) {
        put(at("a.txt"), "old");
        ASSERT_EQ(::chmod(at("a.txt").c_str(), mode), 0);
        {
            NewFile file(kObject, at("a.txt"));
            EXPECT_EQ(status(file.name()).st_mode & 077, 0u) << "others can read the unfinished file";
            file.complete();
        }
        EXPECT_EQ(status(at("a.txt")).st_mode & 07777, mode);
    }
    const mode_t before = ::umask(027);
    write_file(kObject, at("b.txt"), "new");
    ::umask(before);
    EXPECT_EQ(status(at("b.txt")).st_mode & 07777, mode_t{0640});
}

TEST_F(NewFileTest, TheOwnerOfTheReplacedFileIsKept) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may change owners";
    put(at("a.txt"), "old");
    ASSERT_EQ(::chown(at("a.txt").c_str(), 1234, 2345), 0);
    ASSERT_EQ(::chmod(at("a.txt").c_str(), 0640), 0);
    write_file(kObject, at("a.txt"), "new");
    EXPECT_EQ(text(at("a.txt")), "new");
    EXPECT_EQ(status(at("a.txt")).st_uid, 1234u);
    EXPECT_EQ(status(at("a.txt")).st_gid, 2345u);
    EXPECT_EQ(status(at("a.txt")).st_mode & 07777, mode_t{0640});
}

TEST_F(NewFileTest, ALinkStaysAndItsFileIsReplaced) {
    fs::create_directory(at("data"));
    put(at("data/real.txt"), "old");
    fs::create_symlink("data/real.txt", at("link.txt"));
    fs::create_symlink("link.txt", at("second.txt"));
    write_file(kObject, at("second.txt"), "new");
    EXPECT_TRUE(fs::is_symlink(at("second.txt")));
    EXPECT_TRUE(fs::is_symlink(at("link.txt")));
    EXPECT_EQ(text(at("data/real.txt")), "new");
    fs::create_symlink("data/missing.txt", at("dangling.txt"));
    write_file(kObject, at("dangling.txt"), "made");
    EXPECT_EQ(text(at("data/missing.txt")), "made");
    fs::create_symlink("loop.txt", at("loop.txt"));
    refused(at("loop.txt"), "symbolic links");
}

TEST_F(NewFileTest, PathsThatNameNoRegularFileAreRefusedAndNamed) {
    refused(folder_, "is a folder");
    refused(at(""), "");
    refused(at("no/such/folder.txt"), "No such file or directory");
    refused("/dev/full", "is not a regular file");
    fs::create_symlink("/dev/null", at("null.txt"));
    refused(at("null.txt"), "is not a regular file");
    put(at("file"), "old");
    refused(at("file/a.txt"), "Not a directory");
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    refused(at("pipe"), "is not a regular file");
    EXPECT_EQ(files(), 3);
}

TEST_F(NewFileTest, AFileThatMayNotBeWrittenIsNotReplaced) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write every file";
    put(at("a.txt"), "old");
    ASSERT_EQ(::chmod(at("a.txt").c_str(), 0444), 0);
    refused(at("a.txt"), "Permission denied");
    EXPECT_EQ(text(at("a.txt")), "old");
}

// A limit of the size of files has the effect of a full disk.
TEST_F(NewFileTest, AFullDiskKeepsTheOldFileAndLeavesNoTemporary) {
    put(at("a.txt"), "old");
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4096, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    test::expect_error([&] { write_file(kObject, at("a.txt"), std::string(10000, 'x')); }, ErrorCode::io, kObject,
                       {"a.txt", "File too large", "free space"});
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(text(at("a.txt")), "old");
    EXPECT_EQ(files(), 1);
}

// A writer that seeks over a write that failed leaves a file of the full size.
TEST_F(NewFileTest, APartThatWasNeverWrittenIsFound) {
    NewFile file(kObject, at("a.txt"));
    const std::string text(100000, 'x');
    file.write(std::as_bytes(std::span(text)));
    EXPECT_FALSE(file.has_hole());
    ASSERT_EQ(file.write_at(1 << 20, std::as_bytes(std::span(text))), 0);
    EXPECT_TRUE(file.has_hole());
}

}  // namespace
}  // namespace texton
