// texton with damaged files and with destinations that cannot be written. It must print an error that names the file,
// exit with status 2, and leave no partial output.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <texton/image.h>
#include <texton/image_file.h>

#include "tests/support/command_line.h"
#include "tests/support/configured_path.h"
#include "tests/support/image_folder.h"
#include "tests/support/texels.h"

// Defined only in programs with the address sanitizer.
extern "C" __attribute__((weak)) void __asan_init();

namespace texton {
namespace {

namespace fs = std::filesystem;
using test::Ended;
using testing::HasSubstr;

class CliDamageTest : public test::CommandLine {
protected:
    /// Writes an image of this type, large enough that half of the file is more than a header, and source.tif.
    void write_files(const std::string& name) const {
        constexpr Extent kExtent{64, 48};
        const auto write = [&](const char* file, Format format) {
            write_image(at(file), format, kExtent, test::pattern(packed_bytes(format, kExtent), 3));
        };
        write("source.tif", Format::rgba8_unorm);
        write("gray.tif", Format::r8_unorm);
        const std::string from = name.ends_with(".jpg") ? "gray.tif " : "source.tif ";  // JPEG has no alpha
        const Ended made = run("convert " + from + name + (name.ends_with(".exr") ? " --format rgba32_float" : ""));
        ASSERT_EQ(made.status, 0) << name << made.err;
    }
    void write_suite(const std::string& file) const {
        std::ofstream(at("suite.json")) << R"({"cases": [{"name": "a", "kernel": "resample", "input": {"file": ")"
                                        << file << "\"}}]}";
    }
    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder())) names.insert(entry.path().filename());
        return names;
    }
    /// The command must fail, name the file, and leave no new files.
    void expect_refused_by(const std::string& command, const std::string& name) const {
        const std::set<std::string> before = files();
        const Ended result = run(command);
        EXPECT_EQ(result.status, 2) << command << '\n' << result.out << result.err;
        EXPECT_THAT(result.out + result.err, HasSubstr(name)) << command;
        EXPECT_EQ(files(), before) << command;
    }
    void expect_refused(const std::string& name) const { expect_refused_by("convert " + name + " made.tif", name); }
    void expect_refused_by_all(const std::string& name) const {
        write_suite(name);
        expect_refused(name);
        expect_refused_by("run resample " + name + " -o made.exr --device cpu", name);
        expect_refused_by("mips " + name + " made.exr --device cpu", name);
        expect_refused_by("compare " + name + " source.tif", name);
        expect_refused_by("verify suite.json --device cpu --update --yes", name);
    }
    static constexpr const char* kKinds[] = {".png", ".tif", ".exr", ".jpg", ".dds", ".ktx2", ".tga", ".bmp", ".webp"};
};

TEST_F(CliDamageTest, TruncatedFilesAreNamed) {
    for (const std::string kind : kKinds) {
        write_files("whole" + kind);
        const std::string whole = text("whole" + kind);
        std::ofstream(at("cut" + kind), std::ios::binary) << whole.substr(0, whole.size() / 2);
        expect_refused("cut" + kind);
    }
    expect_refused_by_all("cut.png");
}

// Decoders of OpenImageIO end the process that reads these files, take gigabytes of memory, or read what is not there.
TEST_F(CliDamageTest, FilesThatEndTheirDecoderAreNamed) {
    write_files("source.png");
    const fs::path damaged = fs::path(test::configured_path("TEXTON_TEST_FILES", TEXTON_TEST_FILES)) / "damaged";
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(damaged)) {
        names.push_back(entry.path().filename());
        fs::copy(entry.path(), folder() / names.back());
    }
    ASSERT_GE(names.size(), 10u);
    for (const std::string& name : names) expect_refused(name);
    expect_refused_by_all("rgba.psd");
    const Ended result = run("info --json rgba.psd source.png");
    EXPECT_EQ(result.status, 2);
    const auto listed = nlohmann::json::parse(result.out)["files"];
    ASSERT_EQ(listed.size(), 1u) << result.out;
    EXPECT_EQ(listed[0]["path"], "source.png");
}

TEST_F(CliDamageTest, LibpngPrintsNothingAboutAnOutputThatIsGivenUp) {
    write_files("source.bmp");
    fs::resize_file(at("source.bmp"), fs::file_size(at("source.bmp")) / 2);
    const Ended result = run("convert source.bmp made.png");
    EXPECT_EQ(result.status, 2);
    EXPECT_TRUE(result.err.starts_with("texton convert: source.bmp")) << result.err;
}

