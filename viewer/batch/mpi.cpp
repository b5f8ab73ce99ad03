// Ranks that communicate through MPI.
//
// The first rank sees each worker of another rank as a WorkerProcess: a socket with requests and answers. A thread
// forwards the packets of these sockets as messages, whose tag is the number of the worker. The other rank starts a worker
// when it gets the first message with a tag, and forwards further messages to it. Messages that no local worker has:
//
//   first -> other   {"terminate": true}    asks the worker to end
//                    {"end": true}          ends the worker
//   other -> first   {"ended": signal}      the worker ended, by a signal or by 0
//   both             no text, tag kLast     the command is over; the other rank answers the same
//
// All waiting is polling, because MPI has no descriptor that poll() could wait for.
#include <mpi.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <texton/error.h>

#include "viewer/batch/journal.h"
#include "viewer/batch/packets.h"
#include "viewer/batch/path_json.h"
#include "viewer/batch/ranks.h"
#include "viewer/text/error_text.h"

namespace texton::batch {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using verify::Json;
using Clock = std::chrono::steady_clock;

constexpr int kLast = 0;                // tag of the last message; the numbers of workers are above it
constexpr int kWait = 1;                // milliseconds between two looks for messages
constexpr milliseconds kEndTime{4000};  // for the end of a worker on another rank

[[noreturn]] void fail(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::unsupported,
                 .object = "texton",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

std::size_t processors() { return std::max(1U, std::thread::hardware_concurrency()); }

// Messages that MPI may still read. Sending does not wait, so that two ranks cannot wait for each other.
class SentMessages {
public:
    void send(int rank, int tag, std::string text) {
        messages_.push_back({std::move(text), MPI_REQUEST_NULL});
        Message& message = messages_.back();
        MPI_Isend(message.text.data(), static_cast<int>(message.text.size()), MPI_BYTE, rank, tag, MPI_COMM_WORLD,
                  &message.request);
    }
    void remove_completed() {
        std::erase_if(messages_, [](Message& message) {
            int is_complete = 0;
            MPI_Test(&message.request, &is_complete, MPI_STATUS_IGNORE);
            return is_complete != 0;
        });
    }
    void wait() {
        for (Message& message : messages_) MPI_Wait(&message.request, MPI_STATUS_IGNORE);
        messages_.clear();
    }

private:
    struct Message {
        std::string text;
        MPI_Request request;
    };
    std::list<Message> messages_;
};

struct Message {
    int rank;
    int tag;
    std::string text;
};

// Returns a message that has arrived, or nothing.
std::optional<Message> next_message() {
    int has_arrived = 0;
    int bytes = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &has_arrived, &status);
    if (has_arrived == 0) return {};
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Message message{status.MPI_SOURCE, status.MPI_TAG, std::string(static_cast<std::size_t>(bytes), '\0')};
    MPI_Recv(message.text.data(), bytes, MPI_BYTE, message.rank, message.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return message;
}

// Waits for a short time, and returns the positions of the sockets that can be read.
std::vector<std::size_t> readable(std::vector<pollfd>& sockets) {
    std::vector<std::size_t> positions;
    if (::poll(sockets.data(), sockets.size(), kWait) <= 0) return positions;
    for (std::size_t i = 0; i < sockets.size(); ++i) {
        if (sockets[i].revents != 0) positions.push_back(i);
    }
    return positions;
}

// A worker of another rank.
class RemoteWorker : public WorkerProcess {
public:
    RemoteWorker(detail::OwnedDescriptor socket, const Json& work) : WorkerProcess(std::move(socket)) {
        (void)request(work);
    }
    ~RemoteWorker() override { (void)RemoteWorker::end({}); }

    std::optional<Json> answer() override {
        std::optional<Json> answer = WorkerProcess::answer();
        has_ended_ = has_ended_ || !answer || answer->contains("ended");
        if (answer && answer->contains("ended")) signal_ = answer->value("ended", 0);
        if (has_ended_) answer.reset();
        return answer;
    }
    void terminate() noexcept override { (void)request({{"terminate", true}}); }
    // The other rank knows the folders.
    int end(const std::vector<fs::path>& /*folders*/) override {
        if (!has_ended_) (void)request({{"end", true}});
        for (const auto late = Clock::now() + kEndTime; !has_ended_ && Clock::now() < late;) {
            pollfd packet{socket(), POLLIN, 0};
            if (::poll(&packet, 1, 100) > 0) (void)answer();
        }
        has_ended_ = true;
        return signal_;
    }

private:
    bool has_ended_ = false;
    int signal_ = 0;
};

class FirstRank final : public Ranks, public RankWorkers {
public:
    // `counts` are the numbers of workers of each rank.
    explicit FirstRank(const std::vector<std::uint64_t>& counts) : ranks_(static_cast<int>(counts.size())) {
        // A batch with few images uses workers of all ranks.
        for (std::uint64_t i = 0; i < *std::ranges::max_element(counts); ++i) {
            for (int rank = 0; rank < ranks_; ++rank) {
                if (i < counts[static_cast<std::size_t>(rank)]) rank_of_.push_back(rank);
            }
        }
        rank_workers = this;
        forwarder_ = std::jthread([this](const std::stop_token& stop) {
            while (!stop.stop_requested()) forward();
        });
    }
    ~FirstRank() override {
        rank_workers = nullptr;
        forwarder_.request_stop();
        forwarder_.join();
        for (int rank = 1; rank < ranks_; ++rank) sent_.send(rank, kLast, "");
        for (int rank = 1; rank < ranks_;) {
            const std::optional<Message> message = next_message();
            if (message && message->tag == kLast) ++rank;
            if (!message) std::this_thread::sleep_for(milliseconds(kWait));
        }
        sent_.wait();
        MPI_Finalize();
    }

    bool is_first() const noexcept override { return true; }
    void serve() override {}
    std::size_t count() const noexcept override { return rank_of_.size(); }
    std::size_t index_on_rank(std::size_t index) const override {
        const auto end = rank_of_.begin() + static_cast<std::ptrdiff_t>(index);
        return static_cast<std::size_t>(std::count(rank_of_.begin(), end, rank_of_.at(index)));
    }

    std::unique_ptr<WorkerProcess> start(std::size_t index, const Json& work) override {
        const int rank = rank_of_.at(index);
        if (rank == 0) return nullptr;
        std::array<int, 2> ends{-1, -1};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
            fail("a socket could not be created: " + std::generic_category().message(errno), "Close other files.");
        for (const int end : ends) {
            const int bytes = 2 * static_cast<int>(kMaxPacket);
            ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
        }
        detail::OwnedDescriptor own(ends[0]);
        {
            const std::lock_guard lock(mutex_);
            workers_.emplace(++last_worker_, Worker{rank, detail::OwnedDescriptor(ends[1])});
        }
        return std::make_unique<RemoteWorker>(std::move(own), work);
    }

private:
    struct Worker {
        int rank;
        detail::OwnedDescriptor socket;  // to its RemoteWorker
    };

    void forward() {
        std::vector<pollfd> sockets;
        std::vector<int> tags;
        {
            const std::lock_guard lock(mutex_);
            while (const std::optional<Message> message = next_message()) {
                const auto worker = workers_.find(message->tag);
                if (worker != workers_.end()) (void)send(worker->second.socket.number(), message->text);
            }
            for (const auto& [tag, worker] : workers_) {
                sockets.push_back({worker.socket.number(), POLLIN, 0});
                tags.push_back(tag);
            }
        }
        for (const std::size_t i : readable(sockets)) {
            const std::lock_guard lock(mutex_);
            std::string packet;
            if (receive(sockets[i].fd, packet)) {
                sent_.send(workers_.at(tags[i]).rank, tags[i], std::move(packet));
            } else {
                workers_.erase(tags[i]);
            }
        }
        sent_.remove_completed();
    }

    int ranks_;
    std::vector<int> rank_of_;  // of each worker
    std::mutex mutex_;
    std::map<int, Worker> workers_;
    int last_worker_ = kLast;
    SentMessages sent_;
    std::jthread forwarder_;
};

class OtherRank final : public Ranks {
public:
    explicit OtherRank(std::size_t workers) : threads_(std::max<std::size_t>(1, processors() / workers)) {}
    ~OtherRank() override {
        if (!is_over_) MPI_Abort(MPI_COMM_WORLD, 2);  // the first rank would wait for this one
        MPI_Finalize();
    }

    bool is_first() const noexcept override { return false; }
    void serve() override {
        for (bool is_over = false; !is_over;) {
            while (const std::optional<Message> message = next_message()) {
                is_over = message->tag == kLast;
                if (is_over) break;
                handle(message->tag, message->text);
            }
            hear();
            store();
            sent_.remove_completed();
        }
        workers_.clear();
        sent_.send(0, kLast, "");
        sent_.wait();
        is_over_ = true;
    }

private:
    struct Worker {
        std::unique_ptr<WorkerProcess> process;
        std::set<fs::path> folders{};  // of the outputs
    };
    struct Answer {
        int tag;
        Json answer;
    };

    void reply(int tag, const Json& answer) {
        sent_.send(0, tag, answer.dump(-1, ' ', false, Json::error_handler_t::replace));
    }

    void handle(int tag, const std::string& text) {
        Json request = Json::parse(text);
        const auto found = workers_.find(tag);
        if (found == workers_.end()) {
            if (request.contains("pipeline") || request.contains("command")) start(tag, std::move(request));
            return;  // otherwise the worker has ended, and the first rank does not know it yet
        }
        Worker& worker = found->second;
        if (request.contains("terminate")) return worker.process->terminate();
        if (request.contains("end")) return end(tag);
        for (const Json& output : request.value("outputs", Json::array())) {
            const fs::path path = path_in(output).value_or("");
            if (!path.empty()) worker.folders.insert(path.parent_path());
        }
        (void)worker.process->request(request);  // if this fails, hear() sees that the worker has ended
    }

    void start(int tag, Json work) {
        work["threads"] = threads_;
        try {
            workers_.emplace(tag, Worker{std::make_unique<WorkerProcess>(worker_program(), std::move(work))});
        } catch (const std::exception& error) {
            reply(tag, {{"failed", viewer::error_text(error)}});
        }
    }

    void end(int tag) {
        Worker& worker = workers_.at(tag);
        reply(tag, {{"ended", worker.process->end({worker.folders.begin(), worker.folders.end()})}});
        workers_.erase(tag);
    }

    void hear() {
        std::vector<pollfd> sockets;
        std::vector<int> tags;
        for (const auto& [tag, worker] : workers_) {
            sockets.push_back({worker.process->socket(), POLLIN, 0});
            tags.push_back(tag);
        }
        for (const std::size_t i : readable(sockets)) {
            std::optional<Json> answer = workers_.at(tags[i]).process->answer();
            if (!answer) {
                end(tags[i]);
            } else if (answer->contains("done")) {
                done_.push_back({tags[i], std::move(*answer)});
            } else {
                reply(tags[i], *answer);
            }
        }
    }

    // Answers that images are done after the system of this host has stored them: that of the first rank may not see
    // what this one has not written yet. Another thread does this, for all images that were done in the meantime.
    void store() {
        if (storing_.valid()) {
            if (storing_.wait_for(milliseconds(0)) != std::future_status::ready) return;
            const int error = storing_.get();
            for (const Answer& each : stored_) {
                reply(each.tag,
                      error == 0
                          ? each.answer
                          : Json{{"id", each.answer.value("id", 0)},
                                 {"failed", "the output cannot be stored: " + std::generic_category().message(error)},
                                 {"retry", true}});
            }
        }
        if (done_.empty()) return;
        stored_ = std::exchange(done_, {});
        std::vector<fs::path> files;
        for (const Answer& each : stored_) {
            for (const Json& file : each.answer["done"]) files.push_back(path_in(file).value_or(""));
        }
        storing_ = std::async(std::launch::async, [files = std::move(files)] { return synchronize(files); });
    }

    std::size_t threads_;  // of each worker
    bool is_over_ = false;
    std::map<int, Worker> workers_;
    std::vector<Answer> done_;
    std::vector<Answer> stored_;
    std::future<int> storing_;
    SentMessages sent_;
};

}  // namespace

std::unique_ptr<Ranks> join_ranks(std::size_t workers) {
    constexpr std::array kVariables{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
    if (std::ranges::none_of(kVariables, [](const char* name) { return std::getenv(name) != nullptr; })) return nullptr;
    int level = MPI_THREAD_SINGLE;
    int rank = 0;
    int ranks = 1;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 1) {
        MPI_Finalize();
        return nullptr;
    }
    if (level < MPI_THREAD_SERIALIZED)
        fail("this MPI cannot be called by more than one thread", "Use another MPI, or --shard without MPI.");
    const std::uint64_t own = workers == 0 ? processors() : workers;
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(ranks));
    MPI_Allgather(&own, 1, MPI_UINT64_T, counts.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    if (rank == 0) return std::make_unique<FirstRank>(counts);
    return std::make_unique<OtherRank>(own);
}

}  // namespace texton::batch
