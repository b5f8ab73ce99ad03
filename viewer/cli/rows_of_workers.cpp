#include "viewer/cli/rows_of_workers.h"

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/files/source.h"
#include "viewer/batch/batch_run.h"
#include "viewer/batch/packets.h"
#include "viewer/batch/path_json.h"
#include "viewer/batch/ranks.h"
#include "viewer/cli/strip_worker.h"
#include "viewer/text/error_text.h"

namespace texton::cli {
namespace {

using tiles::Rows;
using verify::Json;

constexpr std::size_t kTasks = 2;         // of a worker at most, so that it reads the rows of the next one ahead
constexpr std::size_t kStripsOfTask = 8;  // at most
constexpr double kSignsOfLife = 5;        // of a worker in the time after which it is ended
constexpr std::chrono::duration<double> kStartTime{60};    // of a worker, at least
constexpr std::chrono::duration<double> kMaxSilence{0.5};  // that one wait adds: this process may have been stopped too
constexpr std::size_t kTasksOfWorker = 4;  // of equal size, into which the rows that are left are divided

Error error_of(ErrorCode code, std::string problem, std::string remedy) {
    return Error({.code = code, .object = "texton run", .problem = std::move(problem), .remedy = std::move(remedy)});
}

}  // namespace

RowsOfWorkers::RowsOfWorkers(WorkersOfImage image, std::shared_ptr<tiles::FinishedRows> finished)
    : image_(std::move(image)),
      finished_(std::move(finished)),
      on_several_hosts_(batch::rank_workers != nullptr),
      left_({0, finished_->texels().layout().rows}) {
    for (const Rows rows : finished_->rows().ranges()) left_.remove(rows);
    if (left_.count() == 0) return;
    workers_.resize(on_several_hosts_ ? batch::rank_workers->count() : image_.devices.size());
    for (std::size_t i = 0; i < workers_.size(); ++i) start(i);
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

RowsOfWorkers::~RowsOfWorkers() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    for (Worker& worker : workers_) {
        if (worker.process != nullptr && !worker.tasks.empty()) worker.process->terminate();
    }
    for (Worker& worker : workers_) {
        if (worker.process != nullptr) (void)worker.process->end({});
    }
}

void RowsOfWorkers::start(std::size_t index) {
    const std::size_t on_rank = on_several_hosts_ ? batch::rank_workers->index_on_rank(index) : index;
    const std::size_t devices = image_.devices.size();
    Worker& worker = workers_[index];
    worker.report.device = image_.devices[on_rank % devices];
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t own_threads = batch::threads_of(worker.report.device, processors, devices);
    Json work{{"command", Json::array()},
              {"device", worker.report.device},
              {"memory", image_.memory},
              {"threads", own_threads != 0 ? own_threads : std::max<std::size_t>(1, processors / devices)},
              {"file", batch::json_of(std::filesystem::absolute(finished_->texels().path()))},
              {"synchronizes", on_several_hosts_},
              {"alive_milliseconds", static_cast<std::int64_t>(image_.seconds * 1000 / kSignsOfLife)}};
    for (const std::string& word : image_.command) work["command"].push_back(batch::json_of(word));
    if (work.dump().size() > batch::kMaxPacket / 2)
        throw error_of(ErrorCode::bad_argument, "the command line is too long for workers",
                       "Write the kernels to a file with --save-pipeline, and run that.");
    if (on_several_hosts_) worker.process = batch::rank_workers->start(index, work);
    if (worker.process == nullptr)
        worker.process = std::make_unique<batch::WorkerProcess>(batch::worker_program(), std::move(work));
}

// --- the thread ------------------------------------------------------------------------------------------------------

void RowsOfWorkers::serve(const std::stop_token& stop) {
    std::exception_ptr error;
    listened_at_ = std::chrono::steady_clock::now();
    try {
        const auto is_working = [](const Worker& worker) { return !worker.tasks.empty(); };
        while (!stop.stop_requested() && (left_.count() > 0 || std::ranges::any_of(workers_, is_working))) {
            give_tasks();
            wait();
            end_silent_workers();
            finished_->store_if_due();
        }
    } catch (...) {
        error = std::current_exception();
    }
    try {
        finished_->store();
    } catch (...) {
        if (error == nullptr) error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    error_ = error;
    changed_.notify_all();
}

// All workers get a first task before one of them gets a second one.
void RowsOfWorkers::give_tasks() {
    for (std::size_t already = 0; already < kTasks; ++already) {
        for (Worker& worker : workers_) {
            if (left_.count() > 0 && worker.is_ready && worker.tasks.size() == already) give(worker);
        }
    }
}

// Gives a worker the first rows that are left. Tasks become smaller, so that all workers end at about the same time.
void RowsOfWorkers::give(Worker& worker) {
    const std::size_t share = left_.count() / (kTasksOfWorker * workers_.size()) + 1;
    const std::size_t rows =
        std::min(std::max(share, std::min(image_.strip_rows, share * 2)), kStripsOfTask * image_.strip_rows);
    const std::size_t unit = worker.report.device.starts_with("cuda") ? kCudaRowUnit : 1;
    Rows task = left_.ranges().front();
    task.end = std::min(task.end, (task.first + rows + unit - 1) / unit * unit);
    left_.remove(task);
    worker.tasks.push_back(task);
    (void)worker.process->request({{"rows", {task.first, task.end}}});  // if this fails, hear() sees that it ended
}

// Waits for a short time, or until a worker answers.
void RowsOfWorkers::wait() {
    std::vector<pollfd> sockets;
    std::vector<Worker*> waiting;
    for (Worker& worker : workers_) {
        if (worker.process == nullptr) continue;
        sockets.push_back({worker.process->socket(), POLLIN, 0});
        waiting.push_back(&worker);
    }
    if (::poll(sockets.data(), sockets.size(), 50) <= 0) return;
    for (std::size_t i = 0; i < sockets.size(); ++i) {
        if (sockets[i].revents != 0) hear(*waiting[i]);
    }
}

// A worker whose process was stopped, or whose host is gone, sends nothing.
void RowsOfWorkers::end_silent_workers() {
    const auto now = std::chrono::steady_clock::now();
    const auto passed = std::min<std::chrono::duration<double>>(now - std::exchange(listened_at_, now), kMaxSilence);
    for (Worker& worker : workers_) {
        if (worker.process == nullptr) continue;
        worker.silence += passed;
        const std::chrono::duration<double> limit(image_.seconds);
        if (worker.silence < (worker.is_alive ? limit : std::max(limit, kStartTime))) continue;
        lose(worker, error_of(ErrorCode::device_failure,
                              fmt::format("the process that computes its rows gave no sign of life for {:.3g} seconds",
                                          worker.silence.count()),
                              ""));
    }
}

void RowsOfWorkers::hear(Worker& worker) {
    const std::optional<Json> answer = worker.process->answer();
    worker.silence = {};
    worker.is_alive = true;
    if (!answer) {
        const int signal = worker.process->end({});
        return lose(
            worker,
            error_of(ErrorCode::device_failure,
                     signal == 0 ? "the process that computes its rows ended"
                                 : fmt::format("the process that computes its rows was ended by the signal {} ({})",
                                               signal, ::strsignal(signal)),
                     ""));
    }
    if (answer->contains("failed")) {
        const Error error = error_in(*answer);
        if (!is_of_device(error)) throw error;
        return lose(worker, error);
    }
    if (answer->contains("alive")) return;
    if (!answer->contains("ready")) return finish(worker, *answer);
    // Numbers and bytes that JSON lacks are not those of the description any more.
    if (answer->at("ready").dump() != Json::parse(packet_text(image_.description)).dump())
        throw error_of(ErrorCode::io, "an input was changed while the workers were started", "Run the command again.");
    worker.is_ready = true;
}

void RowsOfWorkers::finish(Worker& worker, const Json& answer) {
    const Rows rows{answer.at("rows").at(0), answer.at("rows").at(1)};
    Rows& task = worker.tasks.front();
    task.first = rows.end;
    if (task.count() == 0) worker.tasks.pop_front();
    const std::lock_guard lock(mutex_);
    finished_->add(rows);
    worker.report.rows += rows.count();
    worker.report.milliseconds += answer.at("milliseconds").get<double>();
    changed_.notify_all();
}

// Gives the tasks of a worker back.
void RowsOfWorkers::lose(Worker& worker, const Error& cause) {
    for (const Rows task : worker.tasks) left_.add(task);
    worker.tasks.clear();
    worker.is_ready = false;
    worker.process.reset();
    {
        const std::lock_guard lock(mutex_);
        worker.report.failure = viewer::error_text(cause);
    }
    if (std::ranges::none_of(workers_, [](const Worker& other) { return other.process != nullptr; })) fail(cause);
    if (image_.on_loss)
        image_.on_loss(
            fmt::format("{}: {} The other workers compute its rows.", worker.report.device, worker.report.failure));
}

void RowsOfWorkers::fail(const Error& cause) const {
    const tiles::RowSet& rows = finished_->rows();
    std::string done = fmt::format("{} of {} rows are finished", rows.count(), finished_->texels().layout().rows);
    if (rows.count() > 0) done += ": " + rows.text();
    const bool is_kept = finished_->is_kept();
    throw Error({.code = cause.code(),
                 .object = cause.object(),
                 .problem = fmt::format("no worker is left: {}. {}", cause.problem(), done),
                 .remedy = fmt::format("{}{}{}", cause.remedy(), cause.remedy().empty() ? "" : " ",
                                       is_kept ? "The same command continues after the finished rows."
                                               : "With --resume, finished rows are kept."),
                 .call = cause.call(),
                 .cuda_name = cause.cuda_name()});
}

// --- the image -------------------------------------------------------------------------------------------------------

void RowsOfWorkers::read(Format format, const Region& box, std::byte* packed) {
    const Rows rows{box.offset.y, box.offset.y + box.extent.height};
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return error_ != nullptr || finished_->rows().contains(rows); });
        if (!finished_->rows().contains(rows)) std::rethrow_exception(error_);
    }
    // A file that is opened after another host has closed or stored it has the texels from there.
    std::optional<tiles::RowFile> opened;
    const tiles::RowFile& shared = finished_->texels();
    if (on_several_hosts_) opened.emplace(shared.path(), shared.layout(), false).add_rows_of(shared);
    const tiles::RowFile& texels = opened ? *opened : shared;
    const std::size_t bytes = row_bytes(format, box.extent.width);
    for (std::size_t z = 0; z < box.extent.depth; ++z)
        texels.read(box.offset.z + z, rows, row_bytes(format, box.offset.x), bytes, packed + z * rows.count() * bytes);
    finished_->has_read_from(rows.first);
}

