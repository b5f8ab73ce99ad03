#pragma once
// Assertions of GoogleTest for images: EXPECT_IMAGE and ASSERT_IMAGE. <texton/check_image.h> describes references,
// limits and environment variables.
#include <iostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <texton/check_image.h>

/// Compares an image with its references: EXPECT_IMAGE(image, "name") or EXPECT_IMAGE(image, "name", limits). A failure
/// does not end the test. The image is a View, an Array, a PlanarArray, an Image, or a vector of ConstView.
///
/// \code
/// TEST(Blur, IsSmooth) {
///     const texton::Array result = blurred(texton::Device::best());
///     EXPECT_IMAGE(result, "blur", {.max = 0.01, .ignore = "a"}) << "sigma 2";
/// }
/// \endcode
#define EXPECT_IMAGE(image, ...) TEXTON_CHECK_IMAGE_(ADD_FAILURE(), image, __VA_ARGS__)
/// Compares an image as EXPECT_IMAGE does. A failure returns from the current function, which must return void.
#define ASSERT_IMAGE(image, ...) TEXTON_CHECK_IMAGE_(GTEST_FAIL(), image, __VA_ARGS__)

/// For internal use. The loop runs once if the check failed. With an `if` instead, an `else` after the macro would belong
/// to it.
#define TEXTON_CHECK_IMAGE_(failure, image, ...)                                                           \
    for (::texton::ImageCheck texton_check = ::texton::detail::expect_image(__FILE__, image, __VA_ARGS__); \
         !texton_check.passed; texton_check.passed = true)                                                 \
    failure << texton_check.message << '\n'

namespace texton::detail {

template <class T>
ImageCheck expect_image(const char* file, const T& image, std::string_view name, const ImageLimits& limits = {}) {
    const ::testing::TestInfo* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::string test = info == nullptr ? "" : std::string(info->test_suite_name()) + '.' + info->name();
    ImageCheck check = check_image(image, name, limits, test, file);
    if (check.approved) std::cout << "[ APPROVED ] " << check.reference.string() << std::endl;
    return check;
}

}  // namespace texton::detail
