// Shows frames of an image until it is killed. Each texel of a frame holds the number of the frame. If TEXTON_TEST_STREAM
// is set, the frames are shown from an array, on a stream of the CPU device. TEXTON_SHOW selects the window.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <texton/array.h>
#include <texton/fill.h>
#include <texton/show.h>

using namespace texton;

int main() {
    constexpr Extent kExtent{257, 129};
    std::uint64_t frame = 0;
    if (std::getenv("TEXTON_TEST_STREAM") != nullptr) {
        const Device device = Device::cpu();
        const Stream stream(device);
        const Array array(device, {.format = Format::r32_uint, .extent = kExtent});
        while (true) {
            fill(array.view(), static_cast<std::uint32_t>(frame + 1), stream);
            const ShowResult result = show(array.view(), "counter", stream);
            if (result.outcome != ShowOutcome::no_window) frame = result.frame;  // dropped frames have numbers, too
            if (frame % 8 == 0) stream.synchronize();
        }
    }
    std::vector<std::uint32_t> texels(kExtent.width * kExtent.height);
    while (true) {
        std::fill(texels.begin(), texels.end(), static_cast<std::uint32_t>(frame + 1));
        const ShowResult result = show(host_view(texels.data(), Format::r32_uint, kExtent), "counter");
        if (result.outcome != ShowOutcome::no_window) frame = result.frame;
    }
}
