// Views of texels at an offset and a pitch of a block of bytes, and which memory can be shared.
#include <texton/shared_texels.h>

#include <unistd.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/managed.h>
#include <texton/physical.h>
#include <texton/pinned.h>
#include <texton/pitched.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::expect_error;

class SharedTexelsTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, SharedTexelsTest, test::every_device(), test::device_label);

TEST_P(SharedTexelsTest, TexelsLieAtTheOffsetAndThePitchOfTheirLayout) {
    const TexelLayout layout{Format::rgba8_unorm, {5, 3, 2}, 100, 24, 96};
    EXPECT_EQ(layout_bytes(layout), 100u + 96 + 2 * 24 + 5 * 4);
    const Linear memory(device(), layout_bytes(layout));
    fill(memory.view(), std::uint8_t{0x11});
    const View texels = texel_view(memory.view(), layout);
    EXPECT_EQ(texels.pitch(), 24u);
    EXPECT_EQ(texels.slice_pitch(), 96u);
    const test::Bytes written = test::pattern(5 * 3 * 2 * 4, 7);
    test::upload(texels, written);

    test::Bytes expected(memory.bytes(), std::byte{0x11});
    test::reference_copy(expected, {100, 24, 96}, written, {0, 20, 60}, 20, 3, 2);
    EXPECT_TRUE(test::same_bytes(test::download(memory.view()), expected));
}

TEST_P(SharedTexelsTest, AViewWithAPitchKeepsTheMemoryAlive) {
    const TexelLayout layout = texture_layout(device(), Format::r8_unorm, {33, 4});
    EXPECT_EQ(layout.pitch % device().limits().texture_pitch_alignment, 0u);
    EXPECT_GE(layout.pitch, 33u);
    View texels;
    {
        const Linear memory(device(), layout_bytes(layout));
        texels = texel_view(memory.view(), layout);
    }
    fill(texels, std::uint8_t{9});
    EXPECT_TRUE(test::all_bytes(test::download(texels), 9));
}

TEST_P(SharedTexelsTest, TexelsThatDoNotFitAreRefused) {
    const TexelLayout layout{Format::rgba8_unorm, {5, 3}, 100, 24};
    const Linear memory(device(), layout_bytes(layout));
    const auto refused = [&](ErrorCode code, const TexelLayout& wrong, std::string_view text) {
        expect_error([&] { (void)texel_view(memory.view(), wrong); }, code, "texton::texel_view", {text});
    };
    refused(ErrorCode::out_of_bounds, {Format::rgba8_unorm, {5, 3}, 101, 24}, "at offset 101");
    refused(ErrorCode::out_of_bounds, {Format::rgba8_unorm, {6, 3}, 100, 24}, "need 172 bytes");
    refused(ErrorCode::out_of_bounds, {Format::rgba8_unorm, {5, 4}, 100, 24}, "but the memory has 168");
    refused(ErrorCode::bad_argument, {Format::rgba8_unorm, {5, 3}, 0, 16}, "shorter than a row of 20");
    refused(ErrorCode::bad_argument, {Format::rgba8_unorm, {1, 1, 2}, 0, 24, 36}, "slice pitch of 36");
    refused(ErrorCode::bad_argument, {Format::rgba8_unorm, {5, 0}}, "5 x 0");
    refused(ErrorCode::bad_argument, {Format::nv12, {4, 4}}, "planes");
    std::vector<std::byte> host(400);
    expect_error([&] { (void)texel_view(host_view(std::span(host)), layout); }, ErrorCode::bad_argument,
                 "texton::texel_view", {"host"});
    expect_error(
        [&] {
            (void)texel_view(Pitched2D(device(), Format::r8_unorm, {200, 2}).view(), layout);
        },
        ErrorCode::bad_argument, "texton::texel_view", {"not one row"});
}

