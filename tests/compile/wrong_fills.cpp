// Calls of fill() that must not compile. The comment above a call is a part of the compiler's message, which must be
// the only error of the call.
#include <texton/fill.h>

namespace texton {
namespace {

[[maybe_unused]] void wrong_calls(const View& view, const Stream& stream) {
    // Convert it to std::uint8_t, std::uint16_t or std::uint32_t, or pass the bytes of a texel
    fill(view, sizeof(int));
    // Convert it to std::uint8_t, std::uint16_t or std::uint32_t, or pass the bytes of a texel
    fill(view, 0.5f, stream);
}

}  // namespace
}  // namespace texton