TEST_F(CliDamageTest, OptionsLimitTheProcessesThatReadFiles) {
    write_files("source.png");
    EXPECT_EQ(run("info source.png --in-process").status, 0);
    EXPECT_EQ(run("info source.png --read-seconds 5 --read-memory 1GiB").status, 0);
    EXPECT_EQ(run("info source.png --read-memory much").status, 2);
}

TEST_F(CliDamageTest, AFileThatNeedsMoreMemoryThanTheLimitIsRefusedWithTheOption) {
    if (__asan_init != nullptr) GTEST_SKIP() << "the sanitizer itself needs more memory than the limit";
    write_files("source.png");
    const Ended limited = run("convert source.png made.tif --read-memory 1000");
    EXPECT_EQ(limited.status, 2);
    EXPECT_THAT(limited.err, testing::AllOf(HasSubstr("source.png"), HasSubstr("--read-memory")));
}

TEST_F(CliDamageTest, ThreadsOfMachinesWithManyProcessorsDoNotCountAsMemoryOfAFile) {
    if (__asan_init != nullptr) GTEST_SKIP() << "the sanitizer needs memory for each thread";
    // Its tiles are decoded by threads of OpenEXR.
    const std::string image = test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS) + "/levels.exr";
    for (const char* threads : {"1", "8", "9", "64"}) {
        const Ended made = shell("env OPENIMAGEIO_THREADS=" + std::string(threads) + " '" + kProgram + "' convert '" +
                                 image + "' made.exr --read-memory 8MiB");
        EXPECT_EQ(made.status, 0) << threads << " threads: " << made.err;
    }
}

TEST_F(CliDamageTest, TextFilesWithImageExtensionsAreNamed) {
    write_files("source.png");
    for (const std::string kind : kKinds) {
        std::ofstream(at("words" + kind))
            << "These are words, and no image of any kind at all, however long it goes on.";
        expect_refused("words" + kind);
    }
    expect_refused_by("info words.exr", "words.exr");
    expect_refused_by_all("words.exr");
}

TEST_F(CliDamageTest, EmptyFilesFoldersAndMissingFilesAreNamed) {
    write_files("source.png");
    for (const std::string kind : {".png", ".exr", ".dds", ".ktx2", ".yuv"}) {
        std::ofstream(at("empty" + kind)).close();
        fs::create_directories(at("folder" + kind));
        for (const std::string name : {"empty", "folder", "gone"}) {
            expect_refused_by("info " + name + kind, name + kind);
            expect_refused(name + kind);
        }
    }
    for (const std::string name : {"empty.png", "folder.png", "gone.png"}) expect_refused_by_all(name);
}

TEST_F(CliDamageTest, HeadersThatClaimABillionTexelsAllocateNoMemory) {
    write_files("huge.dds");
    std::ofstream(at("huge.hdr"), std::ios::binary) << "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 32768 +X 32768\n";
    std::ofstream(at("huge.ppm"), std::ios::binary) << "P6\n32768 32768\n255\n";
    std::fstream dds(at("huge.dds"), std::ios::in | std::ios::out | std::ios::binary);
    dds.seekp(12);
    for (int side = 0; side < 2; ++side) dds.write("\0\200\0\0", 4);
    dds.close();
    for (const std::string name : {"huge.hdr", "huge.ppm", "huge.dds"}) {
        expect_refused_by("run resample " + name + " -o made.exr --device cpu", name);
        if (__asan_init != nullptr) continue;  // the sanitizer reserves more addresses
        for (const std::string command : {"stats --device cpu ", "mips --device cpu ", "compare huge.ppm "}) {
            const Ended result = shell("ulimit -v 4000000; '" + kProgram + "' " + command + name +
                                       (command.starts_with("mips") ? " made.dds" : ""));
            EXPECT_EQ(result.status, 2) << command << name;
            EXPECT_THAT(result.err, testing::AllOf(HasSubstr("huge."), testing::Not(HasSubstr("memory")))) << command;
        }
    }
}

