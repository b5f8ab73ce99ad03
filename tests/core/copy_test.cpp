#include <texton/copy.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/pitched.h>

#include "tests/support/expect_error.h"
#include "tests/support/gate.h"
#include "tests/support/memories.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::download;
using test::expect_error;
using test::Memory;
using test::pattern;
using test::same_bytes;
using test::upload;

class CopyTest : public test::OnEveryDevice {
protected:
    // Copies `from` of the source to `to` of the target and compares every byte of both memories, including gaps and
    // margins, with a plain loop.
    void check(const Memory& source, const Memory& target, Region from, Region to, const Stream* stream) {
        const Bytes before = pattern(packed_bytes(Format::r8_uint, source.raw.extent()), 1);
        Bytes expected = pattern(packed_bytes(Format::r8_uint, target.raw.extent()), 2);
        upload(source.raw, before);
        upload(target.raw, expected);
        const Format format = source.texels.format();
        test::reference_copy(expected, target.layout_of(to), before, source.layout_of(from),
                             row_bytes(format, from.extent.width), row_count(format, from.extent.height),
                             from.extent.depth);
        if (stream != nullptr) {
            copy(target.texels.region(to), source.texels.region(from), *stream);
            stream->synchronize();
        } else {
            copy(target.texels.region(to), source.texels.region(from));
        }
        EXPECT_TRUE(same_bytes(download(target.raw), expected));
        EXPECT_TRUE(same_bytes(download(source.raw), before));
    }

