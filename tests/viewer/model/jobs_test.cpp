// Background jobs: the result of the latest request is shown.
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <stdexcept>

#include "viewer/model/jobs.h"

namespace texton::viewer {
namespace {

// Replaces the window's thread: posted functions wait until the test runs them.
class JobsTest : public testing::Test {
protected:
    void run_posted() {
        for (;;) {
            std::function<void()> next;
            {
                const std::scoped_lock lock(mutex_);
                if (posted_.empty()) return;
                next = std::move(posted_.front());
                posted_.pop_front();
            }
            next();
        }
    }
    void settle(const Jobs& jobs) {
        while (!jobs.idle()) {
            run_posted();
            std::this_thread::yield();
        }
    }
    std::function<void(std::function<void()>)> post() {
        return [this](std::function<void()> function) {
            const std::scoped_lock lock(mutex_);
            posted_.push_back(std::move(function));
        };
    }
    std::function<void(const std::string&, const std::string&)> failed() {
        return [this](const std::string& tag, const std::string& why) { failures_.push_back(tag + ": " + why); };
    }

    std::vector<std::string> failures_;

private:
    std::mutex mutex_;
    std::deque<std::function<void()>> posted_;
};

TEST_F(JobsTest, CanceledWorkThrowsCanceledWithTheCodeOfCanceledLoads) {
    const CancellationToken token;
    throw_if_canceled(token);
    CancellationToken(token).cancel();
    try {
        throw_if_canceled(token);
        FAIL() << "Canceled was not thrown";
    } catch (const Canceled& canceled) {
        EXPECT_EQ(canceled.code(), ErrorCode::io);
    }
}

TEST_F(JobsTest, OnlyTheNewestJobOfATagFinishes) {
    Jobs jobs(2, post(), failed());
    std::vector<int> finished;
    for (int i = 0; i < 100; ++i) {
        jobs.start("slider", [&finished, i](const CancellationToken&) -> Jobs::Finish {
            return [&finished, i] { finished.push_back(i); };
        });
    }
    EXPECT_TRUE(jobs.busy("slider"));
    settle(jobs);
    EXPECT_EQ(finished, (std::vector<int>{99}));
    EXPECT_FALSE(jobs.busy("slider"));
}

TEST_F(JobsTest, JobsOfDifferentTagsAllFinish) {
    Jobs jobs(2, post(), failed());
    int finished = 0;
    for (const char* tag : {"a", "b", "c"})
        jobs.start(tag, [&finished](const CancellationToken&) -> Jobs::Finish { return [&finished] { ++finished; }; });
    settle(jobs);
    EXPECT_EQ(finished, 3);
}

TEST_F(JobsTest, RunningJobSeesItsCancellation) {
    Jobs jobs(1, post(), failed());
    std::promise<void> runs;
    bool finished = false;
    jobs.start("load", [&](const CancellationToken& token) -> Jobs::Finish {
        runs.set_value();
        while (!token.canceled()) std::this_thread::yield();
        return [&finished] { finished = true; };
    });
    runs.get_future().wait();
    jobs.drop("load");
    settle(jobs);
    EXPECT_FALSE(finished);
}

TEST_F(JobsTest, FailureIsReportedOnTheMainThread) {
    Jobs jobs(1, post(), failed());
    jobs.start("load", [](const CancellationToken&) -> Jobs::Finish { throw std::runtime_error("no such file"); });
    settle(jobs);
    EXPECT_EQ(failures_, (std::vector<std::string>{"load: no such file"}));
}

TEST_F(JobsTest, DestructorWaitsForRunningJobsAndDropsQueuedJobs) {
    std::promise<void> runs;
    bool ended = false, finished = false;
    {
        Jobs jobs(1, post(), failed());
        jobs.start("long", [&](const CancellationToken& token) -> Jobs::Finish {
            runs.set_value();
            while (!token.canceled()) std::this_thread::yield();
            ended = true;
            return [&finished] { finished = true; };
        });
        jobs.start("never", [&](const CancellationToken&) -> Jobs::Finish { return [&finished] { finished = true; }; });
        runs.get_future().wait();
    }
    EXPECT_TRUE(ended);
    run_posted();
    EXPECT_FALSE(finished) << "the window no longer exists";
}

}  // namespace
}  // namespace texton::viewer
