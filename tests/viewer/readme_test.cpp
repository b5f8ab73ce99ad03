// Code blocks of the READMEs. Programs and shell blocks run in an empty folder with copies of the assets that they name; the block
// after a program is its output. The options of console blocks exist. .ci/run builds the CMake blocks against an installed Texton.
// The examples of public headers, tests/examples/NAME.cpp, print what their last comment says.
#include <algorithm>
#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include <texton/device.h>
#include <texton/kernel.h>

#include "tests/support/command_line.h"

namespace {

namespace fs = std::filesystem;
using texton::Device;
using texton::test::configured_path;
using texton::test::Ended;

const fs::path kTree = configured_path("TEXTON_TEST_SOURCES", TEXTON_TEST_SOURCES);

struct Block {
    fs::path readme;    ///< relative to the tree
    std::size_t index;  ///< among the README's blocks of the language, counted from 1
    std::string text;
    std::string output{};  ///< the block without a language that follows, if there is one

    std::string where() const { return readme.generic_string() + ", block " + std::to_string(index); }
};

std::vector<fs::path> readmes() {
    std::vector<fs::path> found;
    for (const char* pattern : {"", "core", "arrays", "kernels", "kernels/tutorial", "viewer", "assets", "tests",
                                "tests/regress", "tests/captures"})
        found.push_back(fs::path(pattern) / "README.md");
    return found;
}

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the blocks of all READMEs whose fence names the language.
std::vector<Block> blocks(const std::string& language) {
    std::vector<Block> found;
    for (const fs::path& readme : readmes()) {
        std::ifstream file(kTree / readme);
        EXPECT_TRUE(file) << readme;
        std::size_t index = 0;
        enum { outside, in_block, after_block, in_output } place = outside;
        for (std::string line; std::getline(file, line);) {
            if (line == "```" + language) {
                found.push_back({readme, ++index, {}});
                place = in_block;
            } else if (line.starts_with("```")) {
                const bool is_output = place == after_block && line == "```";
                place = is_output ? in_output : place == in_block ? after_block : outside;
            } else if (place == in_block) {
                found.back().text += line + "\n";
            } else if (place == in_output) {
                found.back().output += line + "\n";
            } else if (!line.empty()) {
                place = outside;
            }
        }
    }
    return found;
}

/// Returns the names of the headers of Texton that a text includes.
std::set<std::string> headers_in(const std::string& text) {
    static const std::regex kInclude("#include <texton/([a-z0-9_]+\\.h)>");
    std::set<std::string> names;
    for (std::sregex_iterator match(text.begin(), text.end(), kInclude), end; match != end; ++match)
        names.insert((*match)[1]);
    return names;
}

/// Returns the names of the headers that users include. Headers with nothing but texton::detail are parts of others.
std::set<std::string> public_headers() {
    std::set<std::string> names;
    for (const char* layer : {"core", "arrays", "kernels", "viewer"}) {
        for (const auto& entry : fs::recursive_directory_iterator(kTree / layer)) {
            if (entry.path().parent_path().filename() != "texton" || entry.path().extension() != ".h") continue;
            const std::string text = text_of(entry.path());
            if (text.find("namespace texton {") != std::string::npos ||
                text.find("namespace texton::detail {") == std::string::npos)
                names.insert(entry.path().filename().string());
        }
    }
    return names;
}

struct HeaderExample {
    std::string name;
    std::string text;
    std::string output;  ///< what its last comment says
};

/// Returns the examples in tests/examples.
std::vector<HeaderExample> header_examples() {
    std::vector<HeaderExample> found;
    for (const auto& entry : fs::directory_iterator(kTree / "tests" / "examples")) {
        if (!entry.is_regular_file()) continue;
        HeaderExample example{entry.path().stem().string(), text_of(entry.path()), {}};
        const std::string begin = "\n// Prints:\n";
        const std::size_t at = example.text.find(begin);
        if (at != std::string::npos) {
            std::istringstream lines(example.text.substr(at + begin.size()));
            for (std::string line; std::getline(lines, line);) example.output += line.substr(3) + "\n";
        }
        found.push_back(std::move(example));
    }
    return found;
}

class ReadmeTest : public texton::test::CommandLine {
protected:
    void SetUp() override {
        CommandLine::SetUp();
        work_ = folder() / "tests" / "work";
    }

