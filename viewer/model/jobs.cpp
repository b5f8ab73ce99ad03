#include "viewer/model/jobs.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include <texton/error.h>

#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr int kNice =
    5;  // niceness of the workers; the thread of the window has priority if there are fewer cores than threads

}  // namespace

Jobs::Jobs(int threads, std::function<void(std::function<void()>)> post,
           std::function<void(const std::string& tag, const std::string& why)> failed)
    : post_(std::move(post)), failed_(std::move(failed)) {
    for (int i = 0; i < std::max(threads, 1); ++i) {
        try {
            threads_.emplace_back([this] { work(); });
        } catch (const std::system_error& error) {
            if (i > 0) return;  // the system has no more threads, and fewer are enough
            throw Error({.code = ErrorCode::out_of_memory,
                         .object = "texton-view",
                         .problem = std::string("no worker thread could be started: ") + error.what(),
                         .remedy = "Raise the limit of threads, or end other programs."});
        }
    }
}

Jobs::~Jobs() {
    for (auto& [tag, token] : newest_) token.cancel();
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
        waiting_.clear();
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Jobs::start(const std::string& tag, Work work) {
    drop(tag);
    const CancellationToken token;
    newest_.insert_or_assign(tag, token);
    ++unfinished_;
    {
        const std::scoped_lock lock(mutex_);
        waiting_.push_back({tag, std::move(work), token});
    }
    changed_.notify_one();
}

void Jobs::drop(const std::string& tag) {
    const auto found = newest_.find(tag);
    if (found == newest_.end()) return;
    found->second.cancel();
    newest_.erase(found);
    const std::scoped_lock lock(mutex_);
    unfinished_ -= static_cast<int>(std::erase_if(waiting_, [&](const Job& job) { return job.tag == tag; }));
}

bool Jobs::idle() const { return unfinished_ == 0; }

bool Jobs::busy(const std::string& tag) const { return newest_.contains(tag); }

void Jobs::work() {
    [[maybe_unused]] const int niceness = nice(kNice);  // on Linux it applies to this thread only
    for (;;) {
        Job job;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
            if (ends_) return;
            job = std::move(waiting_.front());
            waiting_.pop_front();
        }
        Finish finish;
        try {
            finish = job.work(job.token);
        } catch (const std::exception& error) {
            finish = [failed = failed_, tag = job.tag, why = error_text(error)] { failed(tag, why); };
        }
        job.work = {};  // destroys the captured objects on this thread, not on that of the window
        post_([this, alive = std::weak_ptr(alive_), job = std::move(job), finish = std::move(finish)] {
            if (alive.lock()) finished(job, finish);
        });
    }
}

void Jobs::finished(const Job& job, const Finish& finish) {
    --unfinished_;
    if (job.token.canceled()) return;
    newest_.erase(job.tag);
    if (finish) finish();
}

}  // namespace texton::viewer
