#include "core/cpu/pool.h"

#include <algorithm>
#include <new>

#include <texton/error.h>

// The arena is divided into ranges: used, free, or a hole without memory. A free range remembers the position in a
// stream at which it was freed. An allocation takes the first of these that works:
//   1. The smallest free range that the stream may use; see usable() for the rules.
//   2. Several neighboring ranges. Holes between and after them are filled as far as needed, so the pool grows.
//   3. The same after idle memory elsewhere in the pool was returned to the system.
//   4. Memory whose last use is not done yet. The stream waits for it, if internal dependencies are allowed.

namespace texton::detail {
namespace {

constexpr std::size_t kGrain = 512;  // bytes; allocations are rounded up to multiples of it
constexpr std::size_t kGrowth = 32 * kMiB;

int node_of(const Location& location) { return location.kind == LocationKind::host_numa ? location.id : -1; }

// Holes and fragments occupy addresses too, so the arena has twice as many addresses as the pool can have memory.
std::size_t arena_bytes(const PoolInfo& info, const Account& account) {
    std::size_t maximum = std::min(account.total(), machine_memory());
    if (info.max_bytes != 0) maximum = std::min(maximum, info.max_bytes);
    return round_up(2 * maximum, kGrowth);
}

[[noreturn]] void refuse_address(const char* problem, const char* remedy) {
    throw Error({.code = ErrorCode::bad_argument, .problem = problem, .remedy = remedy});
}

}  // namespace

CpuPool::CpuPool(int owner, const PoolInfo& info, std::shared_ptr<Account> account)
    : owner_(owner),
      info_(info),
      imported_(false),
      account_(std::move(account)),
      arena_(arena_bytes(info, *account_), info.handle == HandleType::file_descriptor, node_of(info.location)) {
    ranges_.emplace(0, make_range(arena_.bytes()));
}

CpuPool::CpuPool(int owner, int descriptor)
    : owner_(owner), info_{.handle = HandleType::file_descriptor}, imported_(true), arena_(descriptor) {}

CpuPool::~CpuPool() {
    if (account_ != nullptr) account_->give(reserved_);
}

bool CpuPool::usable(const Range& range, const CpuTicket& position) const {
    const CpuTicket& freed = range.freed;
    if (range.state != State::free) return false;
    if (freed.stream == nullptr || freed.stream == position.stream) return true;
    if (follow_events_ && position.covers(*freed.stream, freed.sequence)) return true;
    return opportunistic_ && freed.done();
}

CpuPool::Ranges::iterator CpuPool::best_fit(std::size_t bytes, const CpuTicket& position) {
    for (auto entry = by_size_.lower_bound({bytes, 0}); entry != by_size_.end(); ++entry) {
        const auto range = ranges_.find(entry->second);
        if (usable(range->second, position)) return range;
    }
    return ranges_.end();
}

CpuPool::Window CpuPool::find_window(std::size_t bytes, const CpuTicket& position, bool pending_too) {
    Window best;
    auto first = ranges_.begin();
    std::size_t total = 0;
    std::size_t holes = 0;
    for (auto range = ranges_.begin(); range != ranges_.end(); ++range) {
        const bool hole = range->second.state == State::hole;
        const bool fits =
            hole || usable(range->second, position) || (pending_too && range->second.state == State::free);
        if (!fits) {
            first = std::next(range);
            total = holes = 0;
            continue;
        }
        total += range->second.bytes;
        holes += hole ? range->second.bytes : 0;
        // Checks all windows that end here, because a longer window may need less memory for holes.
        for (; total >= bytes; ++first) {
            const std::size_t last_part = bytes - std::min(bytes, total - range->second.bytes);
            const std::size_t grow = holes - (hole ? range->second.bytes - last_part : 0);
            if (!best.found || grow < best.grow) best = {first, range, grow, last_part, true};
            total -= first->second.bytes;
            holes -= first->second.state == State::hole ? first->second.bytes : 0;
        }
        if (best.found && best.grow == 0) break;
    }
    return best;
}

// Adds memory to the holes of the window. A hole at its end gets only the memory that is needed, in steps. Returns
// false if there is not enough memory.
bool CpuPool::fill_holes(Window& window) {
    const bool open = window.last->second.state == State::hole;
    const std::size_t inner = window.grow - (open ? window.last_part : 0);
    const std::size_t room = open ? window.last->second.bytes : 0;
    const std::size_t maximum = info_.max_bytes == 0 ? SIZE_MAX : round_up(info_.max_bytes, kUnit);
    const auto reserve = [&](std::size_t step) -> std::size_t {
        const std::size_t bytes = inner + std::min(room, round_up(open ? window.last_part : 0, step));
        return bytes <= maximum - reserved_ && account_->try_take(bytes) ? bytes : 0;
    };
    std::size_t bytes = reserve(kGrowth);
    if (bytes == 0) bytes = reserve(kUnit);
    if (bytes == 0) return false;
    try {
        if (open && bytes - inner < room) split(window.last, bytes - inner);
    } catch (const std::bad_alloc&) {
        account_->give(bytes);
        throw;
    }
    for (auto range = window.first;; ++range) {
        if (range->second.state == State::hole) {
            if (!arena_.commit(range->first, range->second.bytes)) {
                account_->give(bytes);
                return false;
            }
            bytes -= range->second.bytes;
            reserved_ += range->second.bytes;
            set_state(range, State::free);
        }
        if (range == window.last) break;
    }
    reserved_high_ = std::max(reserved_high_, reserved_);
    return true;
}

std::byte* CpuPool::allocate(std::size_t asked, CpuStream& stream) {
    const std::lock_guard lock(mutex_);
    const std::size_t maximum = info_.max_bytes == 0 ? account_->total() : info_.max_bytes;
    if (asked > maximum || round_up(asked, kGrain) > round_up(maximum, kGrain) - used_) {
        refuse_memory(asked, maximum - std::min<std::size_t>(maximum, used_));
    }
    const std::size_t bytes = round_up(asked, kGrain);
    const CpuTicket position = stream.position();
    auto range = best_fit(bytes, position);
    if (range == ranges_.end()) {
        merge_free();
        Window window = find_window(bytes, position, false);
        const auto usable_now = [&] { return window.found && (window.grow == 0 || fill_holes(window)); };
        bool ready = usable_now();
        if (!ready) {
            trim_locked(0);
            window = find_window(bytes, position, false);
            ready = usable_now();
        }
        if (!ready && internal_) {
            window = find_window(bytes, position, true);
            ready = usable_now();
        }
        if (!ready)
            refuse_memory(asked, std::min<std::size_t>(account_->free(), maximum - reserved_) + reserved_ - used_);
        range = take(window, bytes, stream);
    }
    mark_used(range, bytes);
    return arena_.base() + range->first;
}

// Returns one free range made from the window. The stream first waits for work that still uses the range.
CpuPool::Ranges::iterator CpuPool::take(const Window& window, std::size_t bytes, CpuStream& stream) {
    std::size_t total = 0;
    const CpuTicket position = stream.position();
    for (auto range = window.first; total < bytes; ++range) {
        if (!usable(range->second, position)) stream.wait_for(range->second.freed);
        total += range->second.bytes;
    }
    while (window.first->second.bytes < bytes) {
        const auto next = std::next(window.first);
        const std::size_t missing = bytes - window.first->second.bytes;
        if (next->second.bytes > missing) split(next, missing);  // the rest keeps its position
        const std::size_t added = next->second.bytes;
        set_state(next, State::hole);
        ranges_.erase(next);
        CpuTicket freed = window.first->second.freed;
        set_state(window.first, State::hole);
        window.first->second.bytes += added;
        set_state(window.first, State::free, std::move(freed));
    }
    return window.first;
}

void CpuPool::mark_used(Ranges::iterator range, std::size_t bytes) {
    if (range->second.bytes > bytes) split(range, bytes);
    set_state(range, State::used);
    used_ += bytes;
    used_high_ = std::max(used_high_, used_);
}

void CpuPool::set_state(Ranges::iterator range, State state, CpuTicket freed) noexcept {
    const std::pair key{range->second.bytes, range->first};
    if (range->second.state == State::free) range->second.size = by_size_.extract(key);
    range->second.state = state;
    range->second.freed = std::move(freed);
    if (state != State::free) return;
    range->second.size.value() = key;
    by_size_.insert(std::move(range->second.size));
}

CpuPool::Range CpuPool::make_range(std::size_t bytes) {
    Sizes one{{}};
    return {.bytes = bytes, .size = one.extract(one.begin())};
}

// Returns the second part.
CpuPool::Ranges::iterator CpuPool::split(Ranges::iterator range, std::size_t first_bytes) {
    const State state = range->second.state;
    const CpuTicket freed = range->second.freed;
    const auto second = ranges_.emplace_hint(std::next(range), range->first + first_bytes,
                                             make_range(range->second.bytes - first_bytes));
    set_state(range, State::hole);
    range->second.bytes = first_bytes;
    set_state(range, state, freed);
    set_state(second, state, freed);
    return second;
}

CpuPool::Ranges::iterator CpuPool::split_at(std::size_t offset) {
    const auto range = std::prev(ranges_.upper_bound(offset));
    return range->first == offset ? range : split(range, offset - range->first);
}

// Merges neighboring holes, and neighboring free ranges that the same streams may use.
void CpuPool::merge_free() {
    for (auto range = ranges_.begin(); range != ranges_.end();) {
        if (range->second.state == State::free && opportunistic_ && range->second.freed.done())
            range->second.freed = {};
        if (range == ranges_.begin()) {
            ++range;
            continue;
        }
        const auto before = std::prev(range);
        const CpuTicket& one = before->second.freed;
        const CpuTicket& other = range->second.freed;
        const bool alike = before->second.state == range->second.state && one.stream == other.stream &&
                           (one.sequence == other.sequence || (one.done() && other.done()));
        if (range->second.state == State::used || !alike) {
            ++range;
            continue;
        }
        const State state = range->second.state;
        CpuTicket freed = one.sequence > other.sequence ? one : other;
        const std::size_t bytes = range->second.bytes;
        set_state(range, State::hole);
        set_state(before, State::hole);
        before->second.bytes += bytes;
        set_state(before, state, std::move(freed));
        range = ranges_.erase(range);
    }
}

void CpuPool::free(std::byte* address, const CpuTicket& position) {
    const std::lock_guard lock(mutex_);
    const auto offset = static_cast<std::size_t>(address - arena_.base());
    if (imported_) {
        const auto entry = imports_.find(offset);
        if (entry == imports_.end())
            refuse_address("nothing was imported at the address", "Free each imported allocation once.");
        imports_.erase(entry);
        std::erase_if(imported_frees_, [](const CpuTicket& ticket) { return ticket.done(); });
        imported_frees_.push_back(position);
        return;
    }
    const auto range = ranges_.find(offset);
    if (range == ranges_.end() || range->second.state != State::used) {
        refuse_address("nothing is allocated at the address", "Free each allocation once.");
    }
    used_ -= range->second.bytes;
    set_state(range, State::free, position);
}

void CpuPool::trim(std::size_t keep) {
    const std::lock_guard lock(mutex_);
    if (!imported_) trim_locked(keep);
}

// Returns whole units whose last use is done to the system, starting at the end of the arena.
void CpuPool::trim_locked(std::size_t keep) {
    const auto idle = [](const Range& range) { return range.state == State::free && range.freed.done(); };
    auto after = ranges_.end();  // end of the current run of ranges
    while (reserved_ > keep && after != ranges_.begin()) {
        if (!idle(std::prev(after)->second)) {
            --after;
            continue;
        }
        auto first = after;
        while (first != ranges_.begin() && idle(std::prev(first)->second)) --first;
        const std::size_t end = (after == ranges_.end() ? arena_.bytes() : after->first) / kUnit * kUnit;
        const std::size_t begin = round_up(first->first, kUnit);
        const std::size_t count = end > begin ? std::min(end - begin, (reserved_ - keep) / kUnit * kUnit) : 0;
        after = first;
        if (count == 0) continue;
        const std::size_t cut = end - count;
        const std::size_t run_begin = first->first;
        const auto range = split_at(cut);
        if (end < arena_.bytes()) split_at(end);
        if (!arena_.decommit(cut, count)) continue;
        set_state(range, State::hole);
        for (auto next = std::next(range); next != ranges_.end() && next->first < end; next = ranges_.erase(next)) {
            set_state(next, State::hole);
        }
        range->second.bytes = count;
        reserved_ -= count;
        account_->give(count);
        after = ranges_.find(std::min(run_begin, cut));
    }
    // Merges neighboring holes, so that large allocations can use them.
    for (auto range = ranges_.begin(); range != ranges_.end();) {
        const auto next = std::next(range);
        if (next == ranges_.end()) break;
        if (range->second.state == State::hole && next->second.state == State::hole) {
            range->second.bytes += next->second.bytes;
            ranges_.erase(next);
        } else {
            range = next;
        }
    }
}

void CpuPool::observe(const CpuTicket& ticket) {
    const std::lock_guard lock(mutex_);
    if (imported_ || reserved_ == used_) return;
    for (const auto& [bytes, offset] : by_size_) {
        CpuTicket& freed = ranges_.find(offset)->second.freed;
        if (freed.stream != nullptr && ticket.covers(*freed.stream, freed.sequence)) freed = {};
    }
    if (reserved_ > threshold_) trim_locked(threshold_);
}

const std::byte* CpuPool::known_until(const std::byte* address) const {
    const auto offset = static_cast<std::size_t>(address - arena_.base());
    const std::lock_guard lock(mutex_);
    if (imported_) {
        const auto after = imports_.upper_bound(offset);
        if (after == imports_.begin()) return nullptr;
        const auto& [begin, bytes] = *std::prev(after);
        return offset < begin + bytes ? arena_.base() + begin + bytes : nullptr;
    }
    const auto& [begin, range] = *std::prev(ranges_.upper_bound(offset));
    return range.state == State::used ? arena_.base() + begin + range.bytes : nullptr;
}

bool CpuPool::abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    return used_ == 0 && imports_.empty();
}

bool CpuPool::abandoned_and_empty() const {
    const std::lock_guard lock(mutex_);
    return abandoned_ && used_ == 0 && imports_.empty();
}

void CpuPool::outlive_frees() {
    const std::lock_guard lock(mutex_);
    std::map<std::shared_ptr<CpuStream>, bool> streams;
    for (const auto& [offset, range] : ranges_) {
        if (range.state == State::free && !range.freed.done()) streams[range.freed.stream] = true;
    }
    for (const CpuTicket& freed : imported_frees_) {
        if (!freed.done()) streams[freed.stream] = true;
    }
    for (const auto& [stream, pending] : streams) stream->enqueue([self = shared_from_this()] {});
}

}  // namespace texton::detail
