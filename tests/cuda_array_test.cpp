// Arrays of the CUDA device, at the seam: each way of copying, and point fetches.
#include <array>
#include <memory>
#include <numeric>

#include <gtest/gtest.h>

#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/stream.h>

#include "core/block.h"
#include "core/cuda_backend.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using detail::ArrayHandle;
using detail::Backend;
using detail::Box;
using detail::Place;
using detail::StreamHandle;

class CudaArrayTest : public test::OnEveryDevice {
protected:
    Backend& backend() const { return device().backend(); }
};
INSTANTIATE_TEST_SUITE_P(Devices, CudaArrayTest, testing::Values(DeviceKind::cuda), test::device_label);

class Held {
public:
    Held(Backend& backend, Format format, Extent extent)
        : backend_(backend), array_(backend.create_array(format, extent)), format_(format), extent_(extent) {}
    ~Held() { backend_.destroy_array(array_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ArrayHandle handle() const { return array_; }
    Place place(Offset at, Extent extent) const {
        Place out;
        out.backend = &backend_;
        out.array = array_;
        out.array_offset = at;
        out.kind = MemoryKind::array;
        out.format = format_;
        out.extent = extent;
        return out;
    }
    Place place() const { return place({}, extent_); }

private:
    Backend& backend_;
    ArrayHandle array_;
    Format format_;
    Extent extent_;
};

Box box_of(Format format, Extent extent) { return {row_bytes(format, extent.width), extent.height, 1}; }

TEST_P(CudaArrayTest, HoldsWhatWasCopiedFromEverywhereWithAndWithoutAStream) {
    constexpr Format kFormat = Format::rgba8_unorm;
    constexpr Extent kExtent{37, 11};
    const Stream stream(device());
    const StreamHandle handle = stream.state()->handle;
    for (const StreamHandle* on : {static_cast<const StreamHandle*>(nullptr), &handle}) {
        const Held array(backend(), kFormat, kExtent);
        const Held second(backend(), kFormat, kExtent);
        const Pitched2D pitched(device(), kFormat, kExtent);
        const test::Bytes written = test::pattern(packed_bytes(kFormat, kExtent), on == nullptr ? 1 : 2);
        test::Bytes read(written.size());
        const View from = host_view(const_cast<std::byte*>(written.data()), kFormat, kExtent);
        const View to = host_view(read.data(), kFormat, kExtent);
        const Place all = array.place();
        const Place copied = second.place();
        const Box box = box_of(kFormat, kExtent);
        backend().copy({&all, &from.place(), box}, on);  // host to array
        backend().copy({&copied, &all, box}, on);        // array to array
        const View device_view = pitched.view();
        backend().copy({&device_view.place(), &copied, box}, on);  // array to device memory
        backend().copy({&all, &device_view.place(), box}, on);     // device memory to array
        backend().copy({&to.place(), &all, box}, on);              // array to host
        stream.synchronize();
        EXPECT_TRUE(test::same_bytes(read, written)) << (on == nullptr ? "without a stream" : "on a stream");
    }
}

TEST_P(CudaArrayTest, APartIsWhereItsOffsetSays) {
    constexpr Format kFormat = Format::r16_uint;
    constexpr Extent kExtent{16, 8};
    const Held array(backend(), kFormat, kExtent);
    test::Bytes image = test::pattern(packed_bytes(kFormat, kExtent), 5);
    const View whole = host_view(image.data(), kFormat, kExtent);
    const Place all = array.place();
    backend().copy({&all, &whole.place(), box_of(kFormat, kExtent)}, nullptr);

    constexpr Extent kPart{5, 3};
    const Place part = array.place({3, 2, 0}, kPart);
    test::Bytes patch = test::pattern(packed_bytes(kFormat, kPart), 6);
    const View patch_view = host_view(patch.data(), kFormat, kPart);
    backend().copy({&part, &patch_view.place(), box_of(kFormat, kPart)}, nullptr);
    test::reference_copy(image, {2 * 32 + 3 * 2, 32, 0}, patch, {0, 10, 0}, 10, 3, 1);

    test::Bytes read(image.size());
    const View to = host_view(read.data(), kFormat, kExtent);
    backend().copy({&to.place(), &all, box_of(kFormat, kExtent)}, nullptr);
    EXPECT_TRUE(test::same_bytes(read, image));
}

// The CPU device's fetches are the definition.
TEST_P(CudaArrayTest, PointFetchesAreThoseOfTheCpuDevice) {
    constexpr Extent kExtent{9, 5};
    std::vector<float> coordinates;
    for (int y = -1; y <= 5; ++y) {
        for (int x = -1; x <= 9; ++x) {
            coordinates.push_back(static_cast<float>(x) + 0.5f);
            coordinates.push_back(static_cast<float>(y) + 0.25f);
        }
    }
    Backend& cpu = Device::cpu().backend();
    for (const FormatInfo& row : formats()) {
        if (row.layout != FormatLayout::plain && row.layout != FormatLayout::packed) continue;
        SCOPED_TRACE(std::string(row.name));
        test::Bytes texels = test::pattern(packed_bytes(row.format, kExtent), 9);
        if (row.kind == FormatKind::floating) {  // 0x3C in every high byte: neither infinite nor NaN
            for (std::size_t i = row.bits / 8u - 1; i < texels.size(); i += row.bits / 8u) texels[i] = std::byte{0x3C};
        }
        const View source = host_view(texels.data(), row.format, kExtent);
        std::array<std::vector<float>, 2> results;
        for (std::size_t i = 0; i < 2; ++i) {
            Backend& runs = i == 0 ? backend() : cpu;
            const Held array(runs, row.format, kExtent);
            const Place all = array.place();
            runs.copy({&all, &source.place(), box_of(row.format, kExtent)}, nullptr);
            const detail::TextureHandle texture = runs.create_texture(array.handle(), row.format);
            results[i].resize(coordinates.size() * 2);
            runs.sample(texture, row.format, coordinates, results[i]);
            runs.destroy_texture(texture);
        }
        EXPECT_EQ(results[0], results[1]);
    }
}

TEST_P(CudaArrayTest, AnImpossibleArrayIsRefusedByName) {
    try {
        backend().destroy_array(backend().create_array(Format::r8_uint, {std::size_t{1} << 20, 4}));
        FAIL() << "a texture of a million texels across was made";
    } catch (const Error& error) {
        EXPECT_EQ(error.call(), "cudaMallocArray");
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
    }
}

}  // namespace
}  // namespace texton