    /// Creates an empty folder, and copies the assets and suites to it that the text names. Suites refer to ../../assets.
    void prepare(const std::string& text) {
        for (const auto& entry : fs::directory_iterator(folder())) fs::remove_all(entry);
        fs::create_directories(work_);
        fs::create_directory_symlink(kTree / "assets", folder() / "assets");
        for (const char* source : {"assets", "tests/regress"}) {
            for (const auto& entry : fs::directory_iterator(kTree / source)) {
                const std::string name = entry.path().filename().string();
                if (!entry.is_regular_file() || text.find(name) == std::string::npos || name == "README.md") continue;
                fs::copy(entry.path(), work_);
                const fs::path references = entry.path().parent_path() / entry.path().stem();
                if (fs::is_directory(references)) fs::copy(references, work_ / references.filename());
            }
        }
    }

    /// Runs a command in that folder.
    Ended run_there(const std::string& command) const { return shell("cd '" + work_.string() + "' && " + command); }

    /// Runs a program that was linked with the libraries of the build tree, which have no installed reader.
    Ended run_program(const std::string& command) const {
        return run_there("export TEXTON_READER='" + configured_path("TEXTON_READER", TEXTON_TEST_READER) + "'; " +
                         command);
    }

    /// Returns the output of the program for --help.
    std::string help(const std::string& program) {
        const Ended ended = shell(program + " --help");
        EXPECT_EQ(ended.status, 0) << program << " --help: " << ended.err;
        return ended.out;
    }

private:
    fs::path work_;
};

TEST_F(ReadmeTest, EveryProgramRunsAndPrintsTheBlockThatFollows) {
    const std::vector<Block> programs = blocks("cpp");
    ASSERT_GT(programs.size(), 3u);
    int outputs = 0;
    const fs::path folder_of_programs = configured_path("TEXTON_TEST_PROGRAMS", TEXTON_TEST_PROGRAMS);
    for (const Block& block : programs) {
        SCOPED_TRACE(block.where());
        std::string folder = block.readme.parent_path().generic_string();
        std::ranges::replace(folder, '/', '-');
        const std::string name =
            "texton-readme-" + (folder.empty() ? "root" : folder) + "-" + std::to_string(block.index);
        prepare(block.text);
        // Images that a program checks are approved in that folder.
        const Ended ended = run_program("TEXTON_REFERENCES=. TEXTON_UPDATE_REFERENCES=1 '" +
                                        (folder_of_programs / name).string() + "'");
        EXPECT_EQ(ended.status, 0) << ended.err;
        EXPECT_NE(ended.out, "");
        if (!block.output.empty()) {
            EXPECT_EQ(ended.out, block.output);
            ++outputs;
        }
    }
    EXPECT_GT(outputs, 5);
}

TEST_F(ReadmeTest, EveryShellBlockSucceedsInAFolderWithTheFilesThatItNames) {
    const std::vector<Block> scripts = blocks("sh");
    ASSERT_GT(scripts.size(), 3u);
    const std::string path = fs::path(kProgram).parent_path().string();
    for (const Block& block : scripts) {
        SCOPED_TRACE(block.where());
        prepare(block.text);
        std::ofstream(at("block.sh")) << block.text;
        const Ended ended = run_there("PATH='" + path + "':$PATH bash -e ../../block.sh");
        EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
    }
}

TEST_F(ReadmeTest, EveryOptionOfAConsoleBlockIsInTheHelpOfItsProgram) {
    const std::regex option("(?:^|[\\s\\[])(--[a-z][a-z-]*)");
    std::map<std::string, std::string> helps;
    int options = 0;
    for (const Block& block : blocks("console")) {
        SCOPED_TRACE(block.where());
        std::istringstream lines(block.text);
        for (std::string line; std::getline(lines, line);) {
            line = line.substr(0, line.find(" #"));
            std::istringstream words(line);
            std::string program, command;
            words >> program >> command;
            if (program.starts_with("./")) program.erase(0, 2);
            std::string shown;
            if (program == "texton") {
                shown = "'" + kProgram + "' " + command;
            } else if (program == "texton-view") {
                shown = "'" + (fs::path(kProgram).parent_path() / program).string() + "'";
            } else if (program.ends_with("/run")) {
                EXPECT_TRUE(fs::exists(kTree / program)) << program;
                shown = "'" + (kTree / program).string() + "'";
            } else {
                continue;
            }
            if (program == "texton-view" && !fs::exists(fs::path(kProgram).parent_path() / program)) continue;
            if (!helps.contains(shown)) helps[shown] = help(shown);
            for (std::sregex_iterator match(line.begin(), line.end(), option), end; match != end; ++match, ++options)
                EXPECT_NE(helps[shown].find((*match)[1]), std::string::npos) << (*match)[1] << " in: " << line;
        }
    }
    EXPECT_GT(options, 5);
}

TEST_F(ReadmeTest, EveryLinkLeadsToAFile) {
    const std::regex link("\\]\\(([^)#:]+)\\)");
    for (const fs::path& readme : readmes()) {
        const std::string text = text_of(kTree / readme);
        for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match)
            EXPECT_TRUE(fs::exists(kTree / readme.parent_path() / (*match)[1].str())) << readme << ": " << (*match)[1];
    }
}

