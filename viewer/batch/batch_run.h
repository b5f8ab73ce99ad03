#pragma once
// One run of a batch: its workers, and the groups of outputs that are stored together.
#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <texton/batch.h>

#include "viewer/batch/journal.h"
#include "viewer/batch/worker_process.h"

namespace texton::batch {

/// How a batch is run.
struct RunOptions {
    std::filesystem::path program{};     ///< of the workers
    verify::Json work{};                 ///< what the workers need for all images
    std::vector<std::string> devices{};  ///< names of the devices, over which the workers are distributed
    std::size_t workers = 0;             ///< see BatchOptions
    double seconds = 0;
    int attempts = 1;
    std::size_t max_failures = 0;
    double max_failure_share = 1;
    bool checksum = false;
};

/// Returns the names of the devices that BatchOptions::device names. Throws Error{unsupported} if all devices of a kind
/// were named, and there is none. Does not look for a device that is named alone.
[[nodiscard]] std::vector<std::string> devices_named(const std::string& name);
/// Returns the number of threads for the parallel loops of a worker if the device has threads of its own: then one
/// worker keeps it busy. Returns 0 if the device computes on the threads of each worker. Does not initialize CUDA.
[[nodiscard]] std::size_t threads_of(const std::string& device, std::size_t processors, std::size_t devices);

/// Computes the items that are not done.
class BatchRun {
public:
    BatchRun(RunOptions options, const std::vector<BatchItem>& items, Journal& journal,
             const std::function<void(const BatchEvent&)>& on_event, const std::stop_token& stop);

    BatchSummary run();

private:
    using Clock = std::chrono::steady_clock;

    // An item that was not computed yet.
    struct Task {
        const BatchItem* item;
        int attempts = 0;
        Clock::time_point not_before{};
        bool alone = false;  // a worker that computes it has no other task, so that it is to blame for a failure
    };
    // A task on which a worker works.
    struct Running {
        Task task;
        std::size_t id = 0;
        Contents contents{};  // of the input, before it was read
        Clock::time_point begin{};
    };
    struct Worker {
        std::unique_ptr<WorkerProcess> process;
        bool is_ready = false;
        bool lost_device = false;  // it gets no tasks any more
        std::vector<Running> tasks{};
        Clock::time_point begin{};
    };

    bool is_over() const;
    void give_tasks();
    std::unique_ptr<WorkerProcess> start(const Worker& worker) const;
    bool give(Worker& worker);
    void wait();
    bool is_late(const Running& running) const;
    void hear(Worker& worker);
    void finish(Worker& worker, const verify::Json& answer);
    void replace(Worker& worker);
    void replace_late(Worker& worker);
    void fail_to_start(std::string problem);
    void fail(const Running& running, const Worker& worker, std::string cause, bool can_retry);
    void repeat(const Running& running, bool alone);
    void store(bool all);
    std::vector<std::filesystem::path> folders_of(const Worker& worker) const;
    const std::string& device_of(const Worker& worker) const;
    double seconds_since(Clock::time_point begin) const;

    RunOptions options_;
    Journal& journal_;
    const std::function<void(const BatchEvent&)>& on_event_;
    const std::stop_token& stop_;
    std::deque<Task> tasks_;
    std::vector<Worker> workers_;
    std::size_t images_ = 1;  // that a worker computes at the same time
    std::size_t next_id_ = 0;
    std::vector<Entry> group_;  // done or failed, but not in the journal
    Clock::time_point group_begin_{};
    std::future<void> storing_;
    BatchSummary summary_;
    int starts_failed_ = 0;  // workers in a row that ended before they were ready
};

}  // namespace texton::batch
