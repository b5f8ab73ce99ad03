#pragma once
// The rows of an image that several workers compute (strip_worker.h), each in a process of its own.
//
// Workers get ranges of rows, from the first row on, and write them to the file of the finished rows. If a worker ends,
// if it gives no sign of life for some time, or if its device fails or has too little memory, the others get its rows.
// Other errors, for example of a file that cannot be read, end the computation.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <texton/image_file.h>

#include "viewer/batch/worker_process.h"
#include "viewer/model/json_object.h"
#include "viewer/tiles/finished_rows.h"

namespace texton::cli {

/// What the workers of an image need.
struct WorkersOfImage {
    std::vector<std::string> devices{};  ///< one worker for each; on each rank, if there are several
    std::vector<std::string> command{};  ///< words of the command line after `texton run`
    std::size_t memory = 0;              ///< for each kernel of a worker, in bytes
    std::size_t strip_rows = 1;          ///< rows that a worker computes at once
    double seconds = 60;                 ///< a worker without a sign of life for this time is ended
    verify::Json description{};          ///< of the image
    /// Called by another thread with a sentence about each worker that is lost while others are left.
    std::function<void(const std::string&)> on_loss{};
};

/// What a worker has done.
struct WorkerReport {
    std::string device;
    std::size_t rows = 0;
    double milliseconds = 0;  ///< of computing
    std::string failure;      ///< why the worker ended early; empty if it did not
};

class RowsOfWorkers {
public:
    /// Starts the workers, which compute the rows that are not finished. Throws Error{unsupported} if they cannot be
    /// started.
    RowsOfWorkers(WorkersOfImage image, std::shared_ptr<tiles::FinishedRows> finished);
    /// Ends the workers. Finished rows that are kept are stored.
    ~RowsOfWorkers();
    RowsOfWorkers(const RowsOfWorkers&) = delete;
    RowsOfWorkers& operator=(const RowsOfWorkers&) = delete;

    /// Waits until rows are finished, and reads a box of them. Throws the error that ended the computation.
    void read(Format format, const Region& box, std::byte* packed);
    /// Returns what each worker has done.
    std::vector<WorkerReport> reports();

private:
    struct Worker {
        WorkerReport report{};
        std::unique_ptr<batch::WorkerProcess> process{};  // null after it ended
        bool is_alive = false;                            // it has sent a packet
        bool is_ready = false;
        std::chrono::duration<double> silence{
            0};  // since the last packet, without times in which this process stood still
        std::deque<tiles::Rows> tasks{};
    };

    void start(std::size_t index);
    void serve(const std::stop_token& stop);
    void give_tasks();
    void give(Worker& worker);
    void wait();
    void hear(Worker& worker);
    void end_silent_workers();
    void finish(Worker& worker, const verify::Json& answer);
    void lose(Worker& worker, const Error& cause);
    [[noreturn]] void fail(const Error& cause) const;

    const WorkersOfImage image_;
    const std::shared_ptr<tiles::FinishedRows> finished_;
    const bool on_several_hosts_;
    std::deque<Worker> workers_;
    tiles::RowSet left_;  // rows that no worker has
    std::mutex mutex_;    // of the finished rows, the error and the reports
    std::condition_variable changed_;
    std::exception_ptr error_;
    std::chrono::steady_clock::time_point listened_at_{};
    std::jthread thread_;  // serves the workers
};

/// Returns the same image, whose texels the workers compute.
[[nodiscard]] ImageFile with_rows_of_workers(const ImageFile& image, std::shared_ptr<RowsOfWorkers> rows);

}  // namespace texton::cli
