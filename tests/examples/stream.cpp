#include <texton/stream.h>

#include <iostream>
#include <vector>

void stream_example() {
    const texton::Device device = texton::Device::best();
    const texton::Stream first(device), second(device);
    const texton::Event produced(device);
    std::vector<int> numbers;
    first.run([&] { numbers.push_back(1); });
    produced.record(first);
    second.wait(produced);  // orders the streams; the host does not wait
    second.run([&] { numbers.push_back(2); });
    second.synchronize();
    std::cout << numbers[0] << ' ' << numbers[1] << (produced.done() && second.idle() ? " in order\n" : "\n");
}

// Prints:
// 1 2 in order
