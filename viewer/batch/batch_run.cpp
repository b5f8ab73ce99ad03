#include "viewer/batch/batch_run.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include <texton/device.h>
#include <texton/error.h>

#include "viewer/batch/path_json.h"
#include "viewer/batch/ranks.h"

namespace texton::batch {
namespace {

namespace fs = std::filesystem;
using std::chrono::duration;
using std::chrono::milliseconds;
using std::chrono::seconds;
using verify::Json;

constexpr std::size_t kGroup = 256;     // outputs that are stored together at most
constexpr seconds kGroupTime{1};        // an output waits for others at most so long
constexpr seconds kPause{1};            // before another attempt
constexpr milliseconds kEndTime{3500};  // of the images that are computed when a stop is requested
constexpr double kStartSeconds = 60;    // until a worker is ready
constexpr int kMaxFailedStarts = 3;

std::int64_t now_in_nanoseconds() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// Signals that a program raises by its own fault. Others came from outside, so that another attempt can help.
bool is_own_fault(int signal) {
    constexpr std::array kFaults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    return std::ranges::find(kFaults, signal) != kFaults.end();
}

}  // namespace

std::vector<std::string> devices_named(const std::string& name) {
    const bool is_cuda = name == "cuda:all";
    if (!is_cuda && name != "cpu:all") return {name};
    std::vector<std::string> names;
    for (const Device& device : Device::list(is_cuda ? DeviceKind::cuda : DeviceKind::cpu))
        names.push_back(fmt::format("{}:{}", is_cuda ? "cuda" : "cpu", device.index()));
    if (names.empty())
        throw Error({.code = ErrorCode::unsupported,
                     .object = "texton::Batch",
                     .problem = "all CUDA devices were requested, but there is none: " + Device::why_no_cuda(),
                     .remedy = "Use another device, for example cpu."});
    return names;
}

BatchRun::BatchRun(RunOptions options, const std::vector<BatchItem>& items, Journal& journal,
                   const std::function<void(const BatchEvent&)>& on_event, const std::stop_token& stop)
    : options_(std::move(options)), journal_(journal), on_event_(on_event), stop_(stop) {
    for (const BatchItem& item : items) {
        if (item.reason == BatchReason::done) {
            ++summary_.skipped;
        } else {
            tasks_.push_back({&item});
        }
    }
    options_.max_failures =
        std::min(options_.max_failures,
                 static_cast<std::size_t>(options_.max_failure_share * static_cast<double>(tasks_.size())));
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t own = options_.workers == 0 ? std::max(processors, options_.devices.size()) : options_.workers;
    workers_.resize(std::min(rank_workers != nullptr ? rank_workers->count() : own, tasks_.size()));
    options_.work["threads"] = std::max<std::size_t>(1, processors / std::clamp<std::size_t>(workers_.size(), 1, own));
}

BatchSummary BatchRun::run() {
    const auto begin = Clock::now();
    while (!is_over()) {
        give_tasks();
        wait();
        store(false);
    }
    const auto end = Clock::now() + kEndTime;  // what was begun is completed, if that is soon
    const auto is_working = [](const Worker& worker) { return worker.task.has_value(); };
    while (std::ranges::any_of(workers_, is_working) && Clock::now() < end) wait();
    for (Worker& worker : workers_) {
        if (worker.process != nullptr && worker.task) worker.process->terminate();
    }
    for (Worker& worker : workers_) {
        if (worker.process == nullptr) continue;
        (void)worker.process->end(worker.task ? folders_of(*worker.task) : std::vector<fs::path>());
        if (worker.task) tasks_.push_back(*worker.task);
    }
    store(true);
    summary_.left = tasks_.size();
    summary_.seconds = seconds_since(begin);
    return summary_;
}

bool BatchRun::is_over() const {
    const bool is_working = std::ranges::any_of(workers_, [](const Worker& worker) { return worker.task.has_value(); });
    return stop_.stop_requested() || summary_.failed > options_.max_failures || (tasks_.empty() && !is_working);
}

const std::string& BatchRun::device_of(const Worker& worker) const {
    const auto index = static_cast<std::size_t>(&worker - workers_.data());
    return options_.devices[index % options_.devices.size()];
}

double BatchRun::seconds_since(Clock::time_point begin) const { return duration<double>(Clock::now() - begin).count(); }

std::vector<fs::path> BatchRun::folders_of(const Task& task) const {
    std::vector<fs::path> folders;
    for (const fs::path& output : task.item->outputs) {
        if (!output.empty()) folders.push_back(output.parent_path());
    }
    return folders;
}

void BatchRun::give_tasks() {
    for (Worker& worker : workers_) {
        if (tasks_.empty()) return;
        if (worker.process == nullptr) worker = {.process = start(worker), .begin = Clock::now()};
        if (worker.is_ready && !worker.task && !give(worker)) return;
    }
}

// Starts a worker, in the process of another rank if it is one of those.
std::unique_ptr<WorkerProcess> BatchRun::start(const Worker& worker) const {
    Json work = options_.work;
    work["device"] = device_of(worker);
    std::unique_ptr<WorkerProcess> remote;
    if (rank_workers != nullptr) remote = rank_workers->start(static_cast<std::size_t>(&worker - workers_.data()), work);
    return remote != nullptr ? std::move(remote) : std::make_unique<WorkerProcess>(options_.program, std::move(work));
}

// Returns false if all tasks must wait.
bool BatchRun::give(Worker& worker) {
    const auto now = Clock::now();
    const auto task = std::ranges::find_if(tasks_, [&](const Task& each) { return each.not_before <= now; });
    if (task == tasks_.end()) return false;
    worker.task = *task;
    tasks_.erase(task);
    ++worker.task->attempts;
    worker.begin = now;
    const BatchItem& item = *worker.task->item;
    const auto contents = contents_of(item.input, options_.checksum);
    if (!contents) {
        const Task missing = *std::exchange(worker.task, std::nullopt);
        worker.contents = {};
        fail(missing, worker, fmt::format("{} cannot be read: {}", item.input.string(), std::strerror(errno)), 0,
             false);
        return true;
    }
    worker.contents = *contents;
    Json request{{"input", json_of(item.input)}, {"outputs", Json::array()}};
    for (const fs::path& output : item.outputs) request["outputs"].push_back(json_of(output));
    if (!worker.process->request(request)) replace(worker);
    return true;
}

// Waits until a worker answers or is late, until a group must be stored, or for a short time.
void BatchRun::wait() {
    std::vector<pollfd> sockets;
    std::vector<Worker*> waiting;
    for (Worker& worker : workers_) {
        if (worker.process == nullptr) continue;
        sockets.push_back({worker.process->socket(), POLLIN, 0});
        waiting.push_back(&worker);
    }
    (void)::poll(sockets.data(), sockets.size(), 50);
    for (std::size_t i = 0; i < sockets.size(); ++i) {
        Worker& worker = *waiting[i];
        if (sockets[i].revents != 0) {
            hear(worker);
        } else if (seconds_since(worker.begin) > (worker.is_ready ? options_.seconds : kStartSeconds) &&
                   (worker.task || !worker.is_ready)) {
            worker.was_late = true;
            worker.process->terminate();
            replace(worker);
        }
    }
}

void BatchRun::hear(Worker& worker) {
    const std::optional<Json> answer = worker.process->answer();
    if (!answer) return replace(worker);
    if (worker.task) return finish(worker, *answer);
    if (answer->contains("ready")) {
        worker.is_ready = true;
        starts_failed_ = 0;
        return;
    }
    throw Error({.code = ErrorCode::unsupported,
                 .object = "texton::Batch",
                 .problem = "no image can be computed: " + answer->value("failed", "a worker did not start"),
                 .remedy = ""});
}

void BatchRun::finish(Worker& worker, const Json& answer) {
    const Task task = *std::exchange(worker.task, std::nullopt);
    const double took = seconds_since(worker.begin);
    if (answer.value("lost", false)) {
        (void)worker.process->end(folders_of(task));
        worker = {};
    }
    if (!answer.contains("done"))
        return fail(task, worker, answer.value("failed", "the worker answered nonsense"), took,
                    answer.value("retry", false));
    Entry entry{.input = task.item->input, .contents = worker.contents, .when = now_in_nanoseconds()};
    for (const Json& file : answer["done"]) entry.outputs.push_back(path_in(file).value_or(""));
    ++summary_.done;
    if (group_.empty()) group_begin_ = Clock::now();
    group_.push_back(entry);
    if (on_event_)
        on_event_({.item = *task.item,
                   .files = entry.outputs,
                   .attempts = task.attempts,
                   .seconds = took,
                   .device = device_of(worker)});
}

// Called after a worker ended, or when it is late.
void BatchRun::replace(Worker& worker) {
    const std::optional<Task> task = worker.task;
    const int signal = worker.process->end(task ? folders_of(*task) : std::vector<fs::path>());
    const double took = seconds_since(worker.begin);
    const Worker ended = std::exchange(worker, {});
    worker.contents = ended.contents;
    if (!task) {
        if (ended.is_ready || ++starts_failed_ < kMaxFailedStarts) return;
        std::string problem = "a worker ended before it was ready";
        if (ended.was_late) {
            problem = fmt::format("a worker was not ready after {} seconds", kStartSeconds);
        } else if (signal != 0) {
            problem = fmt::format("a worker was ended by the signal {} ({}) before it was ready", signal,
                                  ::strsignal(signal));
        }
        throw Error({.code = ErrorCode::unsupported,
                     .object = "texton::Batch",
                     .problem = std::move(problem),
                     .remedy = "Run the pipeline on one image with `texton run` to see why."});
    }
    if (ended.was_late)
        return fail(*task, worker, fmt::format("it took more than {} seconds", options_.seconds), took, false);
    fail(*task, worker,
         signal != 0
             ? fmt::format("the process that computed it was ended by the signal {} ({})", signal, ::strsignal(signal))
             : "the process that computed it ended",
         took, !is_own_fault(signal));
}

void BatchRun::fail(const Task& task, const Worker& worker, std::string cause, double took, bool can_retry) {
    if (can_retry && task.attempts < options_.attempts && !stop_.stop_requested()) {
        tasks_.push_back({task.item, task.attempts, Clock::now() + kPause});
        return;
    }
    ++summary_.failed;
    if (group_.empty()) group_begin_ = Clock::now();
    group_.push_back(
        {.input = task.item->input, .contents = worker.contents, .cause = cause, .when = now_in_nanoseconds()});
    if (on_event_)
        on_event_({.item = *task.item,
                   .failure = std::move(cause),
                   .attempts = task.attempts,
                   .seconds = took,
                   .device = device_of(worker)});
}

// Stores the outputs of a group, and then names their inputs in the journal. Another thread does this, one group at a
// time, while images are computed.
void BatchRun::store(bool all) {
    if (storing_.valid()) {
        if (!all && storing_.wait_for(seconds(0)) != std::future_status::ready) return;
        storing_.get();
    }
    const bool is_due = all || group_.size() >= kGroup || Clock::now() - group_begin_ >= kGroupTime;
    if (group_.empty() || !is_due) return;
    storing_ = std::async(std::launch::async, [this, group = std::exchange(group_, {})] {
        std::vector<fs::path> files;
        for (const Entry& entry : group) files.insert(files.end(), entry.outputs.begin(), entry.outputs.end());
        if (const int error = synchronize(files); error != 0) {
            throw Error({.code = ErrorCode::io,
                         .object = "texton::Batch",
                         .problem = "outputs cannot be stored: " + std::generic_category().message(error),
                         .remedy = "Check the disk, and run the batch again."});
        }
        journal_.append(group);
    });
    if (all) storing_.get();
}

}  // namespace texton::batch
