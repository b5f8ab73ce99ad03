#pragma once
// Images that the program draws.
#include <opencv2/imgproc.hpp>

/// Returns a blurred scene of disks and a frame, in the order blue, green, red.
inline cv::Mat scene(int width, int height) {
    cv::Mat image(height, width, CV_8UC3, cv::Scalar(40, 24, 16));
    cv::rectangle(image, {width / 8, height / 8}, {width - width / 8, height - height / 8}, {90, 120, 40}, 2);
    for (int i = 0; i < 4; ++i)
        cv::circle(image, {width * (2 * i + 1) / 8, height / 2}, height / 4 - 2 * i,
                   cv::Scalar(60 * i, 200, 250 - 50 * i), cv::FILLED);
    cv::GaussianBlur(image, image, {5, 5}, 1.2);
    return image;
}

/// Returns the edges of an image: 255 on an edge, 0 elsewhere.
inline cv::Mat outlines(const cv::Mat& image) {
    cv::Mat gray, edges;
    cv::cvtColor(image, gray, cv::COLOR_BGR2GRAY);
    cv::Canny(gray, edges, 40, 120);
    return edges;
}
