#include <texton/check_image.h>

#include <cstdlib>
#include <iostream>

#include <texton/array.h>
#include <texton/fill.h>

void check_image_example() {
    texton::set_image_references("references");
    const texton::Array image(texton::Device::best(), {.format = texton::Format::r8_unorm, .extent = {64, 48}});
    texton::fill(image.view(), 128);
    std::cout << (texton::check_image(image, "gray") ? "" : "nobody has approved the image yet\n");

    setenv("TEXTON_UPDATE_REFERENCES", "1", 1);  // usually set in the shell, for a run that approves
    std::cout << (texton::check_image(image, "gray").approved ? "approved\n" : "");
    unsetenv("TEXTON_UPDATE_REFERENCES");

    texton::fill(image.view({.region = texton::Region{{10, 10}, {2, 2}}}), 130);
    std::cout << texton::check_image(image, "gray", {.ulp = 2}).passed << texton::check_image(image, "gray").passed
              << '\n';
}

// Prints:
// nobody has approved the image yet
// approved
// 10
