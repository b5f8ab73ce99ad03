#include <texton/extent.h>

#include <iostream>

void extent_example() {
    const texton::Extent image{640, 480};  // the depth is 1
    const texton::Region corner{.offset = {600, 440}, .extent = {40, 40}};
    const texton::Region beyond{.offset = {601, 440}, .extent = {40, 40}};
    std::cout << to_string(image) << " contains " << to_string(corner) << ": " << contains(image, corner) << '\n'
              << to_string(image) << " contains " << to_string(beyond) << ": " << contains(image, beyond) << '\n';
}

// Prints:
// 640 x 480 contains 40 x 40 at (600, 440): 1
// 640 x 480 contains 40 x 40 at (601, 440): 0
