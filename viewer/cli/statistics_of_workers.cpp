#include "viewer/cli/statistics_of_workers.h"

#include <poll.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "viewer/batch/batch_run.h"
#include "viewer/batch/path_json.h"
#include "viewer/batch/ranks.h"
#include "viewer/cli/statistics_worker.h"
#include "viewer/cli/strip_worker.h"
#include "viewer/text/error_text.h"

namespace texton::cli {
namespace {

using verify::Json;

constexpr std::size_t kTasksOfWorker = 4;                  // in a pass, if all workers are equally fast
constexpr std::chrono::milliseconds kSignOfLife{5000};     // time between two of them
constexpr std::chrono::duration<double> kSilence{60};      // after which a worker is ended
constexpr std::chrono::duration<double> kMaxSilence{0.5};  // that one wait adds: this process may have been stopped too

Error lost(std::string problem) {
    return Error(
        {.code = ErrorCode::device_failure, .object = "texton stats", .problem = std::move(problem), .remedy = ""});
}

}  // namespace

StatisticsOfWorkers::StatisticsOfWorkers(std::vector<std::string> devices, std::vector<std::string> command,
                                         std::size_t memory, std::function<void(const std::string&)> on_loss)
    : devices_(std::move(devices)), command_(std::move(command)), memory_(memory), on_loss_(std::move(on_loss)) {
    workers_.resize(batch::rank_workers != nullptr ? batch::rank_workers->count() : devices_.size());
    for (std::size_t i = 0; i < workers_.size(); ++i) start(i);
}

StatisticsOfWorkers::~StatisticsOfWorkers() {
    for (Worker& worker : workers_) {
        if (worker.process != nullptr && worker.task != 0) worker.process->terminate();
    }
    for (Worker& worker : workers_) {
        if (worker.process != nullptr) (void)worker.process->end({});
    }
}

void StatisticsOfWorkers::start(std::size_t index) {
    const std::size_t on_rank = batch::rank_workers != nullptr ? batch::rank_workers->index_on_rank(index) : index;
    Worker& worker = workers_[index];
    worker.device = devices_[on_rank % devices_.size()];
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t own_threads = batch::threads_of(worker.device, processors, devices_.size());
    Json work{{"command", Json::array()},
              {"statistics", true},
              {"device", worker.device},
              {"threads", own_threads != 0 ? own_threads : std::max<std::size_t>(1, processors / devices_.size())},
              {"alive_milliseconds", kSignOfLife.count()}};
    for (const std::string& word : command_) work["command"].push_back(batch::json_of(word));
    if (batch::rank_workers != nullptr) worker.process = batch::rank_workers->start(index, work);
    if (worker.process == nullptr)
        worker.process = std::make_unique<batch::WorkerProcess>(batch::worker_program(), std::move(work));
}

verify::StatisticsParts StatisticsOfWorkers::parts_of(const ImageFile& image, std::size_t max_rows) const {
    try {
        return {image, memory_, max_rows};
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory || devices_.size() == 1) throw;
        throw Error({.code = error.code(),
                     .object = error.object(),
                     .problem = error.problem(),
                     .remedy = fmt::format("{} --memory is divided among {} workers.", error.remedy(), devices_.size()),
                     .numbers = error.numbers()});
    }
}

verify::ImageStatistics StatisticsOfWorkers::statistics_of(const std::string& path, std::size_t plane,
                                                           const ImageFile& image,
                                                           const std::optional<StatisticsOptions>& range,
                                                           std::span<const double> shares) {
    const ArrayInfo& array = image.info();
    const std::size_t rows = array.extent.height * slice_count(array, 0);
    const verify::StatisticsParts parts = parts_of(image, rows / (kTasksOfWorker * workers_.size()));
    const Json all{{"file", batch::json_of(std::filesystem::absolute(path))},
                   {"plane", plane},
                   {"identity", identity_json(path)},
                   {"memory", memory_},
                   {"rows", parts.rows()}};
    const verify::StatisticsPasses passes{
        .collect =
            [&](const StatisticsOptions& options) {
                Json request = all;
                request["range"] = {std::bit_cast<std::uint32_t>(options.low),
                                    std::bit_cast<std::uint32_t>(options.high)};
                TotalStatistics total;
                pass(request, parts.count(),
                     [&](const Json& answer) { total.add(statistics_in(answer.at("statistics").get<std::string>())); });
                return total;
            },
        .count =
            [&](const detail::KeyHalf& half, detail::KeyTotals& totals) {
                Json request = all;
                request["lower"] = half.lower;
                request["upper"] = half.upper;
                pass(request, parts.count(), [&](const Json& answer) {
                    std::uint64_t* of = totals.of[answer.at("channel").get<std::size_t>()];
                    std::size_t i = answer.at("first");
                    for (const Json& value : answer.at("counts")) of[i++] += value.get<std::uint64_t>();
                });
            }};
    return verify::statistics_of(passes, array.format, range, shares);
}

