#include "tests/faults/operations.h"

#include <chrono>

#include <texton/copy.h>
#include <texton/error.h>

#include "tests/support/arrays.h"

namespace texton::test {
namespace {

template <class CopyTo>
Bytes texels_copied(const ConstView& view, const CopyTo& copy_to) {
    Bytes bytes = own_bytes(box_bytes(view.format(), view.extent()));
    copy_to(host_view(static_cast<void*>(bytes.data()), view.format(), view.extent()));
    return bytes;
}

}  // namespace

Bytes texels_of(const ConstView& view) {
    return texels_copied(view, [&](const View& host) { copy(host, view); });
}

Bytes texels_of(const ConstView& view, const Stream& stream) {
    return texels_copied(view, [&](const View& host) {
        copy(host, view, stream);
        stream.synchronize();
    });
}

void settle(StreamedTexture& texture, const Stream& stream, std::size_t unfit) {
    for (;;) {
        const StreamingProgress progress = texture.update(stream, std::chrono::seconds(1));
        if (progress.unfit > unfit) {
            throw Error({.code = ErrorCode::out_of_memory,
                         .object = "texton::StreamedTexture",
                         .problem = std::to_string(progress.unfit) + " tiles found no memory",
                         .remedy = "Free memory.",
                         .numbers = {{"bytes", progress.unfit * kTileBytes}, {"free", 0}}});
        }
        if (progress.settled()) return;
        texture.wait_for_reads(std::chrono::milliseconds(100));
    }
}

void append(Bytes& to, std::span<const std::byte> bytes) {
    const Aside own;
    to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace texton::test
