#include "tests/faults/operations.h"

#include <texton/copy.h>

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

void append(Bytes& to, std::span<const std::byte> bytes) {
    const Aside own;
    to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace texton::test
