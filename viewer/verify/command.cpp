// Runs a command in a process group of its own. Its output goes through a pipe. The loop waits for output, for the end
// of the program (a descriptor of the process) and for the time limit. The program stays a zombie until all processes
// of its group are killed, so that the system cannot give its number to another group meanwhile. Then all of them are
// waited for, so that none writes to the working folder while its files are read or removed.
#include "viewer/verify/command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// The header of glibc 2.36 declares its functions for C only.
extern "C" {
#include <sys/pidfd.h>
}

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/files/descriptor.h"
#include "arrays/files/isolated/spawn_objects.h"
#include "viewer/text/utf8.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using detail::OwnedDescriptor;
using std::chrono::milliseconds;

constexpr milliseconds kStopInterval{100};  // between two looks at the stop token

[[noreturn]] void fail(const std::string& what, int error) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton::verify",
                 .problem = fmt::format("{}: {}", what, std::generic_category().message(error)),
                 .remedy = "Check the command of the case, and the limits of the system."});
}

std::string replaced(std::string text, const fs::path& folder, const fs::path& suite_folder) {
    const std::array<std::pair<std::string_view, std::string>, 2> values{
        std::pair{std::string_view("{out}"), folder.string()},
        std::pair{std::string_view("{suite}"), suite_folder.string()}};
    for (std::size_t at = 0; at < text.size(); ++at) {
        for (const auto& [placeholder, value] : values) {
            if (text.compare(at, placeholder.size(), placeholder) != 0) continue;
            text.replace(at, placeholder.size(), value);
            at += value.size() - 1;
            break;
        }
    }
    return text;
}

// Returns texts for posix_spawn(), which does not change them, and a null pointer.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

std::vector<std::string> environment_of(const Command& command, const fs::path& folder, const fs::path& suite_folder) {
    std::vector<std::string> out;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (!command.environment.contains(std::string(text.substr(0, text.find('='))))) out.emplace_back(text);
    }
    for (const auto& [name, value] : command.environment)
        if (value) out.push_back(name + '=' + replaced(*value, folder, suite_folder));
    return out;
}

pid_t spawn(const Command& command, const fs::path& folder, const fs::path& suite_folder, int output) {
    const fs::path program = program_of(command, suite_folder);
    std::vector<std::string> arguments;
    for (const std::string& each : command.arguments) arguments.push_back(replaced(each, folder, suite_folder));
    std::vector<std::string> environment = environment_of(command, folder, suite_folder);
    detail::SpawnActions actions;
    detail::SpawnAttributes attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    constexpr short kFlags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
    pid_t process = -1;
    int error = actions.error != 0 ? actions.error : attributes.error;
    const auto add = [&error](int result) { error = error != 0 ? error : result; };
    if (error == 0) {
        add(posix_spawn_file_actions_addopen(&actions.value, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
        add(posix_spawn_file_actions_adddup2(&actions.value, output, STDOUT_FILENO));
        add(posix_spawn_file_actions_adddup2(&actions.value, output, STDERR_FILENO));
        add(posix_spawn_file_actions_addclosefrom_np(&actions.value, STDERR_FILENO + 1));
        add(posix_spawn_file_actions_addchdir_np(&actions.value, folder.c_str()));
        add(posix_spawnattr_setsigmask(&attributes.value, &none));
        add(posix_spawnattr_setsigdefault(&attributes.value, &all));
        add(posix_spawnattr_setpgroup(&attributes.value, 0));
        add(posix_spawnattr_setflags(&attributes.value, kFlags));
    }
    if (error == 0) {
        add(::posix_spawnp(&process, program.c_str(), &actions.value, &attributes.value, pointers_to(arguments).data(),
                           pointers_to(environment).data()));
    }
    if (error != 0) fail(fmt::format("the program {} cannot be started", program.string()), error);
    return process;
}

// The last bytes that were read from a pipe.
class Output {
public:
    // Reads the bytes that are in the pipe. Returns false at its end.
    bool read(int pipe) {
        std::array<char, 16384> bytes;
        const ssize_t count = ::read(pipe, bytes.data(), bytes.size());
        if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EINTR);
        text_.append(bytes.data(), static_cast<std::size_t>(count));
        if (text_.size() > 2 * kMaxOutput) text_.erase(0, text_.size() - kMaxOutput);
        return true;
    }
    std::string take() {
        if (text_.size() > kMaxOutput) text_.erase(0, text_.size() - kMaxOutput);
        return std::move(text_);
    }

private:
    std::string text_;
};

// A process and the processes of its group, which the destructor kills.
class ProcessGroup {
public:
    explicit ProcessGroup(pid_t process) : process_(process), descriptor_(::pidfd_open(process, 0)) {
        if (descriptor_) return;
        const int error = errno;
        (void)end();
        fail("a process cannot be observed", error);
    }
    ~ProcessGroup() { (void)end(); }
    ProcessGroup(const ProcessGroup&) = delete;
    ProcessGroup& operator=(const ProcessGroup&) = delete;

    int descriptor() const noexcept { return descriptor_.number(); }
    // Kills the processes that remain and waits for their ends. Returns the status of the first process as waitpid() does.
    int end() noexcept {
        int status = 0;
        if (process_ < 0) return status;
        ::kill(-process_, SIGKILL);
        for (;;) {
            int other = 0;
            const pid_t ended = ::waitpid(-process_, &other, 0);
            if (ended == process_) status = other;
            if (ended < 0 && errno != EINTR) break;
        }
        process_ = -1;
        return status;
    }

private:
    pid_t process_;
    OwnedDescriptor descriptor_;
};

// Waits until the program ends. Returns why it must be killed, or `exited`.
CommandEnd::Reason wait(const ProcessGroup& group, int pipe, Output& output, Clock::time_point late,
                        const std::stop_token& stop) {
    std::array<pollfd, 2> files{pollfd{.fd = group.descriptor(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = pipe, .events = POLLIN, .revents = 0}};
    for (;;) {
        if (stop.stop_requested()) return CommandEnd::Reason::stopped;
        auto left = std::chrono::ceil<milliseconds>(late - Clock::now());
        if (left <= milliseconds(0)) return CommandEnd::Reason::time_limit;
        left = std::min(left, stop.stop_possible() ? kStopInterval : milliseconds(60000));
        if (::poll(files.data(), files.size(), static_cast<int>(left.count())) < 0 && errno != EINTR)
            fail("waiting for a process failed", errno);
        if (files[1].revents != 0 && !output.read(pipe)) files[1].fd = -1;
        if (files[0].revents != 0) return CommandEnd::Reason::exited;
    }
}

const char* name_of_signal(int signal) {
    const char* name = ::sigabbrev_np(signal);
    return name != nullptr ? name : "?";
}

// Gives the user all permissions on a folder and the folders in it: a program may have removed its own.
void make_removable(const fs::path& folder) {
    std::error_code failed;
    fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, failed);
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
        if (entry->symlink_status(failed).type() == fs::file_type::directory) make_removable(entry->path());
}

}  // namespace

