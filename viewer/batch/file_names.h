#pragma once
// Names of the files of a batch: the inputs that a user names, and the outputs that follow from them.
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace texton::batch {

/// An input, and the folder of the batch in which it was found.
struct Input {
    std::filesystem::path path;
    std::filesystem::path folder{};  ///< folder of the file below the one that was named: "a/b" for in/a/b/c.png of in
};

/// Returns the inputs that the names stand for, in their order. A name is that of
/// - a file,
/// - a folder: all files in it and in its folders whose extension is that of a kind of image, sorted by name,
/// - the name of numbered files, in_%03d.png: these files in the order of their numbers,
/// - a pattern with *, ? or [...], if no file has that name: the files that match, sorted by name.
///
/// Throws Error{io} if a name stands for no file.
[[nodiscard]] std::vector<Input> inputs_named(std::span<const std::string> names);

/// Returns the lines of a file, or of standard input for "-". Empty lines are left out. Throws Error{io}.
[[nodiscard]] std::vector<std::string> lines_of(const std::string& path);

/// A name of outputs in which words in braces stand for parts of the input's name: "out/{folder}/{stem}.png".
///
/// {name} is the name of the input without its folder, {stem} the name without its extension, {extension} the extension
/// without the dot, {folder} the folder of the input below the one that was named, and {number} the position of the input,
/// from 0. {{ and }} are braces.
class OutputPattern {
public:
    /// Throws Error{bad_argument} if a word is unknown, or if the braces do not match.
    explicit OutputPattern(std::string text);

    /// Returns the path of the output. `position` is the number of the input, from 0.
    [[nodiscard]] std::filesystem::path path(const Input& input, std::size_t position) const;
    /// Returns the folder that is the same for all inputs.
    [[nodiscard]] std::filesystem::path fixed_folder() const;
    const std::string& text() const noexcept { return text_; }

private:
    struct Part {
        std::string text;
        bool is_word = false;
    };

    std::string text_;
    std::vector<Part> parts_;
};

}  // namespace texton::batch
