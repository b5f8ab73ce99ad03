#include <texton/symbol.h>

#include <fmt/format.h>

#include <texton/error.h>

#include "core/backend.h"
#include "core/request.h"

namespace texton {

namespace detail {
namespace {

constexpr const char* kSymbol = "texton::Symbol";

}  // namespace

SymbolLocation find_symbol(const Device& device, const void* symbol, std::size_t expected_bytes) {
    const SymbolLocation location = request(&device.backend(), kSymbol, {}, [&] {
        try {
            return device.backend().find_symbol(symbol);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::not_registered) throw;
            throw Error(
                {.code = ErrorCode::not_registered,
                 .object = {},
                 .problem = fmt::format("{} has no symbol for the variable at {}", device.name(), symbol),
                 .remedy = "Declare it __device__ or __constant__. For the CPU device, create a CpuSymbol of it.",
                 .call = error.call(),
                 .cuda_name = error.cuda_name()});
        }
    });
    if (location.bytes < expected_bytes) {
        throw Error(
            {.code = ErrorCode::bad_argument,
             .object = kSymbol,
             .problem = fmt::format("the symbol on the device has {} bytes, but the type of the variable has {}",
                                    location.bytes, expected_bytes),
             .remedy = "Pass the variable itself, with its own type.",
             .numbers = {{"bytes", location.bytes}, {"expected", expected_bytes}}});
    }
    return location;
}

View symbol_view(const Device& device, const void* symbol, SymbolLocation location, std::size_t offset,
                 std::size_t count) {
    if (count == 0 || offset > location.bytes || count > location.bytes - offset) {
        throw Error({.code = count == 0 ? ErrorCode::bad_argument : ErrorCode::out_of_bounds,
                     .object = kSymbol,
                     .problem = fmt::format("{} bytes at offset {} were requested from a symbol of {} bytes", count,
                                            offset, location.bytes),
                     .remedy = "Request at least one byte, and no bytes beyond the end.",
                     .numbers = {{"offset", offset}, {"count", count}, {"size", location.bytes}}});
    }
    MemoryLocation at;
    at.backend = &device.backend();
    at.address = location.address + offset;
    at.symbol = symbol;
    at.symbol_offset = offset;
    at.pitch = count;
    at.slice_pitch = count;
    at.kind = MemoryKind::symbol;
    at.extent = Extent{count};
    return View(std::move(at));
}

}  // namespace detail
}  // namespace texton
