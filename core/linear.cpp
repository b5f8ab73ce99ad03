#include <texton/linear.h>

#include <texton/error.h>

#include "core/block.h"
#include "core/pending_frees.h"

namespace texton {
namespace {

constexpr const char* kLinear = "texton::Linear";

}  // namespace

Linear::Linear(const Device& device, std::size_t bytes) {
    detail::check_bytes(bytes, kLinear);
    detail::refuse_while_recording(kLinear, "allocating memory outside of stream order");
    detail::Backend& backend = device.backend();
    block_ = detail::make_block(backend, kLinear, MemoryKind::linear, bytes, &detail::Backend::free,
                                [&] { return backend.allocate(bytes); });
}

Linear::Linear(const Device& device, Format format, Extent extent) : Linear(device, packed_bytes(format, extent)) {}

Linear Linear::async(std::size_t bytes, const Stream& stream) {
    detail::check_bytes(bytes, kLinear);
    return Linear(detail::make_pool_block(kLinear, bytes, stream.state(), nullptr));
}

std::size_t Linear::bytes() const noexcept { return block_ ? block_->bytes : 0; }
std::byte* Linear::data() const noexcept { return block_ ? block_->address : nullptr; }
Device Linear::device() const { return Device(*detail::live(block_, kLinear).backend); }
View Linear::view() const { return detail::byte_view(block_, kLinear); }
View Linear::view(Format format, Extent extent) const { return detail::packed_view(block_, kLinear, format, extent); }

void Linear::free(const Stream& stream) {
    detail::Block& block = detail::live(block_, kLinear);
    const auto* pooled = dynamic_cast<const detail::PoolBlock*>(&block);
    if (pooled == nullptr) {
        throw Error({.code = ErrorCode::not_permitted,
                     .object = kLinear,
                     .problem = "the memory is not from a pool and cannot be freed in stream order",
                     .remedy = "Allocate it with Linear::async() or Pool::allocate(), or let the destructor free it."});
    }
    if (stream.device().kind() != Device(*block.backend).kind()) {
        throw Error({.code = ErrorCode::wrong_device,
                     .object = kLinear,
                     .problem = "memory of " + Device(*block.backend).name() + " cannot be freed on a stream of " +
                                stream.device().name(),
                     .remedy = "Use a stream of the memory's device."});
    }
    detail::request(block.backend, kLinear, {{"bytes", block.bytes}}, [&] {
        detail::Backend& backend = stream.device().backend();
        const detail::FreeingScope scope;
        const bool may_be_captured = pooled->capture != 0 || scope.may_be_captured();
        const std::uint64_t capture = may_be_captured ? backend.capture_of(stream.state()->handle) : 0;
        if (capture != 0 && capture != pooled->capture) {
            throw Error({.code = ErrorCode::capturing,
                         .problem = "memory that was allocated outside of a graph cannot be freed in it",
                         .remedy = "Free it before or after the capture."});
        }
        backend.free_async(block.address, stream.state()->handle);
    });
    block.alive.store(false, std::memory_order_release);
    block_.reset();
}

}  // namespace texton
