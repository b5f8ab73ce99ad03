#pragma once
// Suites of regression tests. A JSON file lists cases, each of which makes images or names images that exist, and what
// these must meet.
// tests/regress/README.md describes the format.
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "viewer/model/kernel_run.h"
#include "viewer/verify/command.h"
#include "viewer/verify/criteria.h"
#include "viewer/verify/image_files.h"
#include "viewer/verify/input_memory.h"
#include "viewer/verify/pattern.h"
#include "viewer/verify/reference.h"

namespace texton::verify {

/// An input of a case: image files or a pattern.
struct Input {
    /// Files that are read as one array.
    struct Files {
        std::vector<std::filesystem::path> paths;
        ImageOptions options;
    };
    /// A pattern, and the array that it fills.
    struct Made {
        Pattern pattern;
        ArrayInfo info;
    };
    std::variant<Files, Made> source;
    TextureRange range{};  ///< the part of the array that the texture reads
    InputMemory memory = InputMemory::array;
    Json sampler = Json::object();  ///< in the form that sampler_of() reads
    std::string where;              ///< position in the suite, for messages
};

/// A kernel and its inputs. Its results are compared with a reference.
struct KernelCase {
    std::vector<Input> inputs;
    KernelRun run;
};

/// A command. The images that it writes are compared with a reference.
struct CommandCase {
    Command command;
    std::vector<ImagePattern> images;  ///< in the working folder of the command; not empty
};

/// Images that exist. They are compared with a reference.
struct FilesCase {
    std::vector<ImagePattern> images;  ///< in the folder of the suite; not empty
};

/// Two folders. Files with equal names are compared with each other.
struct FoldersCase {
    std::filesystem::path expected;
    std::filesystem::path actual;
    std::vector<ImagePattern> images;  ///< in both folders; empty: all files whose names are those of images
};

/// Images that a program gives to check_image(). No suite contains it.
struct GivenCase {};

/// A case: its images, and what they must meet.
struct Case {
    std::string name;
    std::string where;      ///< position in the suite, for messages
    Criteria criteria;      ///< of images without criteria of their own
    bool is_quick = true;   ///< belongs to the cases of --quick
    bool optional = false;  ///< files that the case needs may be missing, and its command may skip it
    std::variant<KernelCase, CommandCase, FilesCase, FoldersCase, GivenCase> work;
    std::size_t entry = 0;  ///< index of the entry in the file; a matrix makes several cases of one entry
};

/// Which of several references of a case a result can match.
enum class Variants : std::uint8_t {
    any,      ///< any of them; the one with the most equal fields is the first
    matching  ///< only the one whose device, driver and machine have the most equal fields
};

/// A suite of cases.
struct Suite {
    std::string name;                               ///< name of the file without its extension
    std::filesystem::path file{};                   ///< path of the file
    std::filesystem::path folder;                   ///< folder of the file; empty is the current folder
    std::filesystem::path references;               ///< folder of the references
    bool own_references = true;                     ///< the folder is named after the suite, so no other suite uses it
    std::optional<std::filesystem::path> within{};  ///< folder of all files and references; unset: they may be anywhere
    bool image_references = false;                  ///< references are image files where these hold every bit
    std::optional<std::filesystem::path> store{};   ///< folder of the texels of references, by content hash
    Variants variants = Variants::any;              ///< which references of a case count
    std::vector<Case> cases;                        ///< with a case for each combination of a matrix
};

/// Returns where the references of a suite are.
[[nodiscard]] ReferencePlaces places_of(const Suite& suite);

/// Whether a suite may name files and a folder of references outside of its own folder. A symbolic link that leads out
/// of the folder counts as outside.
enum class Outside : std::uint8_t { refused, allowed };

/// Whether a suite may contain commands.
enum class Commands : std::uint8_t { refused, allowed };

/// Reads a suite. Image files are not read.
///
/// Throws Error{bad_argument}, with the case and the key, if a key is unknown or its value is invalid, or if the
/// matrices create more than 100,000 cases, or if there is no case. Throws Error{not_permitted} if a file or the
/// references are outside of the folder of the suite and that is refused, and if a case has a command and that is
/// refused. Throws Error{io}, with the path, if the file cannot be read, is not a
/// regular file, is not valid JSON or larger than 16 MiB, or has two cases with the same reference file name.
[[nodiscard]] Suite read_suite(const std::filesystem::path& path, Outside outside = Outside::refused,
                               Commands commands = Commands::refused);

/// Returns a file name for a case: its name, with '_' for every character except letters, digits, '-' and '.'.
/// The name never denotes a folder: "." and ".." become "_" and "__".
[[nodiscard]] std::string file_name(const std::string& name_of_case);

}  // namespace texton::verify
