// The functions of the program, whose images are compared in memory.
#include "outline.h"

#include <texton/expect_image.h>

namespace {

/// Returns a view of a gray image. It does not keep the image alive.
texton::ConstView view_of(const cv::Mat& gray) {
    return texton::host_view(gray.data, texton::Format::r8_unorm,
                             {static_cast<std::size_t>(gray.cols), static_cast<std::size_t>(gray.rows)}, gray.step);
}

}  // namespace

TEST(Outline, SceneIsDrawn) {
    cv::Mat image;
    cv::cvtColor(scene(64, 32), image, cv::COLOR_BGR2RGBA);
    const texton::ConstView view = texton::host_view(image.data, texton::Format::rgba8_srgb, {64, 32}, image.step);
    EXPECT_IMAGE(view, "scene", {.ulp = 1, .ignore = "a"});
}

TEST(Outline, EdgesAreThin) {
    const cv::Mat edges = outlines(scene(64, 32));
    ASSERT_IMAGE(view_of(edges), "edges", {.share = 0.01});
}

TEST(Outline, EdgesOfAPartAreThoseOfTheWhole) {
    const cv::Mat edges = outlines(scene(64, 32));
    EXPECT_IMAGE(view_of(edges(cv::Rect(16, 8, 32, 16))), "part of the edges", {.share = 0.01});
}
