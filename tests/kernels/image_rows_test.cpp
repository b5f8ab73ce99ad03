// Every named kernel computes some rows of its image with the bits that they have in the whole image, and writes no
// other rows.
#include "kernels/launch/image_rows.h"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/filter.h>
#include <texton/kernel.h>
#include <texton/linear.h>
#include <texton/resample.h>

#include "arrays/row_range.h"
#include "kernels/launch/rows_read.h"
#include "tests/support/expect_error.h"
#include "tests/support/kernel_experiments.h"
#include "tests/support/on_every_device.h"

namespace texton::detail {
namespace {

using test::Bytes;

constexpr std::byte kUnwritten{0xab};

/// A kernel with its textures and the memory of its image.
class Image {
public:
    Image(const Device& device, const Kernel& kernel, const test::KernelValues& values, std::vector<Texture> textures)
        : kernel_(kernel),
          arguments_(kernel.info, values),
          textures_(std::move(textures)),
          stream_(device),
          shape_(shapes(kernel, arguments_, textures_).at(0)),
          memory_(device, shape_.format, shape_.extent) {}

    std::size_t height() const { return shape_.extent.height; }
    std::size_t pitch() const { return row_bytes(shape_.format, shape_.extent.width); }
    std::size_t slices() const { return shape_.extent.depth; }

    /// Computes rows and returns all bytes of the image. Rows that were not computed have the bytes kUnwritten.
    Bytes compute(RowRange rows) {
        const View image = memory_.view(shape_.format, shape_.extent);
        copy(memory_.view(), host_view(std::span<const std::byte>(unwritten())));
        const ImageRows limit{image.data(), rows.first, rows.count()};
        {
            const ImageRowsScope scope({&limit, 1});
            enqueue(kernel_, stream_, {&image, 1}, arguments_, textures_);
        }
        stream_.synchronize();
        return test::download(memory_.view());
    }

    /// Returns the bytes that compute() should return.
    Bytes expected(const Bytes& whole, RowRange rows) const {
        Bytes all = unwritten();
        for (std::size_t z = 0; z < slices(); ++z) {
            const auto first = static_cast<std::ptrdiff_t>((z * height() + rows.first) * pitch());
            std::copy_n(whole.begin() + first, rows.count() * pitch(), all.begin() + first);
        }
        return all;
    }

private:
    Bytes unwritten() const { return Bytes(memory_.bytes(), kUnwritten); }

    const Kernel& kernel_;
    Arguments arguments_;
    std::vector<Texture> textures_;
    Stream stream_;
    ImageShape shape_;
    Linear memory_;
};

/// Makes the 2D inputs high enough for several tiles of pixels of every CUDA kernel.
test::KernelExperiment higher(test::KernelExperiment experiment) {
    for (ArrayInfo& info : experiment.inputs) {
        const bool has_levels = info.levels > 1;
        if (info.extent == Extent{24, 20}) info.extent.height = 300;
        if (info.extent == Extent{12, 10}) info.extent.height = 150;
        if (has_levels) info.levels = full_levels(info);
    }
    return experiment;
}

/// The rows are as many as three calls compute, or the upper half of a low image.
std::vector<RowRange> parts_of(std::size_t height) {
    if (height <= kRowAlignment) return {{0, (height + 1) / 2}};
    std::vector<RowRange> parts;
    for (std::size_t first = 0; first < height; first += kRowAlignment)
        parts.push_back({first, std::min(first + kRowAlignment, height)});
    parts.back().end = parts.back().first + (parts.back().count() + 1) / 2;
    return parts;
}

class EveryKernelInRowsTest : public testing::TestWithParam<std::tuple<DeviceKind, std::string>> {};

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Kernel& kernel : kernels()) all.push_back(kernel.info.name);
    return all;
}
INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernelInRowsTest,
                         testing::Combine(test::every_device(), testing::ValuesIn(names())), [](const auto& info) {
                             return std::string(std::get<0>(info.param) == DeviceKind::cpu ? "cpu_" : "cuda_") +
                                    std::get<1>(info.param);
                         });

