#include "viewer/batch/batch_run.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include <texton/device.h>
#include <texton/error.h>

#include "viewer/batch/path_json.h"
#include "viewer/batch/ranks.h"
#include "viewer/batch/worker.h"

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

std::size_t threads_of(const std::string& device, std::size_t processors, std::size_t devices) {
    if (may_be_cuda(device)) return std::max<std::size_t>(1, processors / devices);
    const char* threads = std::getenv("TEXTON_CPU_THREADS");
    if (threads == nullptr || *threads == '\0') return 0;
    return static_cast<std::size_t>(Device::cpu().properties().multiprocessors);
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
    const std::size_t devices = options_.devices.size();
    const std::size_t own = options_.workers == 0 ? std::max(processors, devices) : options_.workers;
    const std::size_t threads = threads_of(options_.devices.front(), processors, devices);
    options_.work["turns"] = 1;
    if (rank_workers != nullptr || threads == 0) {
        workers_.resize(std::min(rank_workers != nullptr ? rank_workers->count() : own, tasks_.size()));
        options_.work["threads"] =
            std::max<std::size_t>(1, processors / std::clamp<std::size_t>(workers_.size(), 1, own));
    } else {
        // One process for each device, whose threads decode and encode. Two more images than threads: one is computed,
        // and another one is decoded already.
        workers_.resize(std::min({devices, own, tasks_.size()}));
        const std::size_t turns = own / std::max<std::size_t>(1, workers_.size());
        images_ = turns + 2;
        options_.work["threads"] = threads;
        options_.work["turns"] = turns;
    }
    options_.work["images"] = images_;
}

BatchSummary BatchRun::run() {
    const auto begin = Clock::now();
    while (!is_over()) {
        give_tasks();
        wait();
        store(false);
    }
    const auto end = Clock::now() + kEndTime;  // what was begun is completed, if that is soon
    const auto is_working = [](const Worker& worker) { return !worker.tasks.empty(); };
    while (std::ranges::any_of(workers_, is_working) && Clock::now() < end) wait();
    for (Worker& worker : workers_) {
        if (worker.process != nullptr && !worker.tasks.empty()) worker.process->terminate();
    }
    for (Worker& worker : workers_) {
        if (worker.process == nullptr) continue;
        (void)worker.process->end(folders_of(worker));
        for (const Running& running : worker.tasks) tasks_.push_back(running.task);
    }
    store(true);
    summary_.left = tasks_.size();
    summary_.seconds = seconds_since(begin);
    return summary_;
}

bool BatchRun::is_over() const {
    const bool is_working = std::ranges::any_of(workers_, [](const Worker& worker) { return !worker.tasks.empty(); });
    return stop_.stop_requested() || summary_.failed > options_.max_failures || (tasks_.empty() && !is_working);
}

const std::string& BatchRun::device_of(const Worker& worker) const {
    const auto index = static_cast<std::size_t>(&worker - workers_.data());
    return options_.devices[index % options_.devices.size()];
}

double BatchRun::seconds_since(Clock::time_point begin) const { return duration<double>(Clock::now() - begin).count(); }

std::vector<fs::path> BatchRun::folders_of(const Worker& worker) const {
    std::vector<fs::path> folders;
    for (const Running& running : worker.tasks) {
        for (const fs::path& output : running.task.item->outputs) {
            if (!output.empty()) folders.push_back(output.parent_path());
        }
    }
    return folders;
}

void BatchRun::give_tasks() {
    for (Worker& worker : workers_) {
        if (tasks_.empty()) return;
        if (worker.process == nullptr) worker = {.process = start(worker), .begin = Clock::now()};
    }
    // All workers get a first task before one of them gets a second one.
    for (std::size_t already = 0; already < images_; ++already) {
        for (Worker& worker : workers_) {
            if (tasks_.empty()) return;
            if (worker.is_ready && !worker.lost_device && worker.tasks.size() == already && !give(worker)) return;
        }
    }
}

// Starts a worker, in the process of another rank if it is one of those.
std::unique_ptr<WorkerProcess> BatchRun::start(const Worker& worker) const {
    Json work = options_.work;
    work["device"] = device_of(worker);
    std::unique_ptr<WorkerProcess> remote;
    if (rank_workers != nullptr)
        remote = rank_workers->start(static_cast<std::size_t>(&worker - workers_.data()), work);
    return remote != nullptr ? std::move(remote) : std::make_unique<WorkerProcess>(options_.program, std::move(work));
}

// Returns false if all tasks must wait.
bool BatchRun::give(Worker& worker) {
    if (std::ranges::any_of(worker.tasks, [](const Running& running) { return running.task.alone; })) return true;
    const auto now = Clock::now();
    const auto can_begin = [&](const Task& each) {
        return each.not_before <= now && (!each.alone || worker.tasks.empty());
    };
    const auto task = std::ranges::find_if(tasks_, can_begin);
    if (task == tasks_.end()) return !worker.tasks.empty();
    Running running{.task = *task, .id = next_id_++, .begin = now};
    tasks_.erase(task);
    ++running.task.attempts;
    const BatchItem& item = *running.task.item;
    const auto contents = contents_of(item.input, options_.checksum);
    if (!contents) {
        fail(running, worker, fmt::format("{} cannot be read: {}", item.input.string(), std::strerror(errno)), false);
        return true;
    }
    running.contents = *contents;
    Json request{{"id", running.id}, {"input", json_of(item.input)}, {"outputs", Json::array()}};
    for (const fs::path& output : item.outputs) request["outputs"].push_back(json_of(output));
    worker.tasks.push_back(running);
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
        } else if (worker.is_ready &&
                   std::ranges::any_of(worker.tasks, [&](const auto& each) { return is_late(each); })) {
            replace_late(worker);
        } else if (!worker.is_ready && seconds_since(worker.begin) > kStartSeconds) {
            worker.process->terminate();
            (void)worker.process->end({});
            worker = {};
            fail_to_start(fmt::format("a worker was not ready after {} seconds", kStartSeconds));
        }
    }
}

