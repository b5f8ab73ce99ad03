#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/cpu/device.h"
#include "core/cpu/host.h"
#include "core/cpu/managed.h"
#include "core/cpu/symbols.h"
#include "core/parallel.h"

namespace texton::detail {
namespace {

// Returns an identifier that depends only on the index, so it is equal in all runs and on all machines.
std::array<std::uint8_t, 16> uuid_of(int index) {
    std::array<std::uint8_t, 16> uuid{};
    constexpr std::string_view kText = "Texton CPU dev ";
    static_assert(kText.size() == 15);
    std::memcpy(uuid.data(), kText.data(), kText.size());
    uuid[15] = static_cast<std::uint8_t>(index);
    return uuid;
}

DeviceProperties properties_of(int index, std::size_t memory, int threads) {
    DeviceProperties properties;
    properties.name = fmt::format("CPU device {} ({})", index, processor_model());
    properties.kind = DeviceKind::cpu;
    properties.index = index;
    properties.uuid = uuid_of(index);
    properties.ordinal = index;
    properties.multiprocessors =
        threads != 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    properties.total_memory = memory;
    properties.l2_bytes = last_cache_bytes();
    properties.managed_memory = true;
    properties.concurrent_managed_access = true;
    properties.pageable_memory_access = true;
    properties.host_register = true;
    properties.host_register_read_only = true;
    properties.host_pointer_is_device_pointer = true;
    properties.memory_pools = true;
    properties.pool_file_descriptors = true;
    properties.pool_fabric_handles = false;
    properties.host_numa_pools = true;
    properties.virtual_memory = true;
    return properties;
}

// A device without a configured size has the memory that the machine still has available.
std::shared_ptr<Account> account_for(std::size_t memory) {
    if (memory != 0) return std::make_shared<Account>(memory, 0);
    return std::make_shared<Account>(machine_memory(), machine_memory() - available_memory());
}

// Returns true if pieces of memory contain all bytes. `end_of` returns the end of the piece that contains an address, or
// null if there is none.
template <class EndOf>
bool is_covered(const void* address, std::size_t bytes, const EndOf& end_of) {
    const auto* at = static_cast<const std::byte*>(address);
    while (bytes > 0) {
        const std::byte* end = end_of(at);
        if (end == nullptr) return false;
        bytes -= std::min(bytes, static_cast<std::size_t>(end - at));
        at = end;
    }
    return true;
}

}  // namespace

std::unique_ptr<Backend> make_cpu_device(int index, std::size_t memory, int threads) {
    return std::make_unique<CpuDevice>(index, memory, threads);
}

CpuDevices& CpuDevices::instance() {
    static CpuDevices& made = *new CpuDevices;
    return made;
}

void CpuDevices::add(CpuDevice& device) {
    const std::lock_guard lock(mutex_);
    devices_.push_back(&device);
}

void CpuDevices::remove(CpuDevice& device) {
    const std::lock_guard lock(mutex_);
    std::erase(devices_, &device);
    std::erase_if(access_, [&](const auto& pair) { return pair.first == &device || pair.second == &device; });
}

CpuDevice* CpuDevices::find(int index) const {
    const std::lock_guard lock(mutex_);
    const auto device = std::find_if(devices_.rbegin(), devices_.rend(),
                                     [&](const CpuDevice* each) { return each->properties().index == index; });
    return device == devices_.rend() ? nullptr : *device;
}

CpuDevice* CpuDevices::first() const {
    const std::lock_guard lock(mutex_);
    return devices_.empty() ? nullptr : devices_.front();
}

void CpuDevices::set_access(const CpuDevice& from, const CpuDevice& to, bool enabled) {
    const std::lock_guard lock(mutex_);
    if (enabled) {
        access_.insert({&from, &to});
    } else {
        access_.erase({&from, &to});
    }
}

const CpuDevice* CpuDevices::with_access(const CpuDevice& to, std::size_t n) const noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto& [from, other] : access_) {
        if (other == &to && n-- == 0) return from;
    }
    return nullptr;
}

