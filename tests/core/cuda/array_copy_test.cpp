// Copies and fills of arrays through the backend: compares Texton's kernels with the CUDA runtime's own copies, and
// tests the requests that Texton passes to the driver.
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/planar_array.h>

#include "core/block.h"
#include "core/cuda/array_copy.h"
#include "tests/support/cuda_arrays.h"
#include "tests/support/gate.h"

namespace texton {
namespace {

using detail::ArrayBacking;
using detail::Box;
using detail::MemoryLocation;
using detail::StreamHandle;
using test::box_of;
using test::Bytes;
using test::HeldArray;
using test::Rows;

class CudaArrayCopyTest : public test::OnCudaArrays {};
INSTANTIATE_TEST_SUITE_P(Devices, CudaArrayCopyTest, testing::Values(DeviceKind::cuda), test::device_label);

TEST_P(CudaArrayCopyTest, KernelCopiesBetweenArraysAndMemoryMatchTheDriver) {
    test::Random random(11);
    int by_kernel = 0;
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::kTexels) {
            const HeldArray array(backend(), test::info_of(kind, format, 3));
            const std::size_t texel = info(format).bytes;
            for (int round = 0; round < 24; ++round) {
                const int level = round % 3;
                const Region region =
                    round < 3 ? array.whole(level) : test::random_region(random, format, array.whole(level).extent);
                const std::size_t alignment = round % 4 == 0 ? 1 : round % 4 == 1 ? texel : round % 4 == 2 ? 4 : 16;
                const Box box = box_of(format, region.extent);
                const Rows rows = Rows::loose(random, box, alignment);
                SCOPED_TRACE(fmt::format("{}, level {}, {}, rows from {} on, {} and {} apart",
                                         test::describe(array.info()), level, to_string(region), rows.offset,
                                         rows.pitch, rows.slice_pitch));
                Bytes texels =
                    test::pattern(test::box_bytes(format, array.whole(level).extent), random.bits() & 0xFFFF);
                Bytes bytes = test::pattern(rows.bytes, random.bits() & 0xFFFF);
                const Linear memory(device(), rows.bytes);
                write(array, level, texels);
                write(memory, bytes);
                const MemoryLocation in_array = array.location(level, region);
                const MemoryLocation in_memory = rows.location(memory, backend(), format, region.extent);
                const test::Layout layout = layout_in(array, level, region.offset);
                if (round % 2 == 0) {
                    const detail::CopyRequest request{&in_memory, &in_array, box};
                    if (!copy_by_kernel(backend(), request, nullptr)) continue;
                    test::reference_copy(bytes, rows.layout(), texels, layout, box.row_bytes, box.rows, box.slices);
                    ASSERT_TRUE(test::same_bytes(read(memory), bytes)) << "array to memory";
                } else {
                    const detail::CopyRequest request{&in_array, &in_memory, box};
                    if (!copy_by_kernel(backend(), request, nullptr)) continue;
                    test::reference_copy(texels, layout, bytes, rows.layout(), box.row_bytes, box.rows, box.slices);
                    ASSERT_TRUE(test::same_bytes(read(array, level), texels)) << "memory to array";
                }
                ++by_kernel;
            }
        }
    }
    EXPECT_GT(by_kernel, 600);
}

