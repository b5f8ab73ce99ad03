#include "core/cpu/capture.h"

#include <algorithm>

#include <texton/error.h>

namespace texton::detail {
namespace {

// The alignment of cudaMalloc.
constexpr std::size_t kAlignment = 512;

void merge(CpuClock& into, const CpuClock& from) {
    for (const auto& [stream, count] : from) {
        std::uint64_t& known = into[stream];
        known = std::max(known, count);
    }
}

[[noreturn]] void refuse_ended() {
    refuse_capturing("another thread has just ended the capture",
                     "Let all threads finish recording before one of them ends the capture.");
}

}  // namespace

CpuGraphMemory::CpuGraphMemory(std::shared_ptr<Account> from, std::size_t count)
    : account(std::move(from)), bytes(round_up(count, kAlignment)), address(take_memory(*account, bytes, kAlignment)) {}

CpuGraphMemory::~CpuGraphMemory() { give_memory(*account, address, bytes); }

CpuGraphMemories& CpuGraphMemories::instance() {
    static CpuGraphMemories& made = *new CpuGraphMemories;
    return made;
}

void CpuGraphMemories::add(const std::shared_ptr<CpuGraphMemory>& memory) {
    const std::lock_guard lock(mutex_);
    memories_[memory->address] = memory;
}

std::shared_ptr<CpuGraphMemory> CpuGraphMemories::find(const std::byte* address) const {
    const std::lock_guard lock(mutex_);
    const auto entry = memories_.find(address);
    return entry == memories_.end() ? nullptr : entry->second;
}

void CpuGraphMemories::remove(const CpuGraphMemory& memory) {
    const std::lock_guard lock(mutex_);
    memories_.erase(memory.address);
}

void refuse_capturing(const char* problem, const char* remedy) {
    throw Error({.code = ErrorCode::capturing, .problem = problem, .remedy = remedy});
}

void CpuCapture::begin(const std::shared_ptr<CpuStream>& origin) {
    if (origin->capture() != nullptr) {
        refuse_capturing("the stream is already being captured", "End the first capture, or capture another stream.");
    }
    const auto capture = std::make_shared<CpuCapture>();
    capture->origin_ = origin->id();
    capture->members_[origin->id()].stream = origin;
    origin->set_capture(capture);
}

void CpuCapture::record(const CpuStream& stream, Work work, RunsOn runs_on) {
    const std::lock_guard lock(mutex_);
    const auto member = members_.find(stream.id());
    if (member == members_.end()) return;  // another thread has just ended the capture
    if (work) graph_->work.push_back(std::move(work));
    if (runs_on == RunsOn::own_thread) graph_->runs_on = runs_on;
    ++graph_->operations;
    ++member->second.recorded;
}

void CpuCapture::keep(std::shared_ptr<CpuGraphMemory> memory) {
    const std::lock_guard lock(mutex_);
    graph_->memory.push_back(std::move(memory));
}

bool CpuCapture::owns(const CpuGraphMemory& memory) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(graph_->memory.begin(), graph_->memory.end(),
                       [&](const auto& own) { return own.get() == &memory; });
}

CpuCapture::Mark CpuCapture::mark(const CpuStream& stream) {
    const std::lock_guard lock(mutex_);
    const auto member = members_.find(stream.id());
    if (member == members_.end()) refuse_ended();
    Mark mark{shared_from_this(), member->second.seen};
    mark.seen[stream.id()] = member->second.recorded;
    return mark;
}

void CpuCapture::join(const std::shared_ptr<CpuStream>& stream, const Mark& mark) {
    const auto active = stream->capture();
    if (active != nullptr && active.get() != this) {
        refuse_capturing("the two captures would depend on each other", "Capture both streams into one graph.");
    }
    const std::lock_guard lock(mutex_);
    if (members_.empty()) {
        refuse_capturing("the event was recorded in a capture that has ended", "Record the event again.");
    }
    Member& member = members_[stream->id()];
    if (member.stream == nullptr) {
        member.stream = stream;
        stream->set_capture(shared_from_this());
    }
    merge(member.seen, mark.seen);
}

std::shared_ptr<CpuGraph> CpuCapture::end(const CpuStream& stream) {
    if (!began_on(stream)) {
        refuse_capturing("the capture did not begin on this stream", "End the capture on the stream where it began.");
    }
    if (thread_ != std::this_thread::get_id()) {
        refuse_capturing("the capture did not begin in this thread", "End the capture in the thread where it began.");
    }
    bool joined = true;
    {
        const std::lock_guard lock(mutex_);
        const auto origin = members_.find(origin_);
        if (origin == members_.end()) refuse_ended();
        CpuClock& seen = origin->second.seen;
        for (const auto& [id, member] : members_) {
            if (id != origin_ && member.recorded > seen[id]) joined = false;
        }
    }
    abandon();
    if (!joined) {
        refuse_capturing("a stream that took part in the capture was not joined back",
                         "Record an event on this stream, and let the first stream wait for the event.");
    }
    return graph_;
}

void CpuCapture::abandon() noexcept {
    std::map<std::uint64_t, Member> members;
    {
        const std::lock_guard lock(mutex_);
        members.swap(members_);
    }
    for (const auto& [id, member] : members) member.stream->set_capture(nullptr);
}

}  // namespace texton::detail
