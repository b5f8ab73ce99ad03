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
    std::size_t workers = 0;             ///< 0: one for each processor, and at least one for each device
    double seconds = 0;
    int attempts = 1;
    std::size_t max_failures = 0;
    double max_failure_share = 1;
    bool checksum = false;
};

/// Returns the names of the devices that BatchOptions::device names. Throws Error{unsupported} if all devices of a kind
/// were named, and there is none. Does not look for a device that is named alone.
[[nodiscard]] std::vector<std::string> devices_named(const std::string& name);

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
    };
    // A worker with the task on which it works.
    struct Worker {
        std::unique_ptr<WorkerProcess> process;
        bool is_ready = false;
        bool was_late = false;
        std::optional<Task> task{};
        Contents contents{};  // of the input, before it was read
        Clock::time_point begin{};
    };

    bool is_over() const;
    void give_tasks();
    std::unique_ptr<WorkerProcess> start(const Worker& worker) const;
    bool give(Worker& worker);
    void wait();
    void hear(Worker& worker);
    void finish(Worker& worker, const verify::Json& answer);
    void replace(Worker& worker);
    void fail(const Task& task, const Worker& worker, std::string cause, double seconds, bool can_retry);
    void store(bool all);
    std::vector<std::filesystem::path> folders_of(const Task& task) const;
    const std::string& device_of(const Worker& worker) const;
    double seconds_since(Clock::time_point begin) const;

    RunOptions options_;
    Journal& journal_;
    const std::function<void(const BatchEvent&)>& on_event_;
    const std::stop_token& stop_;
    std::deque<Task> tasks_;
    std::vector<Worker> workers_;
    std::vector<Entry> group_;  // done or failed, but not in the journal
    Clock::time_point group_begin_{};
    std::future<void> storing_;
    BatchSummary summary_;
    int starts_failed_ = 0;  // workers in a row that ended before they were ready
};

}  // namespace texton::batch
