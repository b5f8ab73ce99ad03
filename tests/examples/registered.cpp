#include <texton/registered.h>

#include <iostream>
#include <span>
#include <vector>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>

void registered_example() {
    const texton::Device device = texton::Device::best();
    std::vector<std::uint8_t> bytes(std::size_t{1} << 20);  // memory of another library, for example
    const texton::Registered pinned(device, std::span(bytes));
    const texton::Linear memory(device, pinned.bytes());
    const texton::Stream stream(device);
    texton::fill(memory.view(), 7, stream);
    texton::copy(pinned.view(), memory.view(), stream);  // asynchronous, because the memory is page-locked
    stream.synchronize();
    std::cout << int{bytes.back()} << '\n';
}

// Prints:
// 7
