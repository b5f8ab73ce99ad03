// Messages of programs that call show().
#include "core/show/protocol.h"
#include "tests/fuzz/fuzz.h"

using namespace texton;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto message =
        fuzz::accepted([&] { return detail::parse_show_message(std::as_bytes(std::span(data, size))); });
    if (!message || message->kind != detail::ShowMessageKind::image) return 0;
    fuzz::require(!message->name.empty() && message->name.size() <= detail::kMaxShownName, "an image has a name");
    fuzz::require(packed_bytes(message->format, message->extent) > 0, "an image has texels");
    return 0;
}
