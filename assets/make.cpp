// Writes the images of this folder: texton-make-assets FOLDER
#include <exception>
#include <iostream>

#include "assets/make.h"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: texton-make-assets FOLDER\n";
        return 2;
    }
    try {
        using namespace assets;
        for (const auto make : {make_card, make_flat_images, make_special_images, make_cubes_and_layers, make_levels,
                                make_blocks, make_volumes, make_frames}) {
            make(argv[1]);
        }
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
