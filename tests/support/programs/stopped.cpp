// Calls stop_here() with texels in host memory and in an array of the CPU device, which a debugger shows.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <texton/array.h>
#include <texton/fill.h>

using namespace texton;

extern "C" [[gnu::noinline]] void stop_here(const std::uint32_t* pixels, const View* view) {
    std::printf("%p %p\n", static_cast<const void*>(pixels), static_cast<const void*>(view));
}

int main() {
    std::vector<std::uint32_t> pixels(6 * 4, 7);
    const Array array(Device::cpu(), {.format = Format::r32_uint, .extent = {5, 3}});
    fill(array.view(), std::uint32_t{9});
    const View view = array.view();
    stop_here(pixels.data(), &view);
}