TEST_P(SharedTexelsTest, MemoryWithoutAHandleIsRefusedWithWhatToAllocateInstead) {
    const Stream stream(device());
    const Extent extent{16, 4};
    const auto refused = [&](const ConstView& view, std::string_view what) {
        expect_error([&] { (void)export_texels(view); }, ErrorCode::not_permitted, "texton::export_texels",
                     {what, "PoolInfo::handle", "PhysicalInfo::handle"});
    };
    const Linear linear(device(), Format::r8_unorm, extent);
    refused(linear.view(), "the memory of a Linear (cudaMalloc) has no handle");
    refused(texel_view(linear.view(), {Format::r8_unorm, {8, 4}}), "Linear");
    refused(Pitched2D(device(), Format::r8_unorm, extent).view(), "Pitched2D");
    refused(Pitched3D(device(), Format::r8_unorm, {16, 4, 2}).view(), "Pitched3D");
    refused(Linear::async(256, stream).view(), "the current pool of the device");
    refused(Pool(device()).allocate(256, stream).view(), "the pool was created without a handle type");
    refused(Pinned(device(), 256).view(), "Pinned");
    refused(borrowed_view(device(), linear.data(), Format::r8_unorm, extent), "Texton does not own");
    std::vector<std::byte> host(64);
    refused(host_view(std::span(host)), "pageable host memory");
    expect_error([] { (void)export_texels(ConstView()); }, ErrorCode::bad_argument, "texton::export_texels", {"empty"});
    stream.synchronize();
    if (!device().properties().virtual_memory) return;
    const std::size_t unit = Physical::granularity(device());
    AddressRange range(device(), unit);
    range.map(0, Physical(device(), unit));
    range.set_access();
    refused(range.view(Format::r8_unorm, extent), "the Physical was created without a handle type");
}

TEST_P(SharedTexelsTest, MemoryOfATilePoolIsNotShared) {
    if (!device().properties().virtual_memory) GTEST_SKIP() << "the device has no virtual memory management";
    const PhysicalInfo tiles{.tile_pool = true};
    const Physical memory(device(), Physical::granularity(device(), tiles), tiles);
    expect_error([&] { (void)memory.export_handle(); }, ErrorCode::not_permitted, "texton::Physical",
                 {"tile pool", "Pool"});
    expect_error(
        [&] { Physical wrong(device(), memory.bytes(), {.handle = HandleType::file_descriptor, .tile_pool = true}); },
        ErrorCode::not_permitted, "texton::Physical", {"tile pool"});
}

TEST_P(SharedTexelsTest, ADescriptionNamesTheOffsetInTheMemoryThatHoldsTheTexels) {
    if (!device().properties().pool_file_descriptors) GTEST_SKIP() << "the device shares no file descriptors";
    const PhysicalInfo info{.handle = HandleType::file_descriptor};
    const std::size_t unit = Physical::granularity(device(), info);
    AddressRange range(device(), 2 * unit);
    range.map(0, Physical(device(), unit, info));
    range.map(unit, Physical(device(), unit, info));
    range.set_access();
    const View bytes = range.view(Format::r8_uint, {2 * unit});
    const View second = texel_view(bytes, {Format::r32_float, {9, 5}, unit + 512, 64});
    const ExportedTexels exported = export_texels(second.region({{2, 1}, {7, 4}}));
    close(exported.handle.file_descriptor);
    EXPECT_EQ(exported.texels.memory, SharedMemory::physical);
    EXPECT_EQ(exported.texels.bytes, unit);
    EXPECT_EQ(exported.texels.layout.offset, 512u + 64 + 8);
    EXPECT_EQ(exported.texels.layout.pitch, 64u);
    EXPECT_EQ(exported.texels.layout.extent, (Extent{7, 4}));
    EXPECT_EQ(exported.texels.layout.format, Format::r32_float);
    expect_error(
        [&] {
            (void)export_texels(bytes.region({{unit - 1}, {2}}));
        },
        ErrorCode::bad_argument, "texton::export_texels", {"several Physical"});
    range.unmap(unit);
    expect_error([&] { (void)export_texels(second); }, ErrorCode::released, "texton::export_texels");
}

}  // namespace
}  // namespace texton