Location resolved(const Location& location) {
    const auto refuse = [&] {
        throw Error({.code = ErrorCode::wrong_location,
                     .problem = fmt::format("{} does not exist", to_string(location)),
                     .remedy = "Pass a device or a NUMA node that exists."});
    };
    switch (location.kind) {
        case LocationKind::none:
        case LocationKind::host: return location;
        case LocationKind::device:
            if (location.device_kind != DeviceKind::cpu || CpuDevices::instance().find(location.id) == nullptr)
                refuse();
            return location;
        case LocationKind::host_numa:
            if (!has_numa_node(location.id)) refuse();
            return location;
        case LocationKind::host_numa_current: return Location::host_numa(current_numa_node());
    }
    return location;
}

CpuDevice::CpuDevice(int index, std::size_t memory, int threads)
    : account_(account_for(memory)),
      threads_(threads != 0 ? std::make_shared<CpuThreads>(threads) : nullptr),
      default_stream_(std::make_shared<CpuStream>(threads_)),
      releases_(std::make_shared<CpuStream>()) {
    if (index < 0 || index >= CpuManaged::kMaxDevices) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton::Device",
                     .problem = fmt::format("CPU device {} was requested", index),
                     .remedy = fmt::format("Use an index from 0 to {}.", CpuManaged::kMaxDevices - 1)});
    }
    properties_ = properties_of(index, account_->total(), threads);
    streams_[default_stream_->id()] = default_stream_;
    CpuDevices::instance().add(*this);
}

CpuDevice::~CpuDevice() {
    for_each_stream([](CpuStream& each) {
        each.close();
        each.join();
    });
    releases_->close();
    releases_->join();
    CpuDevices::instance().remove(*this);
    for (const auto& [key, pool] : default_pools_) CpuPools::instance().abandon(pool);
    while (!blocks_.empty()) release_block(const_cast<std::byte*>(blocks_.begin()->first));
}

Location CpuDevice::own_location() const noexcept { return {LocationKind::device, properties_.index, DeviceKind::cpu}; }

MemoryInfo CpuDevice::memory_info() { return {account_->free(), account_->total()}; }

void CpuDevice::synchronize() {
    for_each_stream([](const CpuStream& each) {
        if (each.capture() == nullptr) return;
        refuse_capturing("a stream of the device is being captured", "Synchronize the device after the capture.");
    });
    std::vector<CpuTicket> reached;
    for_each_stream([&](const CpuStream& each) {
        reached.push_back(each.position());
        reached.back().wait();
        CpuPools::instance().observe(reached.back());
    });
    for (const CpuTicket& position : reached) position.stream->report_failure(position.sequence);
}

template <class Visit>
void CpuDevice::for_each_stream(const Visit& visit) const {
    const std::uint64_t last = CpuStream::last_id();
    std::shared_ptr<CpuStream> stream;
    for (std::uint64_t id = 0;; id = stream->id()) {
        stream = nullptr;  // destroyed without the lock if this is the last reference
        {
            const std::lock_guard lock(mutex_);
            const auto next = streams_.upper_bound(id);
            if (next == streams_.end() || next->first > last) return;
            stream = next->second;
        }
        visit(*stream);
    }
}

void CpuDevice::wait_for_streams() const noexcept {
    for_each_stream([](const CpuStream& each) { each.position().wait(); });
}

void CpuDevice::finish_work() const noexcept {
    wait_for_streams();
    for (std::size_t n = 0; const CpuDevice* device = CpuDevices::instance().with_access(*this, n); ++n) {
        device->wait_for_streams();
    }
}

void CpuDevice::when_idle(std::function<void()> release) noexcept {
    if (lost()) return;
    try {
        if (CpuStream::in_work()) {
            releases_->enqueue([this, release = std::move(release)] {
                finish_work();
                release();
            });
            return;
        }
        finish_work();
        release();
    } catch (...) {
        // There is no thread or no memory for the release, so the resource stays allocated.
    }
}

bool CpuDevice::can_access_peer(Backend& peer) { return &peer != this && dynamic_cast<CpuDevice*>(&peer) != nullptr; }

void CpuDevice::set_peer_access(Backend& peer, bool enabled) {
    if (const auto* other = dynamic_cast<CpuDevice*>(&peer)) CpuDevices::instance().set_access(*this, *other, enabled);
}