bool BatchRun::is_late(const Running& running) const { return seconds_since(running.begin) > options_.seconds; }

void BatchRun::hear(Worker& worker) {
    const std::optional<Json> answer = worker.process->answer();
    if (!answer) return replace(worker);
    if (worker.is_ready && !answer->contains("no_device")) return finish(worker, *answer);
    if (answer->contains("ready")) {
        worker.is_ready = true;
        starts_failed_ = 0;
        return;
    }
    std::string cause = answer->value("no_device", answer->value("failed", "a worker did not start"));
    while (cause.ends_with('.')) cause.pop_back();  // the message of the error adds it
    throw Error({.code = ErrorCode::unsupported,
                 .object = "texton::Batch",
                 .problem = "no image can be computed: " + cause,
                 .remedy = ""});
}

void BatchRun::finish(Worker& worker, const Json& answer) {
    const auto found = std::ranges::find(worker.tasks, answer.value("id", next_id_), &Running::id);
    if (found == worker.tasks.end()) return replace(worker);  // nonsense
    const Running running = *found;
    const bool was_alone = worker.tasks.size() == 1 && !worker.lost_device;
    worker.tasks.erase(found);
    worker.lost_device = worker.lost_device || answer.value("lost", false);
    const bool is_done = answer.contains("done");
    if (is_done) {
        Entry entry{.input = running.task.item->input, .contents = running.contents, .when = now_in_nanoseconds()};
        for (const Json& file : answer["done"]) entry.outputs.push_back(path_in(file).value_or(""));
        ++summary_.done;
        if (group_.empty()) group_begin_ = Clock::now();
        group_.push_back(entry);
        if (on_event_)
            on_event_({.item = *running.task.item,
                       .files = entry.outputs,
                       .attempts = running.task.attempts,
                       .seconds = seconds_since(running.begin),
                       .device = device_of(worker)});
    } else if (worker.lost_device && !was_alone) {
        repeat(running, true);
    } else {
        fail(running, worker, answer.value("failed", "the worker answered nonsense"), answer.value("retry", false));
    }
    if (worker.lost_device && worker.tasks.empty()) {
        (void)worker.process->end(folders_of(worker));
        worker = {};
    }
}

// Called after a worker ended.
void BatchRun::replace(Worker& worker) {
    const int signal = worker.process->end(folders_of(worker));
    const Worker ended = std::exchange(worker, {});
    if (ended.tasks.empty()) {
        if (ended.is_ready) return;
        return fail_to_start(signal != 0 ? fmt::format("a worker was ended by the signal {} ({}) before it was ready",
                                                       signal, ::strsignal(signal))
                                         : "a worker ended before it was ready");
    }
    if (ended.tasks.size() > 1) {
        for (const Running& running : ended.tasks) repeat(running, true);
        return;
    }
    fail(ended.tasks.front(), worker,
         signal != 0
             ? fmt::format("the process that computed it was ended by the signal {} ({})", signal, ::strsignal(signal))
             : "the process that computed it ended",
         !is_own_fault(signal));
}

// Other images can make an image late, so it is computed once more, alone.
void BatchRun::replace_late(Worker& worker) {
    worker.process->terminate();
    (void)worker.process->end(folders_of(worker));
    const Worker ended = std::exchange(worker, {});
    for (const Running& running : ended.tasks) {
        if (!is_late(running) || ended.tasks.size() > 1) {
            repeat(running, is_late(running));
        } else {
            fail(running, worker, fmt::format("it took more than {} seconds", options_.seconds), false);
        }
    }
}

void BatchRun::fail_to_start(std::string problem) {
    if (++starts_failed_ < kMaxFailedStarts) return;
    throw Error({.code = ErrorCode::unsupported,
                 .object = "texton::Batch",
                 .problem = std::move(problem),
                 .remedy = "Run the pipeline on one image with `texton run` to see why."});
}

// Repeats a task that is not to blame for a failure, or perhaps not.
void BatchRun::repeat(const Running& running, bool alone) {
    Task task = running.task;
    --task.attempts;
    task.alone = task.alone || alone;
    tasks_.push_back(task);
}

void BatchRun::fail(const Running& running, const Worker& worker, std::string cause, bool can_retry) {
    const Task& task = running.task;
    if (can_retry && task.attempts < options_.attempts && !stop_.stop_requested()) {
        tasks_.push_back({task.item, task.attempts, Clock::now() + kPause, task.alone});
        return;
    }
    ++summary_.failed;
    if (group_.empty()) group_begin_ = Clock::now();
    group_.push_back(
        {.input = task.item->input, .contents = running.contents, .cause = cause, .when = now_in_nanoseconds()});
    if (on_event_)
        on_event_({.item = *task.item,
                   .failure = std::move(cause),
                   .attempts = task.attempts,
                   .seconds = seconds_since(running.begin),
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