TEST_F(CliDamageTest, UnwritableOutputIsNamedAndNoPartialFileIsLeft) {
    write_files("source.png");
    std::ofstream(at("kept.exr")) << "what was there";
    fs::create_directories(at("folder.exr"));
    write_suite("source.png");
    const std::set<std::string> before = files();
    // Limits files to 2 KiB, which has the effect of a full disk, also for memory that processes share.
    const std::string full = "trap '' XFSZ; ulimit -f 4; '" + kProgram + "' ";
    const auto expect_named = [&](const std::string& command, const std::string& name) {
        const Ended result = shell(command);
        EXPECT_EQ(result.status, 2) << command << '\n' << result.out << result.err;
        EXPECT_THAT(result.out + result.err, HasSubstr(name)) << command;
        EXPECT_EQ(files(), before) << command;
    };
    expect_named(full + "run resample source.png -o kept.exr --device cpu --in-process", "kept.exr");
    expect_named(full + "convert source.png kept.exr --in-process", "kept.exr");
    expect_named(full + "convert source.png new.dds --in-process", "new.dds");
    expect_named(full + "convert source.png new.ktx2 --in-process", "new.ktx2");
    expect_named(full + "mips source.png new.tif --device cpu --in-process", "new.tif");
    expect_named(full + "verify suite.json --device cpu --update --yes --in-process; s=$?; rmdir suite; exit $s",
                 "a.texref");
    EXPECT_EQ(text("kept.exr"), "what was there");
    const std::string program = "'" + kProgram + "' ";
    expect_named(program + "convert source.png folder.exr", "folder.exr");
    expect_named(program + "convert source.png source.png/made.exr", "source.png/made.exr");
    expect_named(program + "verify suite.json --device cpu --junit folder.exr", "folder.exr");
    expect_named(program + "verify suite.json --device cpu --report source.png", "source.png");
    expect_named(program + "compare source.png source.png --heat-map folder.exr", "folder.exr");
}

TEST_F(CliDamageTest, ReferencesWhoseNumbersAreNotIntegersAreNamed) {
    write_files("source.png");
    write_suite("source.png");
    ASSERT_EQ(run("verify suite.json --device cpu --update --yes").status, 0);
    const std::string reference = text("suite/a.texref");
    for (const std::string key : {"\"texref\":", "\"driver\":"}) {
        const std::size_t first = reference.find(key) + key.size();
        const std::size_t end = reference.find_first_of(",}", first);
        ASSERT_LT(end, reference.size()) << key;
        for (const char* number : {"11e300", "-1e300", "1.5", "18446744073709551615", "-9223372036854775808", "null"}) {
            std::ofstream(at("suite/a.texref"), std::ios::binary)
                << reference.substr(0, first) << number << reference.substr(end);
            const Ended result = run("verify suite.json --device cpu");
            EXPECT_EQ(result.status, 2) << key << number;
            EXPECT_THAT(result.out, HasSubstr("a.texref")) << key << number;
        }
    }
}

TEST_F(CliDamageTest, TruncatedReferencesAndSuitesAreNamed) {
    write_files("source.png");
    write_suite("source.png");
    ASSERT_EQ(run("verify suite.json --device cpu --update --yes").status, 0);
    const std::string reference = text("suite/a.texref"), suite = text("suite.json");
    for (const std::size_t length : {std::size_t{0}, std::size_t{20}, reference.size() / 2, reference.size() - 1}) {
        std::ofstream(at("suite/a.texref"), std::ios::binary) << reference.substr(0, length);
        const Ended result = run("verify suite.json --device cpu");
        EXPECT_EQ(result.status, 2) << length;
        EXPECT_THAT(result.out, HasSubstr("a.texref")) << length;
    }
    for (const std::size_t length : {std::size_t{0}, suite.size() / 2}) {
        std::ofstream(at("suite.json")) << suite.substr(0, length);
        const Ended result = run("verify suite.json");
        EXPECT_EQ(result.status, 2) << length;
        EXPECT_THAT(result.err, HasSubstr("suite.json")) << length;
    }
    fs::create_directories(at("folder.json"));
    EXPECT_THAT(run("verify folder.json").err, HasSubstr("folder.json"));
}

// --- output ----------------------------------------------------------------------------------------------------------

TEST_F(CliDamageTest, StandardOutputThatCannotBeWrittenIsAnError) {
    write_files("source.png");
    for (const std::string command :
         {"info source.png", "info --json source.png", "run --list", "run --list --json", "run --help", "info --help",
          "devices", "compare source.png source.png", "convert source.png made.tif", "completion bash"}) {
        const Ended full = shell("'" + kProgram + "' " + command + " > /dev/full");
        EXPECT_EQ(full.status, 2) << command;
        EXPECT_EQ(full.err, "texton " + command.substr(0, command.find(' ')) +
                                ": standard output could not be written: No space left on device.\n");
        // The end of the pipe that is read is closed before the command starts.
        const Ended closed =
            shell("mkfifo p; (exec 3<>p 4>p 3<&-; '" + kProgram + "' " + command + " >&4); s=$?; rm p; exit $s");
        EXPECT_EQ(closed.status, 2) << command;
        EXPECT_EQ(closed.err, "") << command;
    }
    EXPECT_EQ(shell("'" + kProgram + "' info source.png >&-").status, 2);
}