    void check_every_pair(Format format, Extent extent, std::vector<std::pair<Offset, Region>> parts) {
        const Stream own(device());
        std::vector<Stream> others;
        for (const Device& other : Device::list()) others.emplace_back(other);
        const auto is_host = [](const Memory& memory) {
            const MemoryKind kind = memory.texels.kind();
            return kind == MemoryKind::host || kind == MemoryKind::pinned || kind == MemoryKind::registered;
        };
        const auto stream_of = [&](const Memory& memory) -> const Stream& {
            return *std::find_if(others.begin(), others.end(),
                                 [&](const Stream& stream) { return stream.device() == memory.texels.device(); });
        };
        const auto kinds = test::memories(device(), peer(), format, extent);
        ASSERT_GE(kinds.size(), 6u);
        for (const test::MemoryMaker& from : kinds) {
            for (const test::MemoryMaker& to : kinds) {
                if (from.foreign && to.foreign) continue;  // neither belongs to this device
                SCOPED_TRACE(from.name + " to " + to.name);
                const Memory source = from.make(0);
                const Memory target = to.make(1);
                // Host memory is accessible to every device, so the other view decides which device's stream is used.
                const bool foreign = (from.foreign && is_host(target)) || (to.foreign && is_host(source));
                const Stream& stream = !foreign ? own : stream_of(from.foreign ? source : target);
                for (const auto& [offset, region] : parts) {
                    SCOPED_TRACE(to_string(region));
                    check(source, target, {offset, region.extent}, region, nullptr);
                    check(source, target, {offset, region.extent}, region, &stream);
                }
            }
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, CopyTest, test::every_device(), test::device_label);

TEST_P(CopyTest, RowsAreCopiedBetweenEveryPairOfMemoryKinds) {
    check_every_pair(Format::r8_uint, {1003}, {{{0}, {{0}, {1003}}}, {{17}, {{5}, {901}}}, {{1002}, {{0}, {1}}}});
}

TEST_P(CopyTest, RectanglesAreCopiedBetweenEveryPairOfMemoryKinds) {
    check_every_pair(Format::rgba8_unorm, {37, 13},
                     {{{0, 0}, {{0, 0}, {37, 13}}},
                      {{3, 2}, {{7, 5}, {29, 8}}},
                      {{36, 0}, {{0, 12}, {1, 1}}},
                      {{0, 1}, {{0, 3}, {37, 5}}}});
}

TEST_P(CopyTest, VolumesAreCopiedBetweenEveryPairOfMemoryKinds) {
    check_every_pair(Format::r16_uint, {23, 7, 5},
                     {{{0, 0, 0}, {{0, 0, 0}, {23, 7, 5}}},
                      {{3, 2, 1}, {{1, 3, 2}, {19, 4, 3}}},
                      {{22, 6, 4}, {{0, 0, 0}, {1, 1, 1}}}});
}

TEST_P(CopyTest, TexelsOfEverySizeAndBlocksAreCopiedCompletely) {
    for (const FormatInfo& row : formats()) {
        if (row.layout == FormatLayout::planar) continue;
        SCOPED_TRACE(row.name);
        const Extent extent{24, 12, 3};
        const Pitched3D from(device(), row.format, extent);
        const Pitched3D to(device(), row.format, extent);
        const Bytes bytes = pattern(packed_bytes(row.format, extent), 3);
        upload(from.view(), bytes);
        copy(to.view(), from.view());
        EXPECT_TRUE(same_bytes(download(to.view()), bytes));
        fill(to.view(), std::uint8_t{0});
        const Region part{{4, 8, 1}, {16, 4, 2}};
        copy(to.view().region(part), from.view().region(part));
        EXPECT_TRUE(same_bytes(download(to.view().region(part)), download(from.view().region(part))));
    }
}

TEST_P(CopyTest, CopiesBetweenFormatsOfTheSameSizeKeepTheBits) {
    const Linear from(device(), Format::rgba8_unorm, {16, 16});
    const Pitched2D to(device(), Format::r32_float, {16, 16});
    const Bytes bytes = pattern(1024, 4);
    upload(from.view(Format::rgba8_unorm, {16, 16}), bytes);
    copy(to.view(), from.view(Format::rgba8_unorm, {16, 16}));
    EXPECT_TRUE(same_bytes(download(to.view()), bytes));
}

TEST_P(CopyTest, LargePageableMemoryIsCopiedCompletely) {
    // Sizes around those from which a device may copy in several pieces.
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    const Linear there(device(), 67 * kMiB);
    const Stream stream(device());
    for (const std::size_t size : {2 * kMiB, 4 * kMiB, 8 * kMiB, 16 * kMiB, 32 * kMiB, 64 * kMiB}) {
        for (const int more : {-1, 0, 1, 4097}) {
            const std::size_t bytes = size + static_cast<std::size_t>(more);
            SCOPED_TRACE(bytes);
            const View part = there.view().region({{3}, {bytes}});
            const Bytes sent = pattern(bytes, static_cast<unsigned>(more + 5));
            Bytes received(bytes);
            const bool on_stream = more != 0;
            if (on_stream) {
                copy(part, host_view(std::span(sent)), stream);
                copy(host_view(std::span(received)), part, stream);
                stream.synchronize();
            } else {
                copy(part, host_view(std::span(sent)));
                copy(host_view(std::span(received)), part);
            }
            EXPECT_TRUE(same_bytes(received, sent));
        }
    }
}

TEST_P(CopyTest, LargePageableCopiesLeavePaddingUnchanged) {
    struct Case {
        Format format;
        Extent extent;
        std::size_t pitch;
        std::size_t slice_rows;
    };
    const Case cases[] = {{Format::rgba8_unorm, {1999, 1501}, 1999 * 4 + 36, 1501},
                          {Format::r8_uint, {9 << 20, 3}, (9 << 20) + 5, 3},  // one row is longer than a piece may be
                          {Format::rgba32_float, {257, 129, 33}, 257 * 16 + 48, 131},
                          {Format::r8_uint, {3, 500'000}, 8, 500'000}};
    const Stream stream(device());
    for (const Case& c : cases) {
        SCOPED_TRACE(to_string(c.extent));
        const std::size_t slice_pitch = c.pitch * c.slice_rows;
        const Bytes sent = pattern(slice_pitch * c.extent.depth, 6);
        Bytes received(sent.size(), std::byte{0xCC});
        Bytes expected = received;
        const std::size_t row = row_bytes(c.format, c.extent.width);
        const test::Layout layout{0, c.pitch, slice_pitch};
        test::reference_copy(expected, layout, sent, layout, row, c.extent.height, c.extent.depth);
        const Pitched3D there(device(), c.format, c.extent);
        copy(there.view(), host_view(static_cast<const void*>(sent.data()), c.format, c.extent, c.pitch, slice_pitch),
             stream);
        copy(host_view(static_cast<void*>(received.data()), c.format, c.extent, c.pitch, slice_pitch), there.view(),
             stream);
        stream.synchronize();
        EXPECT_TRUE(same_bytes(received, expected));
    }
}

TEST_P(CopyTest, LargePageableCopiesRunInStreamOrder) {
    constexpr std::size_t kBytes = std::size_t{24} << 20;
    const Linear there(device(), kBytes);
    const Stream stream(device());
    Bytes host(kBytes, std::byte{1});
    Bytes received(kBytes);
    fill(there.view(), std::uint8_t{9}, stream);
    copy(host_view(std::span(received)), there.view(), stream);
    EXPECT_TRUE(test::all_bytes(received, 9));
    for (unsigned round = 1; round <= 3; ++round) {
        std::memset(host.data(), static_cast<int>(round), kBytes);
        copy(there.view(), host_view(std::span(host)), stream);
        std::memset(host.data(), 0xFF, kBytes);  // the call has read the memory, so this change has no effect
        copy(host_view(std::span(received)), there.view(), stream);
        EXPECT_TRUE(test::all_bytes(received, round));
    }
}

TEST_P(CopyTest, LargeCopiesBetweenDevicesAreComplete) {
    std::vector<Device> others;
    if (peer()) others.push_back(*peer());
    if (!on_cpu()) others.push_back(Device::cpu());
    if (others.empty()) GTEST_SKIP() << "needs a second device";
    const Extent extent{1021, 1023, 3};
    const Bytes bytes = pattern(packed_bytes(Format::rgba8_unorm, extent), 7);
    const Stream stream(device());
    for (const Device& other : others) {
        SCOPED_TRACE(other.name());
        const Pitched3D here(device(), Format::rgba8_unorm, extent);
        const Pitched3D there(other, Format::rgba8_unorm, extent);
        const Linear back(device(), Format::rgba8_unorm, extent);
        upload(here.view(), bytes);
        copy(there.view(), here.view(), stream);
        copy(back.view(Format::rgba8_unorm, extent), there.view(), stream);
        stream.synchronize();
        EXPECT_TRUE(same_bytes(download(back.view()), bytes));
    }
}

TEST_P(CopyTest, ACopyWithoutAStreamIsDoneWhenTheCallReturns) {
    const Linear from(device(), 32 << 20);
    const Linear to(device(), 32 << 20);
    const Stream stream(device());
    const Pinned seen(device(), 4);
    for (unsigned value = 1; value < 6; ++value) {
        fill(from.view(), static_cast<std::uint8_t>(value));
        copy(to.view(), from.view());
        // A stream without any order after the copy must see the copied bytes.
        copy(seen.view(), to.view().region({{(32 << 20) - 4}, {4}}), stream);
        stream.synchronize();
        EXPECT_TRUE(test::all_bytes(seen.read(), value));
    }
}

TEST_P(CopyTest, ViewsOfDifferentExtentOrTexelSizeAreRefused) {
    const Linear from(device(), 4096);
    const Linear to(device(), 4096);
    const auto refused = [&](const View& destination, const View& source,
                             std::initializer_list<std::string_view> text) {
        expect_error([&] { copy(destination, source); }, ErrorCode::bad_argument, "texton::copy", text);
        const Stream stream(device());
        expect_error([&] { copy(destination, source, stream); }, ErrorCode::bad_argument, "texton::copy", text);
        CopyBatch batch;
        expect_error([&] { batch.add(destination, source); }, ErrorCode::bad_argument, "texton::", text);
        EXPECT_EQ(batch.size(), 0u);
    };
    refused(to.view(Format::r8_uint, {8, 8}), from.view(Format::r8_uint, {8, 9}), {"8 x 9", "8 x 8"});
    refused(to.view(Format::r8_uint, {8, 8}), from.view(Format::r8_uint, {64}), {"64 x 1", "8 x 8"});
    refused(to.view(Format::r8_uint, {8, 8}), from.view(Format::r16_uint, {8, 8}), {"r16_uint", "r8_uint"});
    refused(to.view(Format::bc1_unorm, {8, 8}), from.view(Format::rgba16_uint, {8, 8}), {"rgba16_uint", "bc1_unorm"});
    refused(View(), View(), {"empty"});
    refused(to.view(), View(), {});
    refused(View(), from.view(), {});
}

TEST_P(CopyTest, AnOverlapOfOneByteIsRefused) {
    const Linear memory(device(), 1000);
    const View all = memory.view();
    const auto part = [&](std::size_t offset) { return all.region({{offset}, {100}}); };
    for (const std::size_t offset : {200u, 299u, 101u, 150u}) {
        expect_error([&] { copy(part(200), part(offset)); }, ErrorCode::overlap, "texton::copy");
    }
    upload(all, pattern(1000, 8));
    for (const std::size_t offset : {100u, 300u, 0u, 900u}) {  // adjacent ranges do not overlap
        copy(part(200), part(offset));
        EXPECT_TRUE(same_bytes(download(part(200)), download(part(offset))));
    }
}

TEST_P(CopyTest, AdjacentRectanglesOfOneBlockDoNotOverlap) {
    const Pitched2D memory(device(), Format::r8_uint, {64, 16});
    const View all = memory.view();
    const auto at = [&](std::size_t x, std::size_t y) { return all.region({{x, y}, {20, 8}}); };
    upload(all, pattern(1024, 9));
    for (const auto& [x, y] : {std::pair<std::size_t, std::size_t>{30, 4}, {40, 0}, {44, 8}, {30, 8}}) {
        SCOPED_TRACE(std::to_string(x) + "," + std::to_string(y));
        copy(at(x, y), at(10, 4));
        EXPECT_TRUE(same_bytes(download(at(x, y)), download(at(10, 4))));
    }
    copy(at(10, 8), at(10, 0));  // one above the other, adjacent
    EXPECT_TRUE(same_bytes(download(at(10, 8)), download(at(10, 0))));
    for (const auto& [x, y] : {std::pair<std::size_t, std::size_t>{29, 4}, {10, 4}, {29, 0}, {0, 8}, {29, 8}}) {
        SCOPED_TRACE(std::to_string(x) + "," + std::to_string(y));
        expect_error([&, x = x, y = y] { copy(at(x, y), at(10, 4)); }, ErrorCode::overlap, "texton::copy");
    }
}

TEST_P(CopyTest, OverlapOfRandomBoxesMatchesAnExactByteCount) {
    std::vector<std::byte> memory(1 << 16);
    std::mt19937 random(7);
    const auto number = [&](std::size_t low, std::size_t high) {
        return std::uniform_int_distribution<std::size_t>(low, high)(random);
    };
    int refused = 0;
    int allowed = 0;
    for (int round = 0; round < 3000; ++round) {
        const Extent extent{number(1, 12), number(1, 5), number(1, 4)};
        struct Box {
            std::size_t offset, pitch, slice_pitch;
        };
        const bool same_pitch = round % 2 == 0;
        const auto box = [&](std::size_t pitch, std::size_t more) {
            return Box{number(0, 300), pitch, pitch * (extent.height + more)};
        };
        const std::size_t pitch = extent.width + number(0, 14);
        const std::size_t more = number(0, 3);
        const Box a = box(pitch, more);
        const Box b = same_pitch ? box(pitch, more) : box(extent.width + number(0, 14), number(0, 3));
        std::vector<bool> touched(4096);
        const auto each = [&](const Box& of, auto visit) {
            for (std::size_t z = 0; z < extent.depth; ++z) {
                for (std::size_t y = 0; y < extent.height; ++y) {
                    for (std::size_t x = 0; x < extent.width; ++x)
                        visit(of.offset + z * of.slice_pitch + y * of.pitch + x);
                }
            }
        };
        bool share = false;
        each(a, [&](std::size_t at) { touched[at] = true; });
        each(b, [&](std::size_t at) { share = share || touched[at]; });
        const auto view = [&](const Box& of) {
            return host_view(static_cast<void*>(memory.data() + of.offset), Format::r8_uint, extent, of.pitch,
                             of.slice_pitch);
        };
        bool threw = false;
        try {
            CopyBatch().add(view(a), view(b));
        } catch (const Error& error) {
            threw = error.code() == ErrorCode::overlap;
        }
        ++(threw ? refused : allowed);
        ASSERT_EQ(threw, share) << to_string(extent) << " at " << a.offset << " pitch " << a.pitch << " slices "
                                << a.slice_pitch << " and at " << b.offset << " pitch " << b.pitch << " slices "
                                << b.slice_pitch;
    }
    EXPECT_GT(refused, 300);
    EXPECT_GT(allowed, 300);
}

TEST_P(CopyTest, AStreamOfAnotherDeviceIsRefused) {
    const Linear from(device(), 64);
    const Linear to(device(), 64);
    Bytes host(64);
    for (const Device& other : Device::list()) {
        if (other == device()) continue;
        SCOPED_TRACE(other.name());
        const Stream stream(other);
        expect_error([&] { copy(to.view(), from.view(), stream); }, ErrorCode::wrong_device, "texton::copy",
                     {other.name()});
        expect_error([&] { copy(to.view(), host_view(std::span(host)), stream); }, ErrorCode::wrong_device,
                     "texton::copy");
        expect_error([&] { copy(host_view(std::span(host)), from.view(), stream); }, ErrorCode::wrong_device,
                     "texton::copy");
        CopyBatch batch;
        batch.add(to.view(), from.view());
        expect_error([&] { batch.run(stream); }, ErrorCode::wrong_device, "texton::CopyBatch");
    }
}

TEST_P(CopyTest, CopiesBetweenCpuAndCudaDevicesNeedAStreamOfTheCudaDevice) {
    if (on_cpu()) GTEST_SKIP() << "the test runs on the CUDA device";
    const Linear there(device(), 64);
    const Linear here(Device::cpu(), 64);
    const Stream cpu(Device::cpu());
    expect_error([&] { copy(here.view(), there.view(), cpu); }, ErrorCode::wrong_device, "texton::copy", {"CUDA"});
    expect_error([&] { copy(there.view(), here.view(), cpu); }, ErrorCode::wrong_device, "texton::copy", {"CUDA"});
}

class CopyBatchTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, CopyBatchTest, test::every_device(), test::device_label);

TEST_P(CopyBatchTest, ABatchCopiesMixedMemoryKindsAndCanRunAgain) {
    const Stream stream(device());
    constexpr Extent kFlat{37, 11};
    const auto kinds = test::memories(device(), peer(), Format::rg8_uint, kFlat);
    std::vector<Memory> sources;
    std::vector<Memory> targets;
    CopyBatch batch;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const test::MemoryMaker& from = kinds[i];
        const test::MemoryMaker& to = kinds[(i * 3 + 1) % kinds.size()];
        // All copies use one stream, so one side of each pair must be on this device.
        const auto is_host = [](const std::string& name) {
            return name == "host" || name == "pinned" || name == "registered";
        };
        if ((from.foreign && (to.foreign || is_host(to.name))) || (to.foreign && is_host(from.name))) continue;
        sources.push_back(from.make(0));
        targets.push_back(to.make(1));
        batch.add(targets.back().texels, sources.back().texels);
    }
    ASSERT_GT(batch.size(), 5u);
    for (unsigned round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < sources.size(); ++i) {
            upload(sources[i].texels, pattern(37 * 11 * 2, round * 100 + static_cast<unsigned>(i)));
        }
        batch.run(stream);
        stream.synchronize();
        for (std::size_t i = 0; i < sources.size(); ++i) {
            SCOPED_TRACE(sources[i].name + " to " + targets[i].name);
            EXPECT_TRUE(
                same_bytes(download(targets[i].texels), pattern(37 * 11 * 2, round * 100 + static_cast<unsigned>(i))));
        }
    }
    EXPECT_EQ(batch.size(), sources.size());
    batch.clear();
    EXPECT_EQ(batch.size(), 0u);
}