TEST_P(EveryKernelInRowsTest, RowsHaveTheBitsOfTheWholeImage) {
    const auto& [kind, kernel_name] = GetParam();
    if (kind == DeviceKind::cuda && !Device::why_no_cuda().empty()) {
        ASSERT_FALSE(test::gpu_required()) << Device::why_no_cuda();
        GTEST_SKIP() << Device::why_no_cuda();
    }
    const Device device = kind == DeviceKind::cpu ? Device::cpu() : Device::cuda();
    const Kernel& kernel = kernel_named(kernel_name);
    const std::vector<test::KernelExperiment> all = test::kernel_experiments(kernel.info);
    std::size_t made = 0, different = 0, refused = 0;
    for (std::size_t i = 0; i < all.size(); i += 3) {
        test::KernelExperiment experiment = higher(all[i]);
        if (kernel_name == "mips") experiment.values["level_count"] = 1.0;
        if (why_not_in_rows(kernel, Arguments(kernel.info, experiment.values)) != nullptr) {
            ++refused;
            continue;
        }
        Bytes whole;
        std::unique_ptr<Image> image;
        try {
            std::vector<Texture> textures;
            for (std::size_t input = 0; input < experiment.inputs.size(); ++input)
                textures.emplace_back(
                    test::random_array(device, experiment.inputs[input], static_cast<unsigned>(input) + 1),
                    test::sampler_for(experiment, experiment.inputs[input].kind));
            image = std::make_unique<Image>(device, kernel, experiment.values, textures);
            whole = image->compute({0, image->height()});
        } catch (const Error& error) {
            if (error.code() == ErrorCode::device_failure || error.code() == ErrorCode::device_lost) throw;
            const bool is_mirrored = std::string(error.what()).find("mirrored rows") != std::string::npos;
            refused += is_mirrored;
            continue;
        }
        for (const RowRange rows : parts_of(image->height())) {
            ++made;
            const testing::AssertionResult same = test::same_bytes(image->compute(rows), image->expected(whole, rows));
            if (same) continue;
            if (++different > 3) continue;
            ADD_FAILURE() << describe(experiment) << "\nrows " << rows.first << " to " << rows.end << ": "
                          << same.message();
        }
    }
    EXPECT_EQ(different, 0U) << "of " << made;
    EXPECT_GT(made + refused, 0U);
}

class ImageRowsTest : public test::OnEveryDevice {
protected:
    /// Computes a large image as a whole and in rows, and compares the results.
    void compare(const std::string& name, const test::KernelValues& values, const ArrayInfo& info,
                 const Sampler& sampler = {}) {
        SCOPED_TRACE(name + " of " + test::describe(info));
        const Kernel& kernel = kernel_named(name);
        Image image(device(), kernel, values, {Texture(test::random_array(device(), info, 5), sampler)});
        const Bytes whole = image.compute({0, image.height()});
        for (const RowRange rows : {RowRange{0, 256}, RowRange{256, 300}, RowRange{384, image.height()}})
            EXPECT_TRUE(test::same_bytes(image.compute(rows), image.expected(whole, rows)))
                << rows.first << " to " << rows.end;
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, ImageRowsTest, test::every_device(), test::device_label);

TEST_P(ImageRowsTest, KernelsForLargeImagesStartAtAnyMultipleOfTheAlignment) {
    const auto info = [](Format format) { return ArrayInfo{.format = format, .extent = {300, 500}}; };
    for (const Format format : {Format::rgba32_float, Format::rgba8_unorm, Format::r16_unorm, Format::rg8_unorm}) {
        compare("gaussian", {{"sigma", 3.0}, {"radius", 8.0}}, info(format));
        compare("gaussian", {{"sigma", 1.0}, {"radius", 2.0}}, info(format));
        compare("unsharp", {{"sigma", 2.0}}, info(format));
        compare("median", {}, info(format));
        compare("resample", {{"filter", std::string("catmull_rom")}}, info(format));
        compare("resample", {{"filter", std::string("area")}, {"crop", std::vector<double>{3.5, 7, 80, 90}}},
                info(format));
        compare("resample", {{"filter", std::string("lanczos3")}}, info(format));
        compare("exposure", {{"stops", 0.5}}, info(format));
        compare("transfer", {}, info(format));
    }
}

TEST_P(ImageRowsTest, OnCudaRowsThatBlocksOfThreadsCannotStartAtAreRefused) {
    if (on_cpu()) GTEST_SKIP() << "the CPU device starts at any row: the test runs on the CUDA device";
    const ArrayInfo info{.format = Format::r8_unorm, .extent = {40, 300}};
    Image image(device(), kernel_named("median"), {}, {Texture(test::random_array(device(), info, 5))});
    test::expect_error(
        [&] {
            image.compute({100, 200});
        },
        ErrorCode::unsupported, "texton::median", {"100 rows from row 100", "300 rows"});
}

}  // namespace
}  // namespace texton::detail
