#include <texton/read_options.h>

#include <iostream>

#include <texton/error.h>
#include <texton/image.h>

// Reads a file that somebody else sent: in a process of its own, with limits for its time and its memory.
void read_options_example() {
    const texton::ReadOptions untrusted{.isolated = true, .limits = {.seconds = 30, .bytes = std::size_t{1} << 30}};
    const texton::Image image = texton::read_image("card.png", untrusted);
    std::cout << to_string(image.extent) << '\n';
    try {
        (void)texton::read_image("card.png", {.isolated = true, .limits = {.bytes = 1000}});
    } catch (const texton::Error& error) {
        std::cout << name(error.code()) << '\n';
    }
}

// Prints:
// 481 x 321
// out_of_memory
