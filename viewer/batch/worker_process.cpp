#include "viewer/batch/worker_process.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>

#include "arrays/files/isolated/helper.h"
#include "arrays/files/isolated/spawn_helper.h"
#include "core/unfinished_file.h"
#include "viewer/batch/packets.h"

namespace texton::batch {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kPatience{1000};  // of a worker that was asked to end
constexpr int kFirstDescriptor = 10;     // above those that the worker gets

[[noreturn]] void fail(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::unsupported,
                 .object = "texton::Batch",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

}  // namespace

fs::path worker_program() {
    if (const char* chosen = ::secure_getenv("TEXTON_WORKER"); chosen != nullptr && *chosen != '\0') return chosen;
    std::vector<std::string> tried;
    for (const std::string& reader : detail::helper_paths()) {
        const fs::path path = fs::path(reader).parent_path() / "texton-commands";
        if (::access(path.c_str(), X_OK) == 0) return path;
        tried.push_back(path.string());
    }
    fail(fmt::format("the program texton-commands, which computes images in processes of its own, was not found: {}",
                     fmt::join(tried, ", ")),
         "Install Texton completely, or set TEXTON_WORKER to the path of the program.");
}

WorkerProcess::WorkerProcess(const fs::path& program, verify::Json work) {
    const bool is_of_batch = !work.contains("command");
    if (!is_of_batch || !adopt(program)) start(program, is_of_batch ? detail::kWorkerArgument : kStripWorkerArgument);
    while (mark_ == 0) mark_ = std::random_device()();
    work["mark"] = mark_;
    (void)request(work);
}

bool WorkerProcess::adopt(const fs::path& program) {
    static std::atomic<bool> is_first{true};
    if (!is_first.exchange(false)) return false;
    const detail::StartedHelper started = detail::started_helper(detail::kStartedWorker, program.c_str());
    if (started.process < 0) return false;
    socket_ = detail::OwnedDescriptor(started.control);
    process_ = started.process;
    return true;
}

void WorkerProcess::start(const fs::path& program, const char* argument) {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        fail("a socket could not be created: " + std::generic_category().message(errno), "Close other files.");
    socket_ = detail::OwnedDescriptor(ends[0]);
    detail::OwnedDescriptor theirs(ends[1]);
    if (theirs.number() < kFirstDescriptor)
        theirs = detail::OwnedDescriptor(::fcntl(theirs.number(), F_DUPFD_CLOEXEC, kFirstDescriptor));
    const int bytes = 2 * static_cast<int>(kMaxPacket);
    for (const int socket : {socket_.number(), theirs.number()})
        ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    if (const int error = detail::spawn_helper(program.c_str(), theirs.number(), process_, argument); error != 0) {
        fail(fmt::format("{} could not be started: {}", program.string(), std::generic_category().message(error)),
             "Install Texton again.");
    }
}

WorkerProcess::~WorkerProcess() {
    if (process_ > 0) (void)WorkerProcess::end({});
}

bool WorkerProcess::request(const verify::Json& request) {
    return send(socket(), request.dump(-1, ' ', false, verify::Json::error_handler_t::replace));
}

std::optional<verify::Json> WorkerProcess::answer() {
    std::string packet;
    if (!receive(socket(), packet)) return {};
    verify::Json answer = verify::Json::parse(packet, nullptr, false);
    if (!answer.is_object()) return {};
    return answer;
}

void WorkerProcess::terminate() noexcept {
    if (process_ > 0) ::kill(process_, SIGTERM);
}

int WorkerProcess::end(const std::vector<fs::path>& folders) {
    if (process_ <= 0) return 0;
    socket_.reset();
    int status = 0;
    const auto has_ended = [&] {
        pid_t ended;
        while ((ended = ::waitpid(process_, &status, WNOHANG)) < 0 && errno == EINTR) {
        }
        return ended != 0;
    };
    for (const auto late = std::chrono::steady_clock::now() + kPatience; !has_ended();) {
        if (std::chrono::steady_clock::now() > late) {
            ::kill(process_, SIGKILL);
            while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
            }
            break;
        }
        std::this_thread::sleep_for(milliseconds(2));
    }
    process_ = -1;
    for (const fs::path& folder : folders) detail::remove_marked_files(folder.empty() ? fs::path(".") : folder, mark_);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace texton::batch
