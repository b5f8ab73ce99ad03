#pragma once
// Background jobs of the window. A new job cancels older jobs with the same tag.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "viewer/model/cancellation.h"

namespace texton::viewer {

/// Runs jobs on worker threads and finishes them on the thread of the window. All member functions must be called on
/// the thread of the window.
class Jobs {
public:
    /// Last step of a job. It runs on the thread of the window, unless the job was canceled.
    using Finish = std::function<void()>;
    /// Main part of a job. It runs on a worker thread and can check `token` to stop early. If it throws, the message
    /// is passed to `failed`.
    using Work = std::function<Finish(const CancellationToken& token)>;

    /// Starts the worker threads. `post` must run a function later on the thread of the window. It is called from any
    /// thread. `failed` is called on the thread of the window with the tag and the message of an exception.
    Jobs(int threads, std::function<void(std::function<void()>)> post,
         std::function<void(const std::string& tag, const std::string& why)> failed);
    /// Cancels all jobs and waits until running jobs have returned.
    ~Jobs();
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    /// Cancels the jobs with the same tag and enqueues a job.
    void start(const std::string& tag, Work work);
    /// Cancels the jobs with the tag.
    void drop(const std::string& tag);
    /// Returns true if no job waits, runs or must still be finished, including canceled jobs.
    bool idle() const;
    /// Returns true if a job with the tag is not finished and not canceled.
    bool busy(const std::string& tag) const;

private:
    struct Job {
        std::string tag;
        Work work;
        CancellationToken token;
    };

    void work();
    void finished(const Job& job, const Finish& finish);

    std::function<void(std::function<void()>)> post_;
    std::function<void(const std::string&, const std::string&)> failed_;
    std::map<std::string, CancellationToken> newest_;
    int unfinished_ = 0;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> waiting_;
    bool ends_ = false;
    // Expires after the threads have ended. Functions that were posted but not run then do nothing.
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    std::vector<std::thread> threads_;
};

}  // namespace texton::viewer