std::vector<WorkerReport> RowsOfWorkers::reports() {
    const std::lock_guard lock(mutex_);
    std::vector<WorkerReport> reports;
    for (const Worker& worker : workers_) reports.push_back(worker.report);
    return reports;
}

namespace {

class ImageOfWorkers final : public detail::ImageSource {
public:
    ImageOfWorkers(const detail::ImageSource& image, std::shared_ptr<RowsOfWorkers> rows)
        : ImageSource(image.format(), image.srgb(), image.levels()), rows_(std::move(rows)) {}

    void read(int, const Region& box, std::byte* packed) const override { rows_->read(format(), box, packed); }
    std::vector<Region> boxes(int index, std::size_t max_bytes) const override {
        const Extent extent = level(index);
        return detail::cut(format(), detail::whole(extent), {extent.width, 1, 1}, max_bytes);
    }

private:
    std::shared_ptr<RowsOfWorkers> rows_;
};

}  // namespace

ImageFile with_rows_of_workers(const ImageFile& image, std::shared_ptr<RowsOfWorkers> rows) {
    auto state = std::make_shared<detail::ImageState>(*image.state());
    state->file = std::make_shared<ImageOfWorkers>(*state->file, std::move(rows));
    return ImageFile(std::move(state));
}

}  // namespace texton::cli
