#include "viewer/cli/strip_worker.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tbb/global_control.h>

#include <texton/device.h>
#include <texton/linear.h>

#include "core/unfinished_file.h"
#include "viewer/batch/packets.h"
#include "viewer/batch/path_json.h"
#include "viewer/batch/worker.h"
#include "viewer/cli/chain_in_strips.h"
#include "viewer/cli/run_in_strips.h"
#include "viewer/cli/statistics_worker.h"
#include "viewer/tiles/computed_image.h"
#include "viewer/tiles/row_file.h"
#include "viewer/tiles/row_set.h"

namespace texton::cli {
namespace {

using tiles::Rows;
using verify::Json;

// The steps of a command line with the options of a worker.
struct Command {
    RunOptions options;
    RunSteps steps;

    explicit Command(const Json& request) {
        std::vector<std::string> words;
        for (const Json& word : request.at("command")) words.push_back(batch::path_in(word).value().string());
        steps = parse_run(words, options);
        options.device = request.at("device");
        options.timing = false;
    }
};

class StripWorker {
public:
    // Throws the errors of ChainInStrips.
    StripWorker(int socket, const Json& request)
        : socket_(socket),
          threads_(tbb::global_control::max_allowed_parallelism, request.at("threads").get<std::size_t>()),
          command_(request),
          device_(strips_device(command_.options)),
          chain_(command_.options, command_.steps, device_, request.at("memory")),
          file_(batch::path_in(request.at("file")).value(),
                tiles::row_layout(chain_.last().shape().format, chain_.last().shape().extent), false),
          synchronizes_(request.at("synchronizes")),
          pixels_{tiles::strip_pixels(chain_.last()), tiles::strip_pixels(chain_.last())} {}

    // Computes rows until the other end of the socket is closed. While rows are written, the next ones are computed.
    void serve() {
        (void)batch::send(socket_, packet_text({{"ready", chain_.description()}}));
        for (std::size_t turn = 0;; turn = 1 - turn) {
            if (tasks_.empty()) finish_writing();
            if (!receive_tasks()) return;
            const auto begin = Clock::now();
            const Rows rows = strip_of(tasks_.front());
            const std::size_t first = tasks_.front().first;  // a strip can begin with rows that are finished
            take(rows);
            chain_.last().compute(rows, tasks_.empty() ? Rows{} : strip_of(tasks_.front()), pixels_[turn]);
            const double milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
            finish_writing();
            writing_ = std::async(std::launch::async, [this, rows, first, milliseconds, turn] {
                file_.write({first, rows.end}, pixels_[turn].data(), rows);
                if (synchronizes_) file_.synchronize();
                (void)batch::send(socket_, packet_text({{"rows", {first, rows.end}}, {"milliseconds", milliseconds}}));
            });
        }
    }

private:
    using Clock = std::chrono::steady_clock;

    // Receives the tasks that have arrived. If the worker has none, waits for one. Returns false at the end.
    bool receive_tasks() {
        for (;;) {
            pollfd packets{socket_, POLLIN, 0};
            if (!tasks_.empty() && ::poll(&packets, 1, 0) <= 0) return true;
            std::string packet;
            if (!batch::receive(socket_, packet)) return false;
            const Json request = Json::parse(packet);
            tasks_.push_back({request.at("rows").at(0), request.at("rows").at(1)});
        }
    }
    Rows strip_of(Rows task) {
        const std::size_t unit = device_.kind() == DeviceKind::cuda ? kCudaRowUnit : 1;
        return tiles::first_strip(task, chain_.last().strip_rows(), unit);
    }
    // Removes the rows of a strip from the tasks.
    void take(Rows strip) {
        tasks_.front().first = strip.end;
        if (tasks_.front().count() == 0) tasks_.pop_front();
    }
    void finish_writing() {
        if (writing_.valid()) writing_.get();
    }

    const int socket_;
    const tbb::global_control threads_;
    Command command_;
    const Device device_;
    ChainInStrips chain_;
    tiles::RowFile file_;
    const bool synchronizes_;
    std::array<Linear, 2> pixels_;
    std::deque<Rows> tasks_;
    std::future<void> writing_;
};

// Returns a thread that sends signs of life, so that the command notices a process that was stopped.
std::jthread signs_of_life(int socket, const Json& request) {
    const std::chrono::milliseconds interval(request.at("alive_milliseconds").get<std::int64_t>());
    return std::jthread([socket, interval](const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any stopped;
        std::unique_lock lock(mutex);
        while (!stopped.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); }))
            (void)batch::send(socket, packet_text({{"alive", true}}));
    });
}

}  // namespace

std::string packet_text(const Json& packet) { return packet.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json failure_json(const std::exception& error) {
    if (const auto* own = dynamic_cast<const Error*>(&error))
        return {{"failed",
                 {{"code", static_cast<int>(own->code())},
                  {"object", own->object()},
                  {"problem", own->problem()},
                  {"remedy", own->remedy()},
                  {"call", own->call()},
                  {"cuda_name", own->cuda_name()}}}};
    const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    return {{"failed",
             {{"code", static_cast<int>(no_memory ? ErrorCode::out_of_memory : ErrorCode::device_failure)},
              {"problem", no_memory ? "there is not enough memory" : error.what()}}}};
}

bool is_of_device(const Error& error) noexcept {
    return error.code() == ErrorCode::out_of_memory || error.code() == ErrorCode::device_lost ||
           error.code() == ErrorCode::device_failure;
}

Error error_in(const Json& answer) {
    const Json& failed = answer.at("failed");
    if (failed.is_string())
        return Error({.code = ErrorCode::device_failure, .object = "texton run", .problem = failed, .remedy = ""});
    return Error({.code = static_cast<ErrorCode>(failed.value("code", static_cast<int>(ErrorCode::device_failure))),
                  .object = failed.value("object", "texton run"),
                  .problem = failed.value("problem", ""),
                  .remedy = failed.value("remedy", ""),
                  .call = failed.value("call", ""),
                  .cuda_name = failed.value("cuda_name", "")});
}

int run_strip_worker(int socket) {
    batch::end_with(socket);
    std::signal(SIGXFSZ, SIG_IGN);  // writing to a file at its limit fails instead
    std::string packet;
    if (batch::receive(socket, packet)) {
        try {
            const Json request = Json::parse(packet);
            const std::jthread alive = signs_of_life(socket, request);
            if (request.contains("statistics")) {
                serve_statistics(socket, request);
            } else {
                StripWorker(socket, request).serve();
            }
        } catch (const std::exception& error) {
            (void)batch::send(socket, packet_text(failure_json(error)));
            // A socket that is closed with unread requests would lose the answer.
            while (batch::receive(socket, packet)) {
            }
        }
    }
    detail::remove_unfinished_files();
    ::_exit(0);
}

}  // namespace texton::cli
