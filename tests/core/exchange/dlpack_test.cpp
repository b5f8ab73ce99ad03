#include <texton/dlpack.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include <dlpack/dlpack.h>
#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/dlpack_versioned.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/managed.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/registered.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/pages.h"
#include "tests/support/symbols.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::expect_error;
using test::same_bytes;
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

void release(DLManagedTensor* tensor) { tensor->deleter(tensor); }
using Tensor = std::unique_ptr<DLManagedTensor, decltype(&release)>;

Tensor exported(const View& view, int dimensions = 0) { return {to_dlpack(view, dimensions), &release}; }

// Imports the tensor. If from_dlpack() throws, the tensor is released here.
View imported(Tensor tensor, std::optional<Format> format = std::nullopt) {
    View view = from_dlpack(tensor.get(), format);
    (void)tensor.release();
    return view;
}

Numbers shape_of(const Tensor& tensor) {
    return {tensor->dl_tensor.shape, tensor->dl_tensor.shape + tensor->dl_tensor.ndim};
}

Numbers strides_of(const Tensor& tensor) {
    return {tensor->dl_tensor.strides, tensor->dl_tensor.strides + tensor->dl_tensor.ndim};
}

// A tensor of another library with memory that it may own. Its deleter counts calls and frees the memory.
struct Foreign {
    Foreign(DLDevice device, void* data, Numbers lengths, Numbers distances = {}) : shape(lengths), strides(distances) {
        tensor.dl_tensor.data = data;
        tensor.dl_tensor.device = device;
        tensor.dl_tensor.ndim = static_cast<int>(shape.size());
        tensor.dl_tensor.dtype = {kDLUInt, 8, 1};
        tensor.dl_tensor.shape = shape.data();
        tensor.dl_tensor.strides = strides.empty() ? nullptr : strides.data();
        tensor.manager_ctx = this;
        tensor.deleter = [](DLManagedTensor* self) {
            auto* foreign = static_cast<Foreign*>(self->manager_ctx);
            ++foreign->deleted;
            foreign->memory = Linear();
        };
    }
    Foreign(const Foreign&) = delete;
    Foreign& operator=(const Foreign&) = delete;

    Numbers shape;
    Numbers strides;
    DLManagedTensor tensor{};
    Linear memory;
    int deleted = 0;
};

class DlpackTest : public test::OnEveryDevice {
protected:
    DLDevice own() const { return {on_cpu() ? kDLCPU : kDLCUDA, device().index()}; }