TEST_F(ReadmeTest, EveryExampleOfAHeaderPrintsWhatItsLastCommentSays) {
    setenv("TEXTON_WORKER", (fs::path(kProgram).parent_path() / "texton-commands").c_str(), 0);
    const std::string program =
        "'" + (fs::path(configured_path("TEXTON_TEST_PROGRAMS", TEXTON_TEST_PROGRAMS)) / "texton-examples").string() +
        "'";
    const Ended list = shell(program);
    ASSERT_EQ(list.status, 0) << list.err;
    std::vector<HeaderExample> run;
    std::string names, text;
    for (const HeaderExample& example : header_examples()) {
        EXPECT_NE(example.output, "") << example.name;
        const bool needs_gpu = example.name.starts_with("cuda_");
        if (("\n" + list.out).find("\n" + example.name + "\n") == std::string::npos) {
            EXPECT_TRUE(needs_gpu || example.name == "dlpack") << example.name << " is not in texton-examples";
        } else if (!needs_gpu || Device::why_no_cuda().empty()) {
            run.push_back(example);
            names += " " + example.name;
            text += example.text;
        }
    }
    prepare(text);
    const Ended ended = run_program(program + names);
    EXPECT_EQ(ended.status, 0) << ended.err;
    std::istringstream outputs(ended.out);
    for (const HeaderExample& example : run) {
        std::string output;
        std::getline(outputs, output, '\f');
        EXPECT_EQ(output, example.output) << example.name;
    }
}

TEST_F(ReadmeTest, EveryPublicHeaderIsInAnExampleOrInAProgramOfAReadme) {
    std::set<std::string> shown;
    for (const Block& block : blocks("cpp")) shown.merge(headers_in(block.text));
    for (const HeaderExample& example : header_examples()) {
        const std::set<std::string> headers = headers_in(example.text);
        EXPECT_TRUE(headers.contains(example.name + ".h")) << example.name << " is not named after a header";
        shown.insert(headers.begin(), headers.end());
    }
    const std::set<std::string> headers = public_headers();
    EXPECT_TRUE(headers.contains("launch.h"));
    for (const std::string& header : headers)
        EXPECT_TRUE(shown.contains(header)) << "write tests/examples/" << fs::path(header).stem().string() << ".cpp";
}

TEST_F(ReadmeTest, GuidesNameEveryKernelAndTheirNumber) {
    const std::string guide = text_of(kTree / "kernels" / "README.md");
    for (const texton::Kernel& kernel : texton::kernels())
        EXPECT_NE(guide.find("`" + kernel.info.name + "`"), std::string::npos) << kernel.info.name;
    const std::regex number("([0-9]+) sampling kernels");
    int numbers = 0;
    for (const char* readme : {"README.md", "kernels/README.md", "kernels/tutorial/README.md"}) {
        const std::string text = text_of(kTree / readme);
        for (std::sregex_iterator match(text.begin(), text.end(), number), end; match != end; ++match, ++numbers)
            EXPECT_EQ((*match)[1], std::to_string(texton::kernels().size())) << readme;
    }
    EXPECT_GE(numbers, 3);
}

TEST_F(ReadmeTest, TheFirstReadmeHasAtMostEightKilobytes) { EXPECT_LE(fs::file_size(kTree / "README.md"), 8 * 1024u); }

}  // namespace
