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

SymbolPlace find_symbol(const Device& device, const void* symbol, std::size_t expected_bytes) {
    const SymbolPlace place = request(&device.backend(), kSymbol, {}, [&] {
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
    if (place.bytes < expected_bytes) {
        throw Error(
            {.code = ErrorCode::bad_argument,
             .object = kSymbol,
             .problem = fmt::format("the symbol on the device has {} bytes, but the type of the variable has {}",
                                    place.bytes, expected_bytes),
             .remedy = "Pass the variable itself, with its own type.",
             .numbers = {{"bytes", place.bytes}, {"expected", expected_bytes}}});
    }
    return place;
}

View symbol_view(const Device& device, const void* symbol, SymbolPlace place, std::size_t offset, std::size_t count) {
    if (count == 0 || offset > place.bytes || count > place.bytes - offset) {
        throw Error({.code = count == 0 ? ErrorCode::bad_argument : ErrorCode::out_of_bounds,
                     .object = kSymbol,
                     .problem = fmt::format("{} bytes at offset {} were requested from a symbol of {} bytes", count,
                                            offset, place.bytes),
                     .remedy = "Request at least one byte, and no bytes beyond the end.",
                     .numbers = {{"offset", offset}, {"count", count}, {"size", place.bytes}}});
    }
    Place at;
    at.backend = &device.backend();
    at.address = place.address + offset;
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