TEST_P(CudaArrayCopyTest, KernelCopiesBetweenArraysOfAllKindsMatchTheDriver) {
    test::Random random(12);
    for (const Format format : test::kTexels) {
        for (const ArrayKind to_kind : test::all_kinds()) {
            for (const ArrayKind from_kind : test::all_kinds()) {
                const HeldArray to(backend(), test::info_of(to_kind, format, 1));
                const HeldArray from(backend(), test::info_of(from_kind, format, 2));
                for (const int level : {0, 1}) {
                    const Extent a = to.whole(0).extent;
                    const Extent b = from.whole(level).extent;
                    const Extent maximum{std::min(a.width, b.width), std::min(a.height, b.height),
                                         std::min(a.depth, b.depth)};
                    const Extent size = test::random_region(random, format, maximum).extent;
                    const Region there = test::random_region(random, format, a, size);
                    const Region here = test::random_region(random, format, b, size);
                    SCOPED_TRACE(fmt::format("{} {} from {} {}", name(to_kind), to_string(there), name(from_kind),
                                             to_string(here)));
                    Bytes expected = test::pattern(test::box_bytes(format, a), random.bits() & 0xFFFF);
                    Bytes source = test::pattern(test::box_bytes(format, b), random.bits() & 0xFFFF);
                    write(to, 0, expected);
                    write(from, level, source);
                    const MemoryLocation destination = to.location(0, there);
                    const MemoryLocation origin = from.location(level, here);
                    const Box box = box_of(format, size);
                    ASSERT_TRUE(copy_by_kernel(backend(), {&destination, &origin, box}, nullptr));
                    test::reference_copy(expected, layout_in(to, 0, there.offset), source,
                                         layout_in(from, level, here.offset), box.row_bytes, box.rows, box.slices);
                    ASSERT_TRUE(test::same_bytes(read(to, 0), expected));
                }
            }
        }
    }
}

TEST_P(CudaArrayCopyTest, ARegionIsCopiedWithinTheSameArray) {
    const HeldArray array(backend(), test::info_of(ArrayKind::array_2d, Format::r8_uint, 1));
    for (const std::size_t shift : {1u, 2u, 4u, 8u, 16u, 21u}) {
        Bytes expected = test::pattern(53 * 39, static_cast<unsigned>(shift));
        write(array, 0, expected);
        const Extent size{shift + 5, 17};
        const MemoryLocation to = array.location(0, {{0, 20}, size});
        const MemoryLocation from = array.location(0, {{shift, 1}, size});
        ASSERT_TRUE(copy_by_kernel(backend(), {&to, &from, box_of(Format::r8_uint, size)}, nullptr));
        const Bytes source = expected;
        test::reference_copy(expected, {20 * 53, 53, 0}, source, {53 + shift, 53, 0}, size.width, size.height, 1);
        EXPECT_TRUE(test::same_bytes(read(array, 0), expected)) << shift;
    }
}

TEST_P(CudaArrayCopyTest, KernelsRefuseMemoryOutOfTheirReach) {
    const ArrayInfo info = test::info_of(ArrayKind::array_2d, Format::r32_uint, 1);
    const HeldArray array(backend(), info);
    const Box box = box_of(info.format, info.extent);
    const MemoryLocation in_array = array.location(0, array.whole(0));
    const auto refused = [&](const MemoryLocation& other) {
        EXPECT_FALSE(copy_by_kernel(backend(), {&in_array, &other, box}, nullptr));
        EXPECT_FALSE(copy_by_kernel(backend(), {&other, &in_array, box}, nullptr));
    };
    Bytes host(packed_bytes(info));
    refused(host_view(static_cast<void*>(host.data()), info.format, info.extent).location());
    const HeldArray blocks(backend(), {.format = Format::bc1_unorm, .extent = {52, 36}});
    EXPECT_FALSE(blocks.cuda().has_surfaces);
    refused(blocks.location(0, {{}, {52, 36}}));
    const HeldArray sparse(backend(), info, ArrayBacking::sparse);
    EXPECT_FALSE(sparse.cuda().has_surfaces);
    refused(sparse.location(0, sparse.whole(0)));
    const Linear memory(device(), packed_bytes(info) + 1);
    Rows odd = Rows::packed(box);
    odd.offset = 1;  // offset of one byte with 4-byte texels
    refused(odd.location(memory, backend(), info.format, info.extent));
}

