#pragma once
// Commands of a suite: programs that write images into a temporary folder.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace texton::verify {

/// A program and how it is run.
struct Command {
    std::vector<std::string> arguments;  ///< the program and its arguments; not empty
    /// Variables that differ from the environment of this process. Without a value, the variable is removed.
    std::map<std::string, std::optional<std::string>> environment;
    std::chrono::duration<double> time_limit{300};  ///< the command is killed after this time
    int exit_status = 0;                            ///< the expected exit status
};

/// A folder that is created empty in the folder for temporary files, and removed with its contents by the destructor.
class WorkingFolder {
public:
    /// Throws Error{io} if the folder cannot be created.
    WorkingFolder();
    ~WorkingFolder();
    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;

    const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// How a command ended.
struct CommandEnd {
    enum class Reason : std::uint8_t {
        exited,      ///< by itself
        signal,      ///< by a signal, for example a crash
        time_limit,  ///< it was killed after the time limit
        stopped      ///< it was killed because a stop was requested
    };
    Reason reason = Reason::exited;
    int number = 0;      ///< exit status or signal
    std::string output;  ///< the last bytes of standard output and standard error, at most kMaxOutput
};

/// Maximum number of bytes of output that are kept.
inline constexpr std::size_t kMaxOutput = std::size_t{64} << 10;

/// Returns the program of a command: a relative path with a slash starts at the folder of the suite, and a name without
/// a slash is looked up in PATH.
[[nodiscard]] std::filesystem::path program_of(const Command& command, const std::filesystem::path& suite_folder);
/// Returns true if the program of a command is an executable file.
[[nodiscard]] bool has_program(const Command& command, const std::filesystem::path& suite_folder);

/// Runs a command in a folder and waits for its end.
///
/// In the arguments and in the values of the environment, {out} is replaced by the path of `folder` and {suite} by the
/// path of `suite_folder`. Standard input is empty, and other descriptors of this process are not inherited. When the
/// program ends, at the time limit and if `stop` is requested, all processes of its process group are killed. This
/// process becomes the parent of those that lose theirs (PR_SET_CHILD_SUBREAPER).
///
/// Throws Error{io} if the program cannot be started.
[[nodiscard]] CommandEnd run_command(const Command& command, const std::filesystem::path& folder,
                                     const std::filesystem::path& suite_folder, std::stop_token stop = {});

/// Returns how the command ended, as part of a sentence: "was ended by signal 11 (SIGSEGV)".
[[nodiscard]] std::string text_of(const CommandEnd& end, const Command& command);
/// Returns the last lines of a text, at most `lines`. Control characters are replaced.
[[nodiscard]] std::string last_lines(const std::string& text, std::size_t lines);

}  // namespace texton::verify
