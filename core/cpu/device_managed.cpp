#include <sys/mman.h>

#include <memory>

#include <texton/error.h>

#include "core/cpu/device.h"
#include "core/cpu/managed.h"

namespace texton::detail {
namespace {

[[noreturn]] void refuse_fabric() {
    throw Error({.code = ErrorCode::not_permitted,
                 .problem = "a fabric handle was requested, but the CPU device has no fabric",
                 .remedy = "Use HandleType::file_descriptor."});
}

RangeAttributes attributes_of(const std::byte* address, std::size_t bytes) {
    const auto part = CpuManagedBlocks::instance().find(address, bytes);
    return part.block->attributes(part.offset, bytes);
}

PhysicalHandle to_handle(std::shared_ptr<CpuPhysical> memory) {
    return reinterpret_cast<PhysicalHandle>(new std::shared_ptr<CpuPhysical>(std::move(memory)));
}

}  // namespace

std::byte* CpuDevice::allocate_managed(std::size_t bytes, Attach attach) {
    std::byte* address = take_memory(*account_, bytes, CpuManaged::kPage);
    keep_block(address, round_up(bytes, CpuManaged::kPage));
    try {
        CpuManagedBlocks::instance().add(address, bytes, attach);
    } catch (...) {
        release_block(address);
        throw;
    }
    return address;
}

void CpuDevice::attach_managed(StreamHandle handle, std::byte* address, std::size_t bytes, Attach attach) {
    if (stream(handle)->capture() != nullptr) {
        refuse_capturing("the attachment of managed memory cannot be captured",
                         "Attach the memory before or after the capture.");
    }
    const auto part = CpuManagedBlocks::instance().find(address, bytes);
    submit(handle, [block = part.block, attach] { block->attach(attach); });
}

void CpuDevice::advise(std::byte* address, std::size_t bytes, Advice advice, const Location& location) {
    const auto part = CpuManagedBlocks::instance().find(address, bytes);
    const bool located = advice == Advice::set_preferred_location || advice == Advice::set_accessed_by ||
                         advice == Advice::unset_accessed_by;
    part.block->advise(part.offset, bytes, advice, located ? resolved(location) : Location::none());
}

void CpuDevice::prefetch(std::byte* address, std::size_t bytes, const Location& location, StreamHandle handle) {
    if (stream(handle)->capture() != nullptr) {
        refuse_capturing("a prefetch cannot be captured", "Prefetch before or after the capture.");
    }
    const auto part = CpuManagedBlocks::instance().find(address, bytes);
    const Location target = resolved(location);
    submit(handle, [address, bytes] {
        // Populates whole pages. If the system cannot do this, pages are populated at the first access.
        constexpr std::uintptr_t kPage = 4096;
        const auto begin = reinterpret_cast<std::uintptr_t>(address) / kPage * kPage;
        const auto end = reinterpret_cast<std::uintptr_t>(address) + bytes;
        madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
    });
    part.block->prefetched(part.offset, bytes, target);
}

bool CpuDevice::read_mostly(const std::byte* address, std::size_t bytes) {
    return attributes_of(address, bytes).read_mostly;
}

std::optional<Location> CpuDevice::preferred_location(const std::byte* address, std::size_t bytes) {
    return attributes_of(address, bytes).preferred_location;
}

std::vector<Location> CpuDevice::accessed_by(const std::byte* address, std::size_t bytes) {
    return attributes_of(address, bytes).accessed_by;
}

std::optional<Location> CpuDevice::last_prefetch(const std::byte* address, std::size_t bytes) {
    return attributes_of(address, bytes).last_prefetch;
}

RangeAttributes CpuDevice::range_attributes(const std::byte* address, std::size_t bytes) {
    return attributes_of(address, bytes);
}

std::size_t CpuDevice::physical_granularity(const PhysicalInfo& info, Granularity) {
    resolved(info.location);
    return kUnit;
}

PhysicalHandle CpuDevice::create_physical(std::size_t bytes, const PhysicalInfo& info) {
    if (info.handle == HandleType::fabric) refuse_fabric();
    PhysicalInfo made = info;
    made.location = resolved(info.location);
    return to_handle(std::make_shared<CpuPhysical>(bytes, made, account_of(made.location)));
}

void CpuDevice::release_physical(PhysicalHandle memory) noexcept {
    if (!lost()) delete &cpu_physical(memory);
}

ShareableHandle CpuDevice::export_physical(PhysicalHandle memory, HandleType type) {
    if (type == HandleType::fabric) refuse_fabric();
    return cpu_physical(memory)->export_handle();
}

PhysicalHandle CpuDevice::import_physical(const ShareableHandle& handle, std::size_t bytes) {
    if (handle.type == HandleType::fabric) refuse_fabric();
    return to_handle(std::make_shared<CpuPhysical>(handle.file_descriptor, bytes));
}

std::byte* CpuDevice::reserve_addresses(std::size_t bytes, std::size_t alignment) {
    return addresses_.reserve(bytes, alignment);
}

void CpuDevice::free_addresses(std::byte* address, std::size_t bytes) noexcept {
    if (lost()) return;
    if (!CpuStream::in_work()) finish_work();
    addresses_.release(address, bytes);
}

void CpuDevice::map_physical(std::byte* address, std::size_t bytes, PhysicalHandle memory) {
    addresses_.map(address, bytes, *cpu_physical(memory));
}

// Not deferred in a stream's thread, unlike free(), because the caller may map the addresses again after this call.
void CpuDevice::unmap_physical(std::byte* address, std::size_t bytes) noexcept {
    if (lost()) return;
    if (!CpuStream::in_work()) finish_work();
    addresses_.unmap(address, bytes);
}

void CpuDevice::set_mapped_access(std::byte* address, std::size_t bytes, std::span<const AccessGrant> grants) {
    for (const AccessGrant& grant : grants) resolved(grant.location);
    addresses_.set_access(address, bytes, grants);
}

}  // namespace texton::detail