TEST_F(CliDamageTest, NamesAndMetadataThatAreNotUtf8BecomeValidJson) {
    write_files("source.png");
    fs::copy_file(at("source.png"), at("caf\xE9.png"));
    test::StoredImage image = test::stored_image(4, 3, 4, OIIO::TypeDesc::UINT8, 1);
    image.spec.attribute("Copyright", "\xA9 nobody");
    test::store(at("latin1.tif"), {image});
    const std::string mark = "\xEF\xBF\xBD";
    const Ended info = run("info --json 'caf\xE9.png' latin1.tif");
    EXPECT_EQ(info.status, 0) << info.err;
    const nlohmann::json files = nlohmann::json::parse(info.out)["files"];
    EXPECT_EQ(files[0]["path"], "caf" + mark + ".png");
    EXPECT_THAT(files[1]["attributes"].dump(), HasSubstr(mark + " nobody"));
    fs::copy_file(at("source.png"), at("other.png"));
    for (const std::string& command : {std::string("compare --json 'caf\xE9.png' other.png"),
                                       std::string("convert --json 'caf\xE9.png' 'x\xE9.tif'"),
                                       std::string("run --json resample 'caf\xE9.png' -o 'y\xE9.png' --device cpu"),
                                       std::string("mips --json 'caf\xE9.png' 'z\xE9.dds' --device cpu")}) {
        const Ended result = run(command);
        EXPECT_EQ(result.status, 0) << command << result.err;
        EXPECT_TRUE(nlohmann::json::accept(result.out)) << command << result.out;
    }
    EXPECT_TRUE(fs::exists(at("x\xE9.tif")));
    const Ended sampler = run("run resample source.png -o o.png --sampler 'filter=\xE9'");
    EXPECT_EQ(sampler.status, 2);
    EXPECT_THAT(sampler.err, HasSubstr("texton run: --sampler: 'filter' is \"" + mark + "\""));
}

TEST_F(CliDamageTest, OutputThatIsAlsoAnInputIsReplacedOrRefused) {
    write_files("source.png");
    fs::copy_file(at("source.png"), at("other.png"));
    fs::create_symlink("source.png", at("link.png"));
    const std::string before = text("source.png");
    for (const std::string command :
         {"compare source.png other.png --heat-map source.png", "compare source.png other.png --ulp-map ./other.png",
          "compare source.png other.png --ulp-map link.png",
          "compare source.png other.png --ulp-map m.png --heat-map m.png"}) {
        const Ended refused = run(command);
        EXPECT_EQ(refused.status, 2) << command;
        EXPECT_THAT(refused.err, HasSubstr("-map would overwrite ")) << command;
        EXPECT_EQ(text("source.png"), before);
        EXPECT_EQ(text("other.png"), before);
    }
    write_suite("other.png");
    const std::string suite = text("suite.json");
    const Ended junit = run("verify suite.json --device cpu --junit ./suite.json");
    EXPECT_EQ(junit.status, 2);
    EXPECT_THAT(junit.err, HasSubstr("--junit would overwrite the suite"));
    EXPECT_EQ(text("suite.json"), suite);
    for (const std::string command : {"convert other.png other.png", "run resample other.png -o other.png --device cpu",
                                      "mips source.tif source.tif --device cpu"})
        EXPECT_EQ(run(command).status, 0) << command;
    EXPECT_EQ(run("compare other.png source.png").status, 0);
}

TEST_F(CliDamageTest, SignalDuringAWriteLeavesNoTemporaryFile) {
    constexpr Extent kExtent{3000, 3000};
    write_image(at("big.tif"), Format::rgba8_unorm, kExtent,
                test::pattern(packed_bytes(Format::rgba8_unorm, kExtent), 3));
    const std::set<std::string> before = files();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const pid_t child = ::fork();
        if (child == 0) {
            std::signal(signal, SIG_DFL);
            if (::chdir(folder().c_str()) == 0)
                ::execl(kProgram.c_str(), "texton", "convert", "big.tif", "big.png", static_cast<char*>(nullptr));
            ::_exit(99);
        }
        ASSERT_GT(child, 0);
        int status = 0;
        while (files() == before) ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it ended before it wrote a file";
        ::kill(child, signal);
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
        EXPECT_EQ(files(), before);
    }
}

}  // namespace
}  // namespace texton
