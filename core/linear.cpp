#include <texton/linear.h>

#include <texton/error.h>

#include "core/block.h"

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
    if (dynamic_cast<detail::PoolBlock*>(&block) == nullptr) {
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
    detail::request(block.backend, kLinear, {{"bytes", block.bytes}},
                    [&] { stream.device().backend().free_async(block.address, stream.state()->handle); });
    block.alive.store(false, std::memory_order_release);
    block_.reset();
}

}  // namespace texton
