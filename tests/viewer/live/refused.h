#pragma once
#include <functional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <texton/error.h>

namespace texton::viewer {

/// Expects an Error with this code whose text contains the fragment.
inline void expect_refused(const std::function<void()>& action, ErrorCode code, std::string_view fragment) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(name(error.code()), name(code)) << error.what();
        EXPECT_NE(std::string_view(error.what()).find(fragment), std::string_view::npos)
            << "expected \"" << fragment << "\" in: " << error.what();
        return;
    }
    ADD_FAILURE() << "nothing was thrown, but expected: " << fragment;
}

}  // namespace texton::viewer