    // Creates a tensor that owns device memory.
    std::unique_ptr<Foreign> foreign(std::size_t bytes, const Numbers& shape, const Numbers& strides = {}) const {
        Linear memory(device(), bytes);
        auto made = std::make_unique<Foreign>(own(), memory.data(), shape, strides);
        made->memory = std::move(memory);
        return made;
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, DlpackTest, test::every_device(), test::device_label);

TEST_P(DlpackTest, EveryPlainFormatRoundTrips) {
    for (const FormatInfo& row : formats()) {
        if (row.layout != FormatLayout::plain) continue;
        SCOPED_TRACE(row.name);
        const Pitched2D memory(device(), row.format, {21, 13});
        const test::Bytes bytes = test::pattern(packed_bytes(row.format, {21, 13}), 1);
        test::upload(memory.view(), bytes);
        Tensor tensor = exported(memory.view());

        const std::int64_t channels = row.channels;
        const auto pitch = static_cast<std::int64_t>(memory.pitch() * 8 / row.bits);
        EXPECT_EQ(shape_of(tensor), channels > 1 ? (Numbers{13, 21, channels}) : (Numbers{13, 21}));
        EXPECT_EQ(strides_of(tensor), channels > 1 ? (Numbers{pitch, channels, 1}) : (Numbers{pitch, 1}));
        EXPECT_EQ(tensor->dl_tensor.data, memory.data());
        EXPECT_EQ(tensor->dl_tensor.byte_offset, 0u);
        EXPECT_EQ(tensor->dl_tensor.dtype.bits, row.bits);
        EXPECT_EQ(tensor->dl_tensor.dtype.lanes, 1u);

        const View view = imported(std::move(tensor), row.format);
        EXPECT_EQ(view.data(), memory.data());
        EXPECT_EQ(view.format(), row.format);
        EXPECT_EQ(view.extent(), memory.extent());
        EXPECT_EQ(view.pitch(), memory.pitch());
        EXPECT_EQ(view.device(), device());
        EXPECT_TRUE(same_bytes(test::download(view), bytes));
    }
}

TEST_P(DlpackTest, WithoutAFormatTensorsAreReadAsTheirStoredType) {
    struct Case {
        Format stored;
        Format read;
        int code;
    };
    for (const Case& c :
         {Case{Format::rgba8_srgb, Format::rgba8_uint, kDLUInt}, Case{Format::r8_unorm, Format::r8_uint, kDLUInt},
          Case{Format::rg16_snorm, Format::rg16_sint, kDLInt},
          Case{Format::rgba16_float, Format::rgba16_float, kDLFloat},
          Case{Format::rg32_uint, Format::rg32_uint, kDLUInt}, Case{Format::rgba32_sint, Format::rgba32_sint, kDLInt},
          Case{Format::r32_float, Format::r32_float, kDLFloat}}) {
        SCOPED_TRACE(name(c.stored));
        const Linear memory(device(), c.stored, {5, 3});
        Tensor tensor = exported(memory.view(c.stored, {5, 3}));
        EXPECT_EQ(tensor->dl_tensor.dtype.code, c.code);
        const View view = imported(std::move(tensor));
        EXPECT_EQ(view.format(), c.read);
        EXPECT_EQ(view.extent(), (Extent{5, 3}));
    }
}

TEST_P(DlpackTest, TheNumberOfAxesFollowsTheExtentOrTheRequest) {
    const Linear memory(device(), 4096);
    const auto shape = [&](Format format, Extent extent, int dimensions) {
        return shape_of(exported(memory.view(format, extent), dimensions));
    };
    EXPECT_EQ(shape(Format::r16_unorm, {9}, 0), (Numbers{9}));
    EXPECT_EQ(shape(Format::rg16_unorm, {9}, 0), (Numbers{9, 2}));
    EXPECT_EQ(shape(Format::r16_unorm, {9}, 2), (Numbers{1, 9}));
    EXPECT_EQ(shape(Format::rgba8_unorm, {9, 5}, 3), (Numbers{1, 5, 9, 4}));
    EXPECT_EQ(shape(Format::r8_unorm, {9, 5, 3}, 0), (Numbers{3, 5, 9}));
    EXPECT_EQ(shape(Format::rg8_unorm, {9, 5, 3}, 0), (Numbers{3, 5, 9, 2}));
    EXPECT_EQ(shape(Format::r8_unorm, {9, 1, 3}, 0), (Numbers{3, 1, 9}));
    expect_error(
        [&] {
            (void)exported(memory.view(Format::r8_unorm, {9, 5, 3}), 2);
        },
        ErrorCode::bad_argument, "texton::to_dlpack", {"9 x 5 x 3", "2 axes"});
    expect_error([&] { (void)exported(memory.view(Format::r8_unorm, {9}), 4); }, ErrorCode::bad_argument,
                 "texton::to_dlpack", {"4 axes"});
    expect_error([&] { (void)exported(memory.view(Format::r8_unorm, {9}), -1); }, ErrorCode::bad_argument,
                 "texton::to_dlpack");
}

TEST_P(DlpackTest, TheNumberOfAxesOrTheFormatDeterminesTheExtent) {
    struct Case {
        Numbers shape;
        std::optional<Format> asked;
        Format format;
        Extent extent;
    };
    for (const Case& c :
         {Case{{60}, {}, Format::r8_uint, {60}}, Case{{15, 4}, {}, Format::r8_uint, {4, 15}},
          Case{{3, 5, 4}, {}, Format::rgba8_uint, {5, 3}}, Case{{6, 10, 1}, {}, Format::r8_uint, {10, 6}},
          Case{{5, 3, 2, 2}, {}, Format::rg8_uint, {2, 3, 5}}, Case{{5, 3, 4, 1}, {}, Format::r8_uint, {4, 3, 5}},
          Case{{15, 4}, Format::rgba8_unorm, Format::rgba8_unorm, {15}},
          Case{{15, 4}, Format::r8_srgb, Format::r8_srgb, {4, 15}},
          Case{{3, 5, 4}, Format::r8_unorm, Format::r8_unorm, {4, 5, 3}},
          Case{{6, 10, 1}, Format::r8_unorm, Format::r8_unorm, {10, 6}},
          Case{{5, 3, 4, 1}, Format::r8_unorm, Format::r8_unorm, {4, 3, 5}}}) {
        const auto tensor = foreign(60, c.shape);
        const View view = from_dlpack(&tensor->tensor, c.asked);
        EXPECT_EQ(view.format(), c.format) << testing::PrintToString(c.shape);
        EXPECT_EQ(view.extent(), c.extent) << testing::PrintToString(c.shape);
        EXPECT_EQ(view.pitch(), row_bytes(c.format, c.extent.width));
    }
}

TEST_P(DlpackTest, AWindowOfAVolumeKeepsItsStrides) {
    const Pitched3D memory(device(), Format::rg16_float, {33, 17, 5});
    const test::Bytes before = test::pattern(packed_bytes(memory.format(), memory.extent()), 2);
    test::upload(memory.view(), before);
    const Region window{{3, 2, 1}, {20, 11, 3}};
    Tensor tensor = exported(memory.view().region(window));
    const auto pitch = static_cast<std::int64_t>(memory.pitch() / 2);
    const auto slice = static_cast<std::int64_t>(memory.slice_pitch() / 2);
    EXPECT_EQ(shape_of(tensor), (Numbers{3, 11, 20, 2}));
    EXPECT_EQ(strides_of(tensor), (Numbers{slice, pitch, 2, 1}));

    const View view = imported(std::move(tensor));
    EXPECT_EQ(view.extent(), window.extent);
    const test::Bytes inside = test::pattern(packed_bytes(view.format(), view.extent()), 3);
    test::upload(view, inside);
    EXPECT_TRUE(same_bytes(test::download(memory.view().region(window)), inside));
    test::Bytes expected = before;
    test::reference_copy(expected, {((1 * 17 + 2) * 33 + 3) * 4, 33 * 4, 33 * 17 * 4}, inside, {0, 20 * 4, 20 * 11 * 4},
                         20 * 4, 11, 3);
    EXPECT_TRUE(same_bytes(test::download(memory.view()), expected));
}

TEST_P(DlpackTest, SlicesOfOneRowCanHavePadding) {
    const auto tensor = foreign(3 * 50, {3, 1, 20}, {50, 7, 1});
    const View view = from_dlpack(&tensor->tensor, Format::r8_uint);
    EXPECT_EQ(view.extent(), (Extent{20, 1, 3}));
    EXPECT_EQ(view.slice_pitch(), 50u);
    EXPECT_EQ(view.pitch(), 50u);  // slices are whole rows apart
    const test::Bytes bytes = test::pattern(60, 4);
    test::upload(view, bytes);
    EXPECT_TRUE(same_bytes(test::download(view), bytes));
    EXPECT_TRUE(same_bytes(test::download(borrowed_view(device(), view.data() + 100, Format::r8_uint, {20})),
                           std::span(bytes).last(20)));
}

TEST_P(DlpackTest, TensorsWithoutStridesArePackedAndTheByteOffsetIsApplied) {
    const auto tensor = foreign(100 + 2 * 3 * 4, {2, 3, 4});
    tensor->tensor.dl_tensor.byte_offset = 100;
    const View view = from_dlpack(&tensor->tensor);
    EXPECT_EQ(view.data(), static_cast<std::byte*>(tensor->tensor.dl_tensor.data) + 100);
    EXPECT_EQ(view.pitch(), 12u);
    EXPECT_EQ(view.format(), Format::rgba8_uint);
}

TEST_P(DlpackTest, StridesOfAxesOfLengthOneAreIgnored) {
    const auto tensor = foreign(30, {1, 30, 1}, {-5, 1, 0});
    const View view = from_dlpack(&tensor->tensor);
    EXPECT_EQ(view.extent(), (Extent{30, 1}));
    EXPECT_EQ(view.pitch(), 30u);
}

TEST_P(DlpackTest, TheMemoryKindSetsTheDeviceTypeOfTheTensor) {
    const auto type_of = [](const View& view) { return exported(view)->dl_tensor.device; };
    const auto expect = [&](const View& view, DLDeviceType type, MemoryKind back) {
        SCOPED_TRACE(name(view.kind()));
        EXPECT_EQ(type_of(view).device_type, on_cpu() ? kDLCPU : type);
        const View again = imported(exported(view), view.format());
        EXPECT_EQ(again.kind(), on_cpu() && back == MemoryKind::pinned    ? MemoryKind::host
                                : on_cpu() && back == MemoryKind::managed ? MemoryKind::linear
                                                                          : back);
        EXPECT_EQ(again.data(), view.data());
    };
    const Linear linear(device(), 64);
    const Pinned pinned(device(), 64);
    const test::Pages pages(1);
    const Registered registered(device(), pages.all());
    expect(linear.view(), kDLCUDA, MemoryKind::linear);
    expect(test::symbol_of(device(), 0).view(), kDLCUDA, MemoryKind::linear);
    expect(pinned.view(), kDLCUDAHost, MemoryKind::pinned);
    expect(registered.view(), kDLCUDAHost, MemoryKind::pinned);
    if (device().properties().managed_memory) {
        const Managed managed(device(), 64);
        expect(managed.view(), kDLCUDAManaged, MemoryKind::managed);
    }
    std::array<std::uint8_t, 16> numbers{};
    EXPECT_EQ(type_of(host_view(std::span(numbers))).device_type, kDLCPU);
    EXPECT_EQ(imported(exported(host_view(std::span(numbers)))).kind(), MemoryKind::host);
    EXPECT_EQ(type_of(linear.view()).device_id, device().index());
}

TEST_P(DlpackTest, ATensorKeepsTheMemoryOfItsViewAlive) {
    Linear memory(device(), 1 << 20);
    const test::Bytes bytes = test::pattern(1 << 20, 5);
    test::upload(memory.view(), bytes);
    Tensor tensor = exported(memory.view());
    memory = Linear();
    const View first = imported(std::move(tensor));
    EXPECT_TRUE(same_bytes(test::download(first), bytes));
    const View second = imported(exported(first.region({{100}, {50}})));  // a tensor of an imported view
    EXPECT_TRUE(same_bytes(test::download(second), std::span(bytes).subspan(100, 50)));
}

TEST_P(DlpackTest, MemoryIsFreedAfterTheLastViewAndTensor) {
    const std::size_t free = device().memory().free;
    {
        Tensor tensor{nullptr, &release};
        {
            const Linear memory(device(), 1 << 20);
            tensor = exported(memory.view());
        }
        if (on_cpu()) {
            EXPECT_LE(device().memory().free + (1 << 20), free);
        }
    }
    if (on_cpu()) {
        EXPECT_EQ(device().memory().free, free);
    }
}

TEST_P(DlpackTest, TheDeleterRunsOnceAfterTheLastView) {
    const auto tensor = foreign(1000, {10, 100});
    {
        std::optional<View> whole = from_dlpack(&tensor->tensor);
        std::optional<View> part = whole->region({{5, 5}, {10, 3}});
        std::optional<ConstView> copy = *part;
        const View moved = std::move(*whole);
        whole.reset();
        part.reset();
        EXPECT_EQ(tensor->deleted, 0);
        test::upload(moved, test::pattern(1000, 6));
        EXPECT_TRUE(same_bytes(test::download(*copy), test::download(moved.region({{5, 5}, {10, 3}}))));
    }
    EXPECT_EQ(tensor->deleted, 1);
}

TEST_P(DlpackTest, ATensorWithoutADeleterIsNotOwned) {
    const auto tensor = foreign(1000, {10, 100});
    tensor->tensor.deleter = nullptr;
    (void)from_dlpack(&tensor->tensor);
    EXPECT_EQ(tensor->deleted, 0);
    EXPECT_EQ(tensor->memory.bytes(), 1000u);
}

TEST_P(DlpackTest, TheDeleterRunsAfterAGraphCaptureEnds) {
    const Stream stream(device());
    const auto tensor = foreign(1000, {10, 100});
    std::optional<View> view = from_dlpack(&tensor->tensor);
    (void)Graph::capture(stream, [&] {
        view.reset();
        EXPECT_EQ(tensor->deleted, 0);
    });
    EXPECT_EQ(tensor->deleted, 1);
}

TEST_P(DlpackTest, ARefusedTensorStaysOwnedByTheCaller) {
    struct Case {
        const char* what;
        std::function<void(Foreign&)> spoil;
        ErrorCode code;
        const char* fragment;
        std::optional<Format> format{};
    };
    const auto type = [](std::uint8_t code, std::uint8_t bits, std::uint16_t lanes) {
        return [=](Foreign& f) { f.tensor.dl_tensor.dtype = {code, bits, lanes}; };
    };
    const auto shape = [](Numbers lengths, Numbers strides = {}) {
        return [=](Foreign& f) {
            f.shape = lengths;
            f.strides = strides;
            f.tensor.dl_tensor.ndim = static_cast<int>(lengths.size());
            f.tensor.dl_tensor.shape = f.shape.data();
            f.tensor.dl_tensor.strides = strides.empty() ? nullptr : f.strides.data();
        };
    };
    const auto in = [](DLDeviceType device, int index) {
        return [=](Foreign& f) { f.tensor.dl_tensor.device = {device, index}; };
    };
    const auto none = [](Foreign&) {};
    using enum ErrorCode;
    const std::vector<Case> cases{
        {"lanes", type(kDLUInt, 8, 4), unsupported, "uint8 with 4 lanes"},
        {"no lanes", type(kDLUInt, 8, 0), unsupported, "uint8 with 0 lanes"},
        {"bfloat", type(kDLBfloat, 16, 1), unsupported, "bfloat16"},
        {"complex", type(kDLComplex, 64, 1), unsupported, "complex64"},
        {"an unknown type", type(77, 8, 1), unsupported, "type 77"},
        {"bits", type(kDLUInt, 1, 1), unsupported, "uint1"},
        {"no bits", type(kDLUInt, 0, 1), unsupported, "uint0"},
        {"double", type(kDLFloat, 64, 1), unsupported, "float64"},
        {"float8", type(kDLFloat, 8, 1), unsupported, "float8"},
        {"a scalar", shape({}), unsupported, "0 axes"},
        {"five axes", shape({1, 1, 1, 1, 1}), unsupported, "5 axes"},
        {"axes that the shape lacks", [](Foreign& f) { f.tensor.dl_tensor.ndim = std::numeric_limits<int>::max(); },
         unsupported, "2147483647 axes"},
        {"no shape", [](Foreign& f) { f.tensor.dl_tensor.shape = nullptr; }, bad_argument, "no shape"},
        {"negative axes", [](Foreign& f) { f.tensor.dl_tensor.ndim = -1; }, bad_argument, "-1 axes"},
        {"an offset past all addresses",
         [](Foreign& f) { f.tensor.dl_tensor.byte_offset = std::numeric_limits<std::uint64_t>::max() - 7; }, overflow,
         "exceeds the address space"},
        {"an offset that wraps",
         [](Foreign& f) { f.tensor.dl_tensor.byte_offset = ~reinterpret_cast<std::uintptr_t>(f.memory.data()) + 2; },
         overflow, "exceeds the address space"},
        {"null", [](Foreign& f) { f.tensor.dl_tensor.data = nullptr; }, bad_argument, "null"},
        {"empty", shape({10, 0}), bad_argument, "[10, 0]"},
        {"negative", shape({10, -10}), bad_argument, "[10, -10]"},
        {"three channels", shape({3, 7, 3}), unsupported, "[3, 7, 3]"},
        {"channels first", shape({4, 7, 20}), unsupported, "[4, 7, 20]"},
        {"channels apart", shape({4, 5, 2}, {10, 1, 5}), bad_argument, "channels of a texel are 5 bytes apart"},
        {"texels apart", shape({5, 10}, {20, 2}), bad_argument, "texels of a row are 2 bytes apart"},
        {"transposed", shape({10, 5}, {1, 10}), bad_argument, "10 bytes apart"},
        {"backwards", shape({5, 10}, {-10, 1}), bad_argument, "stride -10"},
        {"broadcast", shape({5, 10}, {0, 1}), bad_argument, "stride 0"},
        {"rows that overlap", shape({5, 10}, {9, 1}), bad_argument, "less than the size of one: 10"},
        {"slices that overlap", shape({2, 3, 5, 1}, {14, 5, 1, 1}), bad_argument, "less than the size of one: 15"},
        {"slices between rows", shape({2, 3, 5, 1}, {17, 5, 1, 1}), bad_argument, "not a multiple of 5"},
        {"a stride too long", shape({3, 10}, {kMax, 1}), overflow, "height"},
        {"more bytes than addresses", shape({3, 10}, {kMax / 2, 1}), overflow, "more than an address space can have"},
        {"texels beyond the last address",
         [](Foreign& f) {
             f.shape = {kMax};
             f.tensor.dl_tensor.ndim = 1;
             f.tensor.dl_tensor.byte_offset = kMax;
         },
         overflow, "more than an address space can have"},
        {"a shape too long", shape({kMax, kMax}), overflow, "height"},
        {"a row too long", shape({1, kMax, 4}), overflow, "width"},
        {"another device", in(kDLCUDA, 99), wrong_device, "CUDA device 99"},
        {"another device's managed memory", in(kDLCUDAManaged, 99), wrong_device, "CUDA device 99"},
        {"another device's host memory", in(kDLCUDAHost, 99), wrong_device, "CUDA device 99"},
        {"another kind of device", in(kDLVulkan, 0), unsupported, "device type 7"},
        {"an unknown kind of device",
         [](Foreign& f) {
             const int type = 1000;
             std::memcpy(&f.tensor.dl_tensor.device.device_type, &type, sizeof(type));
         },
         unsupported, "device type 1000"},
        {"another type's format", none, bad_argument, "uint8 cannot be read as r8_snorm", Format::r8_snorm},
        {"a wider format", none, bad_argument, "r16_uint", Format::r16_uint},
        {"more channels", none, bad_argument, "4 channels", Format::rgba8_unorm},
        {"channels of nothing", shape({4}), bad_argument, "4 channels", Format::rgba8_unorm},
        {"fewer channels", shape({2, 2, 5, 4}), bad_argument, "1 channels", Format::r8_unorm},
        {"a packed format", type(kDLUInt, 32, 1), unsupported, "r32_uint", Format::rgb10a2_unorm},
        {"blocks", none, unsupported, "bc1_unorm", Format::bc1_unorm},
        {"planes", none, unsupported, "nv12", Format::nv12},
        {"between numbers",
         [](Foreign& f) {
             f.tensor.dl_tensor.dtype = {kDLFloat, 32, 1};
             f.tensor.dl_tensor.byte_offset = 2;
         },
         bad_argument, "not aligned"},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.what);
        const auto tensor = foreign(4096, {10, 10});
        c.spoil(*tensor);
        expect_error([&] { (void)from_dlpack(&tensor->tensor, c.format); }, c.code, "texton::from_dlpack",
                     {c.fragment});
        EXPECT_EQ(tensor->deleted, 0);
        EXPECT_EQ(tensor->memory.bytes(), 4096u);

        // A versioned tensor is consumed in any case.
        int deleted = 0;
        DLManagedTensorVersioned versioned{
            .version = {1, 0},
            .manager_ctx = &deleted,
            .deleter = [](DLManagedTensorVersioned* self) { ++*static_cast<int*>(self->manager_ctx); },
            .flags = 0,
            .dl_tensor = tensor->tensor.dl_tensor};
        expect_error([&] { (void)from_dlpack_versioned(&versioned, c.format); }, c.code, "texton::from_dlpack",
                     {c.fragment});
        EXPECT_EQ(deleted, 1);
    }
    expect_error([&] { (void)from_dlpack(nullptr); }, bad_argument, "texton::from_dlpack", {"null"});
}

