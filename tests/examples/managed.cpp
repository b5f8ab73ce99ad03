#include <texton/managed.h>

#include <iostream>

#include <texton/fill.h>
#include <texton/location.h>

void managed_example() {
    const texton::Device device = texton::Device::best();
    if (!device.properties().managed_memory) return;
    const texton::Managed memory(device, 1 << 20);
    memory.advise(texton::Advice::set_preferred_location, texton::Location::host());
    const texton::Stream stream(device);
    texton::fill(memory.view(), 42, stream);
    stream.synchronize();
    const bool stays = memory.preferred_location() == texton::Location::host();
    std::cout << std::to_integer<int>(memory.data()[1000]) << ", read by the host"
              << (stays ? ", where the memory should be\n" : "\n");
}

// Prints:
// 42, read by the host, where the memory should be