// Lets the workers count all parts, and passes the answers to `merge`. Answers to tasks of a pass that failed are
// ignored.
void StatisticsOfWorkers::pass(const Json& request, std::size_t parts, const std::function<void(const Json&)>& merge) {
    first_task_of_pass_ = last_task_ + 1;
    left_ = {{0, parts}};
    missing_ = parts;
    counted_.clear();
    while (missing_ > 0) {
        for (Worker& worker : workers_) {
            if (worker.is_ready && worker.task == 0 && !left_.empty()) give(worker, request, parts);
        }
        wait();
        for (const Json& answer : counted_) merge(answer);
        counted_.clear();
    }
}

void StatisticsOfWorkers::give(Worker& worker, const Json& request, std::size_t parts) {
    const std::size_t count = std::max<std::size_t>(1, parts / (kTasksOfWorker * workers_.size()));
    Parts& left = left_.back();
    worker.parts = {left.first, std::min(left.end, left.first + count)};
    left.first = worker.parts.end;
    if (left.first == left.end) left_.pop_back();
    worker.task = ++last_task_;
    Json task = request;
    task["task"] = worker.task;
    task["parts"] = {worker.parts.first, worker.parts.end};
    (void)worker.process->request(task);  // if this fails, hear() sees that the worker ended
}

// Waits for a short time, or until a worker answers.
void StatisticsOfWorkers::wait() {
    std::vector<pollfd> sockets;
    std::vector<Worker*> waiting;
    for (Worker& worker : workers_) {
        if (worker.process == nullptr) continue;
        sockets.push_back({worker.process->socket(), POLLIN, 0});
        waiting.push_back(&worker);
    }
    if (::poll(sockets.data(), sockets.size(), 50) > 0) {
        for (std::size_t i = 0; i < sockets.size(); ++i) {
            if (sockets[i].revents != 0) hear(*waiting[i]);
        }
    }
    const auto now = Clock::now();
    const auto passed = std::min<std::chrono::duration<double>>(now - std::exchange(listened_at_, now), kMaxSilence);
    for (Worker& worker : workers_) {
        if (worker.process == nullptr) continue;
        worker.silence += passed;
        if (worker.silence >= kSilence) lose(worker, lost("the process that counts its texels gave no sign of life"));
    }
}

void StatisticsOfWorkers::hear(Worker& worker) {
    std::optional<Json> answer = worker.process->answer();
    worker.silence = {};
    if (!answer) {
        const int signal = worker.process->end({});
        return lose(worker, lost(signal == 0 ? "the process that counts its texels ended"
                                             : fmt::format("the process that counts its texels was ended by the signal "
                                                           "{} ({})",
                                                           signal, ::strsignal(signal))));
    }
    const bool is_of_pass = worker.task >= first_task_of_pass_;
    if (answer->contains("failed")) {
        const Error error = error_in(*answer);
        if (is_of_device(error)) return lose(worker, error);
        const bool concerns_pass = is_of_pass || !answer->contains("task");
        worker.task = 0;
        worker.answers.clear();
        if (concerns_pass) throw error;
    } else if (answer->contains("ready")) {
        worker.is_ready = true;
    } else if (answer->contains("done")) {
        if (is_of_pass) {
            missing_ -= worker.parts.end - worker.parts.first;
            std::ranges::move(worker.answers, std::back_inserter(counted_));
        }
        worker.task = 0;
        worker.answers.clear();
    } else if (answer->contains("task") && is_of_pass) {
        worker.answers.push_back(std::move(*answer));
    }
}

// Gives the parts of a worker back.
void StatisticsOfWorkers::lose(Worker& worker, const Error& cause) {
    if (worker.task >= first_task_of_pass_) left_.push_back(worker.parts);
    worker.task = 0;
    worker.answers.clear();
    worker.is_ready = false;
    worker.process.reset();
    if (std::ranges::none_of(workers_, [](const Worker& other) { return other.process != nullptr; }))
        throw Error(
            {.code = cause.code(),
             .object = cause.object(),
             .problem = fmt::format("no worker is left: {}", cause.problem()),
             .remedy = cause.remedy().empty() ? "Run the command again, or name a single device." : cause.remedy(),
             .numbers = cause.numbers(),
             .call = cause.call(),
             .cuda_name = cause.cuda_name()});
    on_loss_(fmt::format("{}: {} The other workers count its texels.", worker.device, viewer::error_text(cause)));
}

}  // namespace texton::cli