TEST_P(DlpackTest, TheGpuRefusesHostMemoryAndTheCpuDeviceAcceptsIt) {
    test::Bytes host(100);
    Foreign ordinary(own(), host.data(), {100});
    if (on_cpu()) {
        const View view = from_dlpack(&ordinary.tensor);
        EXPECT_EQ(view.kind(), MemoryKind::host);
        EXPECT_FALSE(view.device());
        return;
    }
    expect_error([&] { (void)from_dlpack(&ordinary.tensor); }, ErrorCode::not_registered, "texton::from_dlpack");
    ordinary.tensor.dl_tensor.device.device_type = kDLCUDAManaged;
    expect_error([&] { (void)from_dlpack(&ordinary.tensor); }, ErrorCode::not_registered, "texton::from_dlpack");
    ordinary.tensor.dl_tensor.device.device_type = kDLCUDAHost;
    expect_error([&] { (void)from_dlpack(&ordinary.tensor); }, ErrorCode::not_registered, "texton::from_dlpack",
                 {"page-locked"});
    const Pinned pinned(device(), 4096);
    Foreign beyond({kDLCUDAHost, device().index()}, pinned.data(), {std::int64_t{1} << 30});
    expect_error([&] { (void)from_dlpack(&beyond.tensor); }, ErrorCode::not_registered, "texton::from_dlpack");
    const auto longer = foreign(4096, {std::int64_t{1} << 40});
    expect_error([&] { (void)from_dlpack(&longer->tensor); }, ErrorCode::not_registered, "texton::from_dlpack");
    EXPECT_EQ(ordinary.deleted + longer->deleted, 0);
}