TEST_P(CudaArrayCopyTest, TheDriverCopiesArraysWithoutKernelSupport) {
    test::Random random(13);
    const ArrayInfo infos[] = {
        {.format = Format::bc1_unorm, .extent = {53, 39}, .levels = 5},
        {.format = Format::bc7_srgb, .extent = {53, 39}, .kind = ArrayKind::layered_2d, .layers = 3, .levels = 4},
        {.format = Format::bc4_snorm, .extent = {37, 21, 6}, .kind = ArrayKind::array_3d, .levels = 3},
        {.format = Format::bc6h_ufloat, .extent = {30, 30}, .kind = ArrayKind::cubemap_layered, .layers = 2},
    };
    const Stream stream(device());
    const StreamHandle handle = stream.state()->handle;
    for (const ArrayInfo& info : infos) {
        const HeldArray array(backend(), info);
        const HeldArray other(backend(), info);
        for (int round = 0; round < 12; ++round) {
            const int level = round % info.levels;
            const StreamHandle* on = round % 2 == 0 ? nullptr : &handle;
            const Extent all = array.whole(level).extent;
            const Region region = round == 0 ? array.whole(level) : test::random_region(random, info.format, all);
            const Box box = box_of(info.format, region.extent);
            const Rows rows = Rows::loose(random, box, 16);
            SCOPED_TRACE(fmt::format("{}, level {}, {}", test::describe(info), level, to_string(region)));
            test::ReferenceArray reference(info, static_cast<unsigned>(round));
            const MemoryLocation level_of_array = array.location(level, {{}, all});
            const MemoryLocation level_of_other = other.location(level, {{}, all});
            const Box whole = box_of(info.format, all);
            const View initial = host_view(const_cast<std::byte*>(reference.level(level).data()), info.format, all);
            backend().copy({&level_of_array, &initial.location(), whole}, on);
            const Bytes bytes = test::pattern(rows.bytes, 5);
            const Linear memory(device(), rows.bytes);
            write(memory, bytes);
            Bytes texels(test::box_bytes(info.format, region.extent));
            const Rows packed = Rows::packed(box);
            test::reference_copy(texels, packed.layout(), bytes, rows.layout(), box.row_bytes, box.rows, box.slices);
            const MemoryLocation in_memory = rows.location(memory, backend(), info.format, region.extent);
            const MemoryLocation in_array = array.location(level, region);
            backend().copy({&in_array, &in_memory, box}, on);  // memory to array
            reference.write(level, region, texels);
            backend().copy({&level_of_other, &level_of_array, whole}, on);  // array to array
            Bytes seen(reference.level(level).size());
            const View to = host_view(static_cast<void*>(seen.data()), info.format, all);
            backend().copy({&to.location(), &level_of_other, whole}, on);  // array to host
            stream.synchronize();
            ASSERT_TRUE(test::same_bytes(seen, reference.level(level)));
        }
    }
}

TEST_P(CudaArrayCopyTest, PlanesAreCopiedWithAndWithoutAStream) {
    const Stream stream(device());
    struct Case {
        Format format;
        Extent extent;
    };
    std::vector<Case> cases;
    for (const Format format : {Format::nv12, Format::p010, Format::p016, Format::nv16}) {
        for (const Extent extent : {Extent{34, 22}, {38, 14}, {130, 64}, {66, 128}, {270, 130}, {1922, 1084}})
            cases.push_back({format, extent});
    }
    for (const auto& [format, extent] : cases) {
        SCOPED_TRACE(std::string(name(format)) + " " + to_string(extent));
        const PlanarArray a(device(), format, extent);
        const PlanarArray b(device(), format, extent);
        for (const bool streamed : {false, true}) {
            const Bytes image = test::pattern(packed_bytes(format, extent), streamed ? 8 : 7);
            Bytes seen(image.size());
            const Frame from = host_frame(const_cast<std::byte*>(image.data()), format, extent);
            const Frame to = host_frame(seen.data(), format, extent);
            if (streamed) {
                copy(a.frame(), from, stream);
                copy(b.frame(), a.frame(), stream);
                copy(to, b.frame(), stream);
                stream.synchronize();
            } else {
                copy(a.frame(), from);
                copy(b.frame(), a.frame());
                copy(to, b.frame());
            }
            EXPECT_TRUE(test::same_bytes(seen, image));
        }
    }
}