WorkingFolder::WorkingFolder() {
    std::error_code failed;
    std::string name = (fs::temp_directory_path(failed) / "texton-verify-XXXXXX").string();
    if (failed) fail("there is no folder for temporary files", failed.value());
    if (::mkdtemp(name.data()) == nullptr) fail("the folder " + name + " cannot be created", errno);
    path_ = name;
}

WorkingFolder::~WorkingFolder() {
    std::error_code failed;
    fs::remove_all(path_, failed);
    if (!failed) return;
    make_removable(path_);
    fs::remove_all(path_, failed);
}

fs::path program_of(const Command& command, const fs::path& suite_folder) {
    const std::string program = replaced(command.arguments.front(), ".", suite_folder);
    return program.find('/') == std::string::npos ? fs::path(program) : suite_folder / program;
}

bool has_program(const Command& command, const fs::path& suite_folder) {
    const fs::path program = program_of(command, suite_folder);
    const auto is_executable = [](const fs::path& path) {
        std::error_code failed;
        return fs::is_regular_file(path, failed) && ::access(path.c_str(), X_OK) == 0;
    };
    if (program.has_parent_path()) return is_executable(program);
    const char* variable = std::getenv("PATH");
    std::string_view folders = variable != nullptr ? variable : "/bin:/usr/bin";
    for (bool more = true; more;) {
        const std::size_t colon = folders.find(':');
        if (is_executable(fs::path(folders.substr(0, colon)) / program)) return true;
        more = colon != std::string_view::npos;
        if (more) folders.remove_prefix(colon + 1);
    }
    return false;
}

CommandEnd run_command(const Command& command, const fs::path& folder, const fs::path& suite_folder,
                       std::stop_token stop) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("a pipe cannot be created", errno);
    const OwnedDescriptor ours(ends[0]);
    OwnedDescriptor theirs(ends[1]);
    if (::fcntl(ours.number(), F_SETFL, O_NONBLOCK) != 0) fail("a pipe cannot be created", errno);
    const auto late = Clock::now() + std::chrono::ceil<milliseconds>(command.time_limit);
    // The processes that the program leaves become children of this process, which can wait for their ends.
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) fail("a process cannot be observed", errno);
    ProcessGroup group(spawn(command, folder, suite_folder, theirs.number()));
    theirs.reset();
    Output output;
    CommandEnd out;
    out.reason = wait(group, ours.number(), output, late, stop);
    const int status = group.end();
    // What is left in the pipe. A process that left the group may write forever, so there is a limit.
    for (int i = 0; i < 64 && output.read(ours.number()); ++i) {
    }
    out.output = output.take();
    if (out.reason != CommandEnd::Reason::exited) return out;
    if (WIFSIGNALED(status)) out.reason = CommandEnd::Reason::signal;
    out.number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return out;
}

std::string text_of(const CommandEnd& end, const Command& command) {
    switch (end.reason) {
        case CommandEnd::Reason::exited:
            return fmt::format("ended with exit status {} (expected: {})", end.number, command.exit_status);
        case CommandEnd::Reason::signal:
            return fmt::format("was ended by signal {} (SIG{})", end.number, name_of_signal(end.number));
        case CommandEnd::Reason::time_limit:
            return fmt::format("was killed after {:g} s, the time limit", command.time_limit.count());
        case CommandEnd::Reason::stopped: return "was stopped";
    }
    return "";
}

std::string last_lines(const std::string& text, std::size_t lines) {
    std::string_view rest = text;
    while (rest.ends_with('\n')) rest.remove_suffix(1);
    std::size_t begin = rest.size();
    for (std::size_t found = 0; begin > 0; --begin)
        if (rest[begin - 1] == '\n' && ++found == lines) break;
    std::string out = viewer::to_utf8(rest.substr(begin));
    for (char& letter : out) {
        const bool is_control = static_cast<unsigned char>(letter) < ' ' || letter == '\x7f';
        if (letter == '\t')
            letter = ' ';
        else if (is_control && letter != '\n')
            letter = '?';
    }
    return out;
}

}  // namespace texton::verify