TEST_P(DlpackTest, ExportingArraysAndNonPlainFormatsIsRefused) {
    const Linear memory(device(), 4096);
    struct Case {
        Format format;
        const char* remedy;
    };
    for (const Case& c : {Case{Format::rgb10a2_unorm, "r32_uint"}, Case{Format::bc7_unorm, "rgba32_uint"},
                          Case{Format::bc4_snorm, "rg32_uint"}}) {
        expect_error(
            [&] {
                (void)exported(memory.view(c.format, {8, 8}));
            },
            ErrorCode::unsupported, "texton::to_dlpack", {name(c.format), c.remedy});
    }
    const Array array(device(), {Format::r8_uint, {8, 8}});
    expect_error([&] { (void)exported(array.view()); }, ErrorCode::unsupported, "texton::to_dlpack", {"array"});
    expect_error([&] { (void)exported(View()); }, ErrorCode::bad_argument, "texton::to_dlpack");
    std::array<float, 16> numbers{};
    auto* between = reinterpret_cast<std::byte*>(numbers.data()) + 1;
    const auto floats = [&](std::byte* data, std::size_t pitch) {
        return host_view(static_cast<void*>(data), Format::r32_float, {2, 2}, pitch);
    };
    expect_error([&] { (void)exported(floats(between, 8)); }, ErrorCode::bad_argument, "texton::to_dlpack",
                 {"not aligned"});
    expect_error([&] { (void)exported(floats(between - 1, 9)); }, ErrorCode::bad_argument, "texton::to_dlpack",
                 {"rows start 9"});
}

TEST_P(DlpackTest, ExportingFreedMemoryIsRefused) {
    const Stream stream(device());
    Linear memory = Linear::async(4096, stream);
    const View view = memory.view();
    memory.free(stream);
    expect_error([&] { (void)exported(view); }, ErrorCode::released, "texton::to_dlpack");
    stream.synchronize();
}

}  // namespace
}  // namespace texton
