#include "viewer/batch/file_names.h"

#include <glob.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <istream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>
#include <texton/image_file.h>

#include "viewer/model/numbered_paths.h"

namespace texton::batch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kObject = "texton::Batch";
constexpr std::array kWords{"name", "stem", "extension", "folder", "number"};

[[noreturn]] void fail(ErrorCode code, std::string problem, std::string remedy) {
    throw Error({.code = code, .object = kObject, .problem = std::move(problem), .remedy = std::move(remedy)});
}

// Returns the files of a folder and of the folders in it. Hidden ones are left out.
std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::recursive_directory_iterator(); ++entry) {
        if (entry->path().filename().string().starts_with('.')) {
            if (entry->is_directory()) entry.disable_recursion_pending();
        } else if (entry->is_regular_file() && is_image_name(entry->path())) {
            files.push_back(entry->path());
        }
    }
    std::ranges::sort(files);
    return files;
}

std::vector<fs::path> files_matching(const std::string& pattern) {
    struct Matches : glob_t {
        ~Matches() { ::globfree(this); }
    } found{};
    std::vector<fs::path> files;
    if (::glob(pattern.c_str(), 0, nullptr, &found) != 0) return files;
    for (std::size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
    return files;
}

void add(const std::string& name, std::vector<Input>& inputs) {
    std::error_code failed;
    const fs::file_status status = fs::status(name, failed);
    if (fs::is_directory(status)) {
        const std::vector<fs::path> files = files_below(name);
        if (files.empty())
            fail(ErrorCode::io, fmt::format("the folder {} contains no image file", name), "Check the path.");
        for (const fs::path& file : files) inputs.push_back({file, file.parent_path().lexically_relative(name)});
    } else if (fs::exists(status)) {
        inputs.push_back({name});
    } else if (viewer::is_numbered(name)) {
        for (const fs::path& file : viewer::named_files(name)) inputs.push_back({file});
    } else if (const std::vector<fs::path> files = files_matching(name); !files.empty()) {
        for (const fs::path& file : files) inputs.push_back({file});
    } else if (name.find_first_of("*?[") != std::string::npos) {
        fail(ErrorCode::io, fmt::format("no file matches {}", name), "Check the pattern.");
    } else {
        fail(ErrorCode::io, fmt::format("{} does not exist", name), "Check the path.");
    }
}

}  // namespace

std::vector<Input> inputs_named(std::span<const std::string> names) {
    std::vector<Input> inputs;
    try {
        for (const std::string& name : names) add(name, inputs);
    } catch (const fs::filesystem_error& error) {
        fail(ErrorCode::io, fmt::format("{} cannot be read: {}", error.path1().string(), error.code().message()),
             "Check the permissions of the folder.");
    }
    return inputs;
}

std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream file;
    if (path != "-") {
        std::error_code unreadable;
        if (fs::is_directory(path, unreadable))
            fail(ErrorCode::io, path + " is a folder", "Name a file with one path per line.");
        file.open(path, std::ios::binary);
        if (!file) fail(ErrorCode::io, path + " cannot be read", "Check the path.");
    }
    std::istream& in = path == "-" ? std::cin : file;
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        if (line.ends_with('\r')) line.pop_back();
        if (!line.empty()) lines.push_back(std::move(line));
    }
    if (in.bad()) fail(ErrorCode::io, path + " cannot be read", "Check the file.");
    return lines;
}

OutputPattern::OutputPattern(std::string text) : text_(std::move(text)) {
    const auto refuse = [&](const std::string& problem) {
        fail(ErrorCode::bad_argument, fmt::format("the output {} {}", text_, problem),
             fmt::format("Write the parts of the input's name as {{{}}}, and braces as {{{{ and }}}}.",
                         fmt::join(kWords, "}, {")));
    };
    if (text_.empty()) refuse("is empty");
    std::string literal;
    for (std::size_t i = 0; i < text_.size(); ++i) {
        const char c = text_[i];
        if (c != '{' && c != '}') {
            literal += c;
        } else if (i + 1 < text_.size() && text_[i + 1] == c) {
            literal += c;
            ++i;
        } else {
            const std::size_t end = c == '{' ? text_.find('}', i) : std::string::npos;
            if (end == std::string::npos) refuse("contains a single brace");
            const std::string word = text_.substr(i + 1, end - i - 1);
            if (std::ranges::find(kWords, word) == kWords.end()) refuse(fmt::format("contains {{{}}}", word));
            if (!literal.empty()) parts_.push_back({std::exchange(literal, {})});
            parts_.push_back({word, true});
            i = end;
        }
    }
    if (!literal.empty()) parts_.push_back({literal});
}

fs::path OutputPattern::path(const Input& input, std::size_t position) const {
    std::string text;
    for (const Part& part : parts_) {
        if (!part.is_word) {
            text += part.text;
        } else if (part.text == "name") {
            text += input.path.filename().string();
        } else if (part.text == "stem") {
            text += input.path.stem().string();
        } else if (part.text == "extension") {
            const std::string extension = input.path.extension().string();
            text += extension.empty() ? "" : extension.substr(1);
        } else if (part.text == "folder") {
            text += input.folder.empty() ? "." : input.folder.string();
        } else {
            text += std::to_string(position);
        }
    }
    return fs::path(text).lexically_normal();
}

fs::path OutputPattern::fixed_folder() const {
    const std::string before = parts_.front().is_word ? "" : parts_.front().text;
    const fs::path folder = fs::path(before).parent_path();
    return folder.empty() ? "." : folder;
}

}  // namespace texton::batch
