#pragma once
// Work beside the window: a new request drops the older ones of its tag.
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

namespace texton::viewer {

/// Says that nobody wants a job's result any more.
class Wanted {
public:
    Wanted() : wanted_(std::make_shared<std::atomic<bool>>(true)) {}
    explicit operator bool() const noexcept { return *wanted_; }
    void drop() noexcept { *wanted_ = false; }

private:
    std::shared_ptr<std::atomic<bool>> wanted_;
};

class Jobs {
public:
    /// What a job ends with, on the thread of the window; not called if the job was dropped.
    using Finish = std::function<void()>;
    /// Runs on a worker; may look at `wanted` and stop early. It catches what it throws for: an exception that escapes is given
    /// to `failed`.
    using Work = std::function<Finish(const Wanted& wanted)>;

    /// `post` runs a function on the thread of the window, later.
    Jobs(int threads, std::function<void(std::function<void()>)> post,
         std::function<void(const std::string& tag, const std::string& why)> failed);
    /// Drops all that waits, and waits for what runs.
    ~Jobs();
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    /// Drops the jobs of the same tag. Of the thread of the window, as drop() and idle().
    void start(const std::string& tag, Work work);
    void drop(const std::string& tag);
    /// Nothing waits, runs, or has still to be finished.
    bool idle() const;
    bool busy(const std::string& tag) const;

private:
    struct Job {
        std::string tag;
        Work work;
        Wanted wanted;
    };

    void work();
    void finished(const Job& job, const Finish& finish);

    std::function<void(std::function<void()>)> post_;
    std::function<void(const std::string&, const std::string&)> failed_;
    std::map<std::string, Wanted> newest_;
    int unfinished_ = 0;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> waiting_;
    bool ends_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    std::vector<std::thread> threads_;
};

}  // namespace texton::viewer