TEST_P(CopyBatchTest, ManySmallCopiesWriteTheirOwnDestinations) {
    constexpr std::size_t kCount = 3000;
    const Linear from(device(), kCount * 64);
    const Linear to(device(), kCount * 64);
    const Bytes bytes = pattern(kCount * 64, 1);
    upload(from.view(), bytes);
    fill(to.view(), std::uint8_t{0});
    CopyBatch batch;
    for (std::size_t i = 0; i < kCount; ++i) {  // in reverse order
        batch.add(to.view().region({{(kCount - 1 - i) * 64}, {64}}), from.view().region({{i * 64}, {64}}));
    }
    const Stream stream(device());
    batch.run(stream);
    const Bytes seen = [&] {
        Bytes out(kCount * 64);
        copy(host_view(std::span(out)), to.view(), stream);
        stream.synchronize();
        return out;
    }();
    for (std::size_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(std::memcmp(seen.data() + (kCount - 1 - i) * 64, bytes.data() + i * 64, 64), 0) << i;
    }
}

TEST_P(CopyBatchTest, BatchesRunInStreamOrder) {
    const Linear a(device(), 4096);
    const Linear b(device(), 4096);
    const Pinned out(device(), 4096);
    const Stream stream(device());
    CopyBatch first;
    first.add(b.view(), a.view());
    CopyBatch second;
    second.add(out.view(), b.view());
    const test::Gate gate;
    gate.close(stream);
    fill(a.view(), std::uint8_t{0x31}, stream);
    first.run(stream);
    second.run(stream);
    fill(b.view(), std::uint8_t{0x32}, stream);
    gate.open();
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(out.read(), 0x31));
}

