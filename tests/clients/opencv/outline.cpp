// Draws a scene and its outlines: outline FOLDER
#include "outline.h"

#include <iostream>
#include <string>

#include <opencv2/imgcodecs.hpp>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: outline FOLDER\n";
        return 2;
    }
    const std::string folder = argv[1];
    const cv::Mat image = scene(96, 48);
    const bool written =
        cv::imwrite(folder + "/scene.png", image) && cv::imwrite(folder + "/outline.png", outlines(image));
    if (!written) std::cerr << "outline: the images could not be written to " << folder << '\n';
    return written ? 0 : 1;
}
