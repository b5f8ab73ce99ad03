#include <texton/total_statistics.h>

#include <iostream>

#include <texton/image_load.h>
#include <texton/linear.h>

// Statistics of an image in several parts, here files. The sums are exact, so the order of the parts does not matter.
void total_statistics_example() {
    const texton::Device device = texton::Device::best();
    const texton::Stream stream(device);
    const texton::Linear memory(device, sizeof(texton::Statistics));
    texton::TotalStatistics total;
    for (const char* file : {"phantom_0.png", "phantom_1.png", "phantom_2.png", "phantom_3.png"}) {
        const texton::Array part = texton::load(device, texton::open_image(file));
        texton::collect_statistics(stream, memory.view(), texton::Texture(part));
        total.add(texton::read_statistics(stream, memory.view()));
    }
    std::cout << total.finite[0] << " values from " << total.lowest(0) << " to " << total.highest(0) << ", mean "
              << total.mean(0) << '\n';
}

// Prints:
// 6400 values from 0.000366217 to 0.0385138, mean 0.00650413
