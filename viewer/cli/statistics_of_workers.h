#pragma once
// Statistics of images that several workers count (statistics_worker.h), each in a process of its own.
//
// Workers get ranges of parts of an image. If a worker ends, if it gives no sign of life for some time, or if its
// device fails or has too little memory, the others count its parts. Counts and sums are exact, so the result does not depend
// on who counts which part.
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <texton/error.h>
#include <texton/image_file.h>

#include "viewer/batch/worker_process.h"
#include "viewer/model/image_statistics.h"
#include "viewer/model/json_object.h"

namespace texton::cli {

class StatisticsOfWorkers {
public:
    /// Starts one worker for each device; on each rank, if there are several. `command` are the words after `texton
    /// stats`, and `memory` is for each worker, in bytes. `on_loss` is called with a sentence about each worker that is
    /// lost while others are left. Throws Error{unsupported} if workers cannot be started.
    StatisticsOfWorkers(std::vector<std::string> devices, std::vector<std::string> command, std::size_t memory,
                        std::function<void(const std::string&)> on_loss);
    /// Ends the workers.
    ~StatisticsOfWorkers();
    StatisticsOfWorkers(const StatisticsOfWorkers&) = delete;
    StatisticsOfWorkers& operator=(const StatisticsOfWorkers&) = delete;

    /// Returns the statistics of level 0 of an image, or of the plane of an image, in a file, with the bits of
    /// verify::statistics_of(). Throws the errors of that function, and the error of the last worker if none is left.
    [[nodiscard]] verify::ImageStatistics statistics_of(const std::string& path, std::size_t plane,
                                                        const ImageFile& image,
                                                        const std::optional<StatisticsOptions>& range,
                                                        std::span<const double> shares);

private:
    using Clock = std::chrono::steady_clock;

    struct Parts {
        std::size_t first = 0;
        std::size_t end = 0;
    };
    struct Worker {
        std::string device;
        std::unique_ptr<batch::WorkerProcess> process{};  // null after it ended
        bool is_ready = false;
        std::chrono::duration<double> silence{0};  // since the last packet
        std::size_t task = 0;                      // its number; 0: none
        Parts parts{};
        std::vector<verify::Json> answers{};  // of the task
    };

    void start(std::size_t index);
    verify::StatisticsParts parts_of(const ImageFile& image, std::size_t max_rows) const;
    void pass(const verify::Json& request, std::size_t parts, const std::function<void(const verify::Json&)>& merge);
    void give(Worker& worker, const verify::Json& request, std::size_t parts);
    void wait();
    void hear(Worker& worker);
    void lose(Worker& worker, const Error& cause);

    const std::vector<std::string> devices_;
    const std::vector<std::string> command_;
    const std::size_t memory_;
    const std::function<void(const std::string&)> on_loss_;
    std::deque<Worker> workers_;
    std::size_t last_task_ = 0;
    std::size_t first_task_of_pass_ = 1;
    std::vector<Parts> left_;            // parts of this pass that no worker has
    std::size_t missing_ = 0;            // parts of this pass that are not counted
    std::vector<verify::Json> counted_;  // answers of tasks that are done, which are not merged yet
    Clock::time_point listened_at_ = Clock::now();
};

}  // namespace texton::cli