TEST_P(CudaArrayCopyTest, LargePageableCopiesWorkForArraysOfEveryKind) {
    const ArrayInfo infos[] = {
        {.format = Format::rgba8_unorm, .extent = {30000}, .kind = ArrayKind::layered_1d, .layers = 100},
        {.format = Format::r16_uint, .extent = {3001, 2003}},
        {.format = Format::r32_float, .extent = {203, 151, 97}, .kind = ArrayKind::array_3d},
        {.format = Format::rgba16_float, .extent = {301, 301}, .kind = ArrayKind::cubemap_layered, .layers = 2},
        {.format = Format::bc1_unorm, .extent = {2050, 1030}, .kind = ArrayKind::layered_2d, .layers = 12},
        {.format = Format::bc7_unorm, .extent = {4100, 4098}},
    };
    const Stream stream(device());
    for (const ArrayInfo& info : infos) {
        SCOPED_TRACE(test::describe(info));
        const Array array(device(), info);
        const View view = array.view();
        const Bytes bytes = test::pattern(packed_bytes(info.format, view.extent()), 21);
        Bytes seen(bytes.size());
        copy(view, host_view(static_cast<const void*>(bytes.data()), info.format, view.extent()), stream);
        copy(host_view(static_cast<void*>(seen.data()), info.format, view.extent()), view, stream);
        stream.synchronize();
        EXPECT_TRUE(test::same_bytes(seen, bytes));
    }
}

TEST_P(CudaArrayCopyTest, FillsWriteOnlyTheirRegion) {
    test::Random random(14);
    const Stream stream(device());
    const StreamHandle handle = stream.state()->handle;
    constexpr Format kFormats[] = {Format::r8_uint,      Format::rg8_unorm, Format::rgba8_srgb, Format::rgba16_float,
                                   Format::rgba32_float, Format::bc4_unorm, Format::bc3_unorm};
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : kFormats) {
            if (!test::has_arrays(kind, format)) continue;
            const ArrayInfo info = test::info_of(kind, format, 2);
            const HeldArray array(backend(), info);
            for (int round = 0; round < 6; ++round) {
                const int level = round % 2;
                const StreamHandle* on = round % 3 == 0 ? nullptr : &handle;
                const Extent all = array.whole(level).extent;
                const Region region = round == 0 ? array.whole(level) : test::random_region(random, format, all);
                SCOPED_TRACE(fmt::format("{}, level {}, {}", test::describe(info), level, to_string(region)));
                test::ReferenceArray reference(info, static_cast<unsigned>(round));
                const MemoryLocation whole = array.location(level, {{}, all});
                const View initial = host_view(const_cast<std::byte*>(reference.level(level).data()), format, all);
                backend().copy({&whole, &initial.location(), box_of(format, all)}, nullptr);
                const std::size_t bytes = texton::info(format).bytes;
                const Bytes texel = test::pattern(bytes, static_cast<unsigned>(round) + 100);
                const MemoryLocation part = array.location(level, region);
                detail::FillRequest request{.destination = &part, .box = box_of(format, region.extent)};
                std::copy(texel.begin(), texel.end(), request.pattern.begin());
                request.pattern_bytes = static_cast<int>(bytes);
                backend().fill(request, on);
                reference.fill(level, region, texel);
                stream.synchronize();
                Bytes seen(reference.level(level).size());
                const View to = host_view(static_cast<void*>(seen.data()), format, all);
                backend().copy({&to.location(), &whole, box_of(format, all)}, nullptr);
                ASSERT_TRUE(test::same_bytes(seen, reference.level(level)));
            }
        }
    }
}