std::byte* CpuDevice::allocate(std::size_t bytes) {
    const std::size_t alignment = limits_.texture_alignment;
    std::byte* address = take_memory(*account_, bytes, alignment);
    keep_block(address, round_up(bytes, alignment));
    return address;
}

void CpuDevice::keep_block(std::byte* address, std::size_t held) {
    try {
        const std::lock_guard lock(mutex_);
        blocks_[address] = held;
    } catch (...) {
        give_memory(*account_, address, held);
        throw;
    }
}

PitchedMemory CpuDevice::allocate_pitched_2d(std::size_t row_bytes, std::size_t rows) {
    return allocate_pitched_3d(row_bytes, rows, 1);
}

PitchedMemory CpuDevice::allocate_pitched_3d(std::size_t row_bytes, std::size_t rows, std::size_t slices) {
    const std::size_t pitch = round_up(row_bytes, limits_.pitch_alignment);
    std::size_t all_rows = 0;
    std::size_t bytes = 0;
    if (pitch < row_bytes || __builtin_mul_overflow(rows, slices, &all_rows) ||
        __builtin_mul_overflow(pitch, all_rows, &bytes)) {
        refuse_memory(SIZE_MAX, account_->free());
    }
    return {allocate(bytes), pitch};
}

void CpuDevice::free(std::byte* address) noexcept {
    when_idle([this, address] {
        // An imported allocation can be freed like plain memory. All work is done, so any position is valid.
        if (const auto pool = CpuPools::instance().find(address)) {
            CpuPools::instance().free(pool, address, default_stream_->position());
        } else {
            release_block(address);
        }
    });
}

void CpuDevice::release_block(std::byte* address) noexcept {
    std::size_t bytes = 0;
    {
        const std::lock_guard lock(mutex_);
        const auto entry = blocks_.find(address);
        if (entry == blocks_.end()) return;
        bytes = entry->second;
        blocks_.erase(entry);
    }
    CpuManagedBlocks::instance().remove(address);
    give_memory(*account_, address, bytes);
}

bool CpuDevice::knows(const void* address, std::size_t bytes) {
    return is_covered(address, bytes, [this](const std::byte* at) { return known_until(at); });
}

const std::byte* CpuDevice::known_until(const std::byte* address) const {
    {
        const std::lock_guard lock(mutex_);
        const auto after = blocks_.upper_bound(address);
        if (after != blocks_.begin()) {
            const auto& [begin, bytes] = *std::prev(after);
            if (address < begin + bytes) return begin + bytes;
        }
    }
    if (const auto pool = CpuPools::instance().find(address)) {
        return pool->owner() == properties_.index ? pool->known_until(address) : nullptr;
    }
    const std::byte* end = addresses_.readable_until(address, own_location());
    return end != nullptr ? end : end_of_cpu_symbol(address);
}

std::byte* CpuDevice::allocate_host(std::size_t bytes, PinnedOptions options) {
    return CpuHost::instance().allocate(bytes, options);
}

void CpuDevice::free_host(std::byte* address) noexcept {
    when_idle([address] { CpuHost::instance().free(address); });
}

PinnedOptions CpuDevice::host_options(std::byte* address) { return CpuHost::instance().options(address); }

void CpuDevice::register_host(std::byte* address, std::size_t bytes, RegisterOptions options) {
    CpuHost::instance().add(address, bytes, options);
}

void CpuDevice::unregister_host(std::byte* address) noexcept {
    if (lost()) return;
    // Removes the range immediately even in a stream's thread, because the caller may register it again after this
    // call.
    if (!CpuStream::in_work()) finish_work();
    CpuHost::instance().remove(address);
}

std::byte* CpuDevice::host_device_pointer(std::byte* address) {
    CpuHost::instance().options(address);  // throws if the address is unknown
    return address;
}

bool CpuDevice::knows_host(const void* address, std::size_t bytes) {
    return is_covered(address, bytes, [](const std::byte* at) { return CpuHost::instance().known_until(at); });
}

SymbolLocation CpuDevice::find_symbol(const void* symbol) { return find_cpu_symbol(symbol); }

}  // namespace texton::detail
