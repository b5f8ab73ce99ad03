#include <texton/pinned.h>

#include <cstdint>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/registered.h>

#include "core/block.h"
#include "core/host_ranges.h"
#include "core/request.h"

// Page-locked host memory: allocated (Pinned) or owned by the caller (Registered). host_ranges lists both while they
// live.

namespace texton {
namespace {

constexpr const char* kPinned = "texton::Pinned";
constexpr const char* kRegistered = "texton::Registered";

struct HostBlock : detail::Block {
    HostBlock(detail::Backend& backend, MemoryKind kind, std::size_t bytes, detail::FreeFunction free) noexcept
        : Block(backend, kind, nullptr, bytes), free(free) {}
    ~HostBlock() override {
        attached.reset();
        if (address == nullptr) return;
        detail::remove_host_range(address);
        detail::free_outside_recording(*backend, free, address);
    }
    detail::FreeFunction free;
};

std::byte* mapped_address(const std::shared_ptr<detail::Block>& block, const char* object, bool mapped) {
    detail::Block& memory = detail::live(block, object);
    if (!mapped && !memory.backend->properties().host_pointer_is_device_pointer) {
        throw Error({.code = ErrorCode::not_permitted,
                     .object = object,
                     .problem = "the memory is not mapped and has no device pointer",
                     .remedy = "Set `mapped` in the options when you create the memory."});
    }
    return detail::request(memory.backend, object, {{"bytes", memory.bytes}},
                           [&] { return memory.backend->host_device_pointer(memory.address); });
}

}  // namespace

Pinned::Pinned(const Device& device, std::size_t bytes, PinnedOptions options) try : asked_(options) {
    detail::check_bytes(bytes, kPinned);
    detail::refuse_while_recording(kPinned, "allocating host memory");
    detail::Backend& backend = device.backend();
    auto block = std::make_shared<HostBlock>(backend, MemoryKind::pinned, bytes, &detail::Backend::free_host);
    block->address =
        detail::request(&backend, kPinned, {{"bytes", bytes}}, [&] { return backend.allocate_host(bytes, options); });
    block->host_reads_slowly = options.write_combined;
    detail::add_host_range(block);
    block_ = std::move(block);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kPinned);
}

std::size_t Pinned::bytes() const noexcept { return block_ ? block_->bytes : 0; }
std::byte* Pinned::data() const noexcept { return block_ ? block_->address : nullptr; }

std::span<const std::byte> Pinned::read(SlowReads slow) const {
    const detail::Block& block = detail::live(block_, kPinned);
    if (block.host_reads_slowly && slow == SlowReads::refused) {
        throw Error(
            {.code = ErrorCode::not_permitted,
             .object = kPinned,
             .problem = "reading write-combined memory on the host is very slow",
             .remedy = "Pass SlowReads::allowed to read it anyway, or create the memory without write_combined."});
    }
    return {block.address, block.bytes};
}

std::byte* Pinned::device_pointer() const { return mapped_address(block_, kPinned, asked_.mapped); }

PinnedOptions Pinned::options() const {
    detail::Block& block = detail::live(block_, kPinned);
    return detail::request(block.backend, kPinned, {}, [&] { return block.backend->host_options(block.address); });
}

Device Pinned::device() const { return Device(*detail::live(block_, kPinned).backend); }
View Pinned::view() const { return detail::byte_view(block_, kPinned); }
View Pinned::view(Format format, Extent extent) const { return detail::packed_view(block_, kPinned, format, extent); }

Registered::Registered(const Device& device, void* data, std::size_t bytes, RegisterOptions options) try
    : asked_(options) {
    if (data == nullptr) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kRegistered,
                     .problem = "the pointer is null",
                     .remedy = "Pass the address of host memory."});
    }
    detail::check_bytes(bytes, kRegistered);
    auto* address = static_cast<std::byte*>(data);
    if (bytes > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(data)) {
        throw Error({.code = ErrorCode::overflow,
                     .object = kRegistered,
                     .problem = fmt::format("{} bytes at {} exceed the address space", bytes, data),
                     .remedy = "Pass the size of existing memory.",
                     .numbers = {{"bytes", bytes}}});
    }
    const detail::HostRange known = detail::find_host_range(address, bytes);
    if (known.cover != detail::HostCover::none) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kRegistered,
                     .problem = fmt::format("{} bytes at {} overlap with {} bytes that are already {}", bytes, data,
                                            known.bytes, name(known.kind)),
                     .remedy = "Register each byte only once.",
                     .numbers = {{"bytes", bytes}}});
    }
    const DeviceProperties& properties = device.properties();
    if (!properties.host_register || (options.read_only && !properties.host_register_read_only)) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = kRegistered,
                     .problem = fmt::format("{} cannot register host memory{}", properties.name,
                                            properties.host_register ? " as read-only" : ""),
                     .remedy = properties.host_register ? "Register it without read_only." : "Use Pinned instead."});
    }
    detail::refuse_while_recording(kRegistered, "registering host memory");
    detail::Backend& backend = device.backend();
    auto block = std::make_shared<HostBlock>(backend, MemoryKind::registered, bytes, &detail::Backend::unregister_host);
    detail::request(&backend, kRegistered, {{"bytes", bytes}}, [&] { backend.register_host(address, bytes, options); });
    block->address = address;
    detail::add_host_range(block);
    block_ = std::move(block);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kRegistered);
}

std::byte* Registered::data() const noexcept { return block_ ? block_->address : nullptr; }
std::size_t Registered::bytes() const noexcept { return block_ ? block_->bytes : 0; }
std::byte* Registered::device_pointer() const { return mapped_address(block_, kRegistered, asked_.mapped); }
Device Registered::device() const { return Device(*detail::live(block_, kRegistered).backend); }
View Registered::view() const { return detail::byte_view(block_, kRegistered); }
View Registered::view(Format format, Extent extent) const {
    return detail::packed_view(block_, kRegistered, format, extent);
}

std::byte* device_pointer(const Device& device, const void* host) {
    constexpr const char* kObject = "texton::device_pointer";
    auto* address = const_cast<std::byte*>(static_cast<const std::byte*>(host));
    if (host == nullptr || detail::find_host_range(address, 1).cover == detail::HostCover::none) {
        throw Error({.code = ErrorCode::not_registered,
                     .object = kObject,
                     .problem = fmt::format("{} is neither pinned nor registered", host),
                     .remedy = "Allocate the memory with Pinned, or register it with Registered."});
    }
    detail::Backend& backend = device.backend();
    return detail::request(&backend, kObject, {}, [&] { return backend.host_device_pointer(address); });
}

}  // namespace texton
