#include <texton/image_list.h>

#include <filesystem>
#include <iostream>
#include <vector>

// Many files of which each is opened once, in their order. A damaged file concerns itself only.
void image_list_example() {
    const std::vector<std::filesystem::path> paths{"phantom_0.png", "absent.png", "phantom_1.png"};
    texton::ImageList list(paths);
    while (list.left() > 0) {
        try {
            const texton::ImageFile image = list.open_next();
            std::cout << to_string(image.info().extent) << '\n';
        } catch (const texton::Error& error) {
            std::cout << name(error.code()) << '\n';
        }
    }
}

// Prints:
// 40 x 40
// io
// 40 x 40
