#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <texton/image_file.h>

#include "tests/support/dds_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"

namespace texton::test {

/// Base of suites that open DDS files, whose headers are lists of words.
class DdsFilesTest : public testing::Test {
protected:
    std::filesystem::path at(const std::string& name) const { return folder_.at(name); }
    ImageFile open(const std::vector<std::uint32_t>& words, const Bytes& texels,
                   const ImageOptions& options = {}) const {
        return open_image(write_bytes(at("a.dds"), dds::file(words, texels)), options);
    }
    void expect_refused(const std::vector<std::uint32_t>& words, const Bytes& texels, ErrorCode code,
                        std::string_view fragment) const {
        expect_error([&] { (void)open(words, texels); }, code, "texton::open_image", {"a.dds", fragment});
    }

    ImageFolder folder_;
};

}  // namespace texton::test
