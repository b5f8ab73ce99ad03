#include "core/cpu/managed.h"

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::detail {
namespace {

std::uint32_t bit_of(const Location& location) {
    return 1U << (location.kind == LocationKind::device ? location.id : CpuManaged::kMaxDevices);
}

std::optional<Location> named(const Location& location) {
    if (location.kind == LocationKind::none) return std::nullopt;
    return location;
}

}  // namespace

template <class Change>
void CpuManaged::change(std::size_t offset, std::size_t count, const Change& change) {
    const std::lock_guard lock(mutex_);
    for (std::size_t page = offset / kPage; page <= (offset + count - 1) / kPage; ++page) change(pages_[page]);
}

void CpuManaged::advise(std::size_t offset, std::size_t count, Advice advice, const Location& location) {
    change(offset, count, [&](Page& page) {
        switch (advice) {
            case Advice::set_read_mostly: page.read_mostly = true; return;
            case Advice::unset_read_mostly: page.read_mostly = false; return;
            case Advice::set_preferred_location: page.preferred = location; return;
            case Advice::unset_preferred_location: page.preferred = Location::none(); return;
            case Advice::set_accessed_by: page.accessed_by |= bit_of(location); return;
            case Advice::unset_accessed_by: page.accessed_by &= ~bit_of(location); return;
        }
    });
}

void CpuManaged::prefetched(std::size_t offset, std::size_t count, const Location& location) {
    change(offset, count, [&](Page& page) { page.prefetched = location; });
}

void CpuManaged::attach(Attach attach) {
    const std::lock_guard lock(mutex_);
    attach_ = attach;
}

RangeAttributes CpuManaged::attributes(std::size_t offset, std::size_t count) const {
    const std::lock_guard lock(mutex_);
    Page all = pages_[offset / kPage];
    for (std::size_t page = offset / kPage + 1; page <= (offset + count - 1) / kPage; ++page) {
        const Page& one = pages_[page];
        all.read_mostly = all.read_mostly && one.read_mostly;
        all.accessed_by &= one.accessed_by;
        if (one.preferred != all.preferred) all.preferred = Location::none();
        if (one.prefetched != all.prefetched) all.prefetched = Location::none();
    }
    RangeAttributes attributes{all.read_mostly, named(all.preferred), {}, named(all.prefetched)};
    for (int id = 0; id < kMaxDevices; ++id) {
        const Location device{LocationKind::device, id, DeviceKind::cpu};
        if ((all.accessed_by & bit_of(device)) != 0) attributes.accessed_by.push_back(device);
    }
    if ((all.accessed_by & bit_of(Location::host())) != 0) attributes.accessed_by.push_back(Location::host());
    return attributes;
}

CpuManagedBlocks& CpuManagedBlocks::instance() {
    static CpuManagedBlocks& made = *new CpuManagedBlocks;
    return made;
}

void CpuManagedBlocks::add(const std::byte* address, std::size_t bytes, Attach attach) {
    auto block = std::make_shared<CpuManaged>(bytes, attach);
    const std::lock_guard lock(mutex_);
    blocks_[address] = {bytes, std::move(block)};
}

void CpuManagedBlocks::remove(const std::byte* address) noexcept {
    const std::lock_guard lock(mutex_);
    blocks_.erase(address);
}

CpuManagedBlocks::Part CpuManagedBlocks::find(const std::byte* address, std::size_t bytes) const {
    const std::lock_guard lock(mutex_);
    const auto after = blocks_.upper_bound(address);
    if (after != blocks_.begin()) {
        const auto& [begin, entry] = *std::prev(after);
        const auto offset = static_cast<std::size_t>(address - begin);
        if (bytes > 0 && offset < entry.bytes && bytes <= entry.bytes - offset) return {entry.block, offset};
    }
    throw Error(
        {.code = ErrorCode::not_registered,
         .problem = fmt::format("{} bytes at {} are not managed memory", bytes, static_cast<const void*>(address)),
         .remedy = "Pass a range inside a Managed block."});
}

}  // namespace texton::detail
