#pragma once
// Commands in the background, for tests that end them or their workers.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/reader_processes.h"

namespace texton::test {

/// A command that runs in the background, with its output in the files `out` and `err` of the folder.
class RunningCommand {
public:
    /// `command` is a line of the shell whose first word is a program.
    RunningCommand(const std::filesystem::path& folder, const std::string& command) {
        process_ = ::fork();
        if (process_ != 0) return;
        const std::string line = "unset TEXTON_READER; cd '" + folder.string() + "' && exec " + command + " >out 2>err";
        ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
        ::_exit(127);
    }
    ~RunningCommand() {
        if (process_ > 0) (void)end(SIGKILL);
    }
    RunningCommand(const RunningCommand&) = delete;
    RunningCommand& operator=(const RunningCommand&) = delete;

    pid_t process() const { return process_; }
    /// Sends a signal, or none for 0, and returns what waitpid() says.
    int end(int signal) {
        if (signal != 0) ::kill(process_, signal);
        int status = 0;
        ::waitpid(process_, &status, 0);
        process_ = -1;
        return status;
    }
    /// Returns the workers that the command has started and that have not ended. A copy of the command, which reads
    /// files or will be replaced by another program, has the arguments of the command.
    std::vector<SeenProcess> workers() const {
        const std::string own = arguments_of(process_);
        std::vector<SeenProcess> workers = children_of(process_);
        std::erase_if(workers, [&](const SeenProcess& each) {
            return each.name != "texton-commands" || each.state == 'Z' || arguments_of(each.process) == own;
        });
        return workers;
    }

private:
    static std::string arguments_of(pid_t process) {
        std::ifstream file("/proc/" + std::to_string(process) + "/cmdline", std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    pid_t process_ = -1;
};

}  // namespace texton::test