TEST_P(CudaArrayCopyTest, LongPatternsFillRowsOfEveryPitch) {
    test::Random random(15);
    for (const std::size_t bytes : {8u, 16u}) {
        for (int round = 0; round < 30; ++round) {
            const Extent extent{1 + random.below(70), 1 + random.below(40), 1 + random.below(4)};
            const Format format = bytes == 8 ? Format::rg32_uint : Format::rgba32_uint;
            const Box box = box_of(format, extent);
            const Rows rows = Rows::loose(random, box, bytes);
            Bytes expected = test::pattern(rows.bytes, 1);
            const Linear memory(device(), rows.bytes);
            write(memory, expected);
            const Bytes texel = test::pattern(bytes, static_cast<unsigned>(round));
            const MemoryLocation location = rows.location(memory, backend(), format, extent);
            fill(View(location), std::span<const std::byte>(texel));
            Bytes texels;
            for (std::size_t i = 0; i < extent.width * extent.height * extent.depth; ++i)
                texels.insert(texels.end(), texel.begin(), texel.end());
            test::reference_copy(expected, rows.layout(), texels, Rows::packed(box).layout(), box.row_bytes, box.rows,
                                 box.slices);
            ASSERT_TRUE(test::same_bytes(read(memory), expected))
                << bytes << " bytes, " << to_string(extent) << ", " << rows.pitch << " apart";
        }
    }
}

TEST_P(CudaArrayCopyTest, KernelCopiesAndFillsRunInStreamOrder) {
    const ArrayInfo info = test::info_of(ArrayKind::layered_2d, Format::rgba8_unorm, 1);
    const Array array(device(), info);
    const Array second(device(), info);
    const View view = array.view();
    const std::size_t bytes = packed_bytes(info);
    const Linear from(device(), bytes);
    const Linear to(device(), bytes);
    const Bytes old_bytes = test::pattern(bytes, 1);
    const Bytes new_bytes = test::pattern(bytes, 2);
    write(from, old_bytes);
    const Stream stream(device());
    const test::Gate gate;
    gate.close(stream);
    copy(view, from.view(info.format, view.extent()), stream);
    copy(second.view(), view, stream);
    copy(to.view(info.format, view.extent()), second.view(), stream);
    fill(view, std::uint32_t{0x01020304}, stream);
    EXPECT_FALSE(stream.idle());
    write(from, new_bytes);  // before the queued work runs
    gate.open();
    stream.synchronize();
    EXPECT_TRUE(test::same_bytes(read(to), new_bytes));
    const Bytes filled = test::download(view);
    EXPECT_EQ(std::to_integer<int>(filled.front()), 4);
    EXPECT_EQ(std::to_integer<int>(filled.back()), 1);
}

TEST_P(CudaArrayCopyTest, ArrayCopiesAndFillsAreCapturedIntoGraphs) {
    const ArrayInfo infos[] = {test::info_of(ArrayKind::array_3d, Format::rgba8_unorm, 1),
                               {.format = Format::bc1_unorm, .extent = {52, 36}}};
    for (const ArrayInfo& info : infos) {
        SCOPED_TRACE(test::describe(info));
        const Array array(device(), info);
        const Array second(device(), info);
        const Array filled(device(), info);
        const View view = array.view();
        const Linear from(device(), packed_bytes(info));
        const Linear to(device(), packed_bytes(info));
        const Bytes texel = test::pattern(texton::info(info.format).bytes, 9);
        const Stream stream(device());
        const Graph graph = Graph::capture(stream, [&] {
            copy(view, from.view(info.format, view.extent()), stream);
            copy(second.view(), view, stream);
            copy(to.view(info.format, view.extent()), second.view(), stream);
            fill(filled.view(), std::span<const std::byte>(texel), stream);
        });
        EXPECT_GE(graph.size(), 4u);
        for (unsigned launch = 0; launch < 3; ++launch) {
            const Bytes bytes = test::pattern(packed_bytes(info), launch);
            write(from, bytes);
            graph.launch(stream);
            stream.synchronize();
            EXPECT_TRUE(test::same_bytes(read(to), bytes));
            const Bytes seen = test::download(filled.view());
            for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], texel[i % texel.size()]) << i;
        }
    }
}

}  // namespace
}  // namespace texton