TEST_P(CopyBatchTest, ABatchKeepsItsMemoryAlive) {
    const Stream stream(device());
    const Pinned out(device(), 4096);
    CopyBatch batch;
    {
        const Linear memory(device(), 4096);
        fill(memory.view(), std::uint8_t{0x17});
        batch.add(out.view(), memory.view());
    }
    batch.run(stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(out.read(), 0x17));
}

TEST_P(CopyBatchTest, ABatchWithFreedMemoryIsRefusedCompletely) {
    const Stream stream(device());
    Linear gone = Linear::async(64, stream);
    const Linear from(device(), 64);
    const Linear to(device(), 64);
    fill(from.view(), std::uint8_t{1});
    fill(to.view(), std::uint8_t{2});
    CopyBatch batch;
    batch.add(to.view(), from.view());
    batch.add(gone.view(), from.view());
    gone.free(stream);
    expect_error([&] { batch.run(stream); }, ErrorCode::released, "texton::");
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(to.view()), 2));
}

TEST_P(CopyBatchTest, AnEmptyBatchHasNoEffect) {
    const Stream stream(device());
    const CopyBatch batch;
    batch.run(stream);
    EXPECT_EQ(batch.size(), 0u);
    EXPECT_TRUE(stream.idle());
}

// The caller may hold locks, for example of the mapping of an array, that other tasks need.
TEST_P(CopyTest, ALargeCopyInATaskDoesNotRunOtherTasks) {
    constexpr std::size_t kBytes = std::size_t{4} << 20;
    constexpr int kTasks = 32;
    const Linear memory(device(), kTasks * kBytes);
    const auto part = [&](int i) {
        return memory.view().region({{static_cast<std::size_t>(i) * kBytes, 0, 0}, {kBytes, 1, 1}});
    };
    const Bytes host = pattern(kBytes, 1);
    const Stream stream(device());
    std::atomic<int> entered_again{0};
    tbb::parallel_for(0, kTasks, [&](int i) {
        thread_local bool inside = false;
        if (std::exchange(inside, true)) ++entered_again;
        if (i % 2 == 0) {
            copy(part(i), host_view(std::span<const std::byte>(host)));
        } else {
            copy(part(i), host_view(std::span<const std::byte>(host)), stream);
        }
        inside = false;
    });
    stream.synchronize();
    EXPECT_EQ(entered_again, 0);
    for (int i = 0; i < kTasks; ++i) EXPECT_TRUE(same_bytes(download(part(i)), host)) << "task " << i;
}

}  // namespace
}  // namespace texton
