// Copies texels to arrays and back for every kind, format, level and method of copying, and compares with an array of
// plain bytes.
#include <texton/array.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pinned.h>

#include "tests/support/arrays.h"
#include "tests/support/memories.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::describe;
using test::download;
using test::holds;
using test::Memory;
using test::pattern;
using test::Random;
using test::ReferenceArray;
using test::same_bytes;
using test::upload;

// The methods of copying.
enum class How { at_once, on_stream, in_graph, in_batch };
constexpr How kHows[] = {How::at_once, How::on_stream, How::in_graph, How::in_batch};

const char* label(How how) {
    switch (how) {
        case How::at_once: return "at once";
        case How::on_stream: return "on a stream";
        case How::in_graph: return "in a graph";
        case How::in_batch: return "in a batch";
    }
    return "";
}

void copy_and_wait(How how, const View& destination, const ConstView& source, const Stream& stream) {
    switch (how) {
        case How::at_once: copy(destination, source); return;
        case How::on_stream: copy(destination, source, stream); break;
        case How::in_graph: {
            const Graph graph = Graph::capture(stream, [&] { copy(destination, source, stream); });
            graph.launch(stream);
            stream.synchronize();
            return;
        }
        case How::in_batch: {
            CopyBatch batch;
            batch.add(destination, source);
            batch.run(stream);
            break;
        }
    }
    stream.synchronize();
}

std::string trace(const ArrayInfo& info, int level, const Region& region, How how) {
    return describe(info) + ", level " + std::to_string(level) + ", " + to_string(region) + ", " + label(how);
}

Region whole(const ReferenceArray& reference, int level) { return {{}, reference.extent(level)}; }

class ArrayRoundTripTest : public test::OnEveryDevice {
protected:
    void SetUp() override {
        OnEveryDevice::SetUp();
        if (!IsSkipped() && !HasFatalFailure()) stream_.emplace(device());
    }
    void TearDown() override {
        stream_.reset();
        OnEveryDevice::TearDown();
    }

    const Stream& stream() const { return *stream_; }

    // Returns the next method, so that loops of any length use all methods.
    How next() { return kHows[turn_++ % std::size(kHows)]; }

    void expect_kept(const ArrayInfo& info) {
        SCOPED_TRACE(describe(info));
        const Array first(device(), info);
        const Array second(device(), info);
        EXPECT_EQ(first.info(), info);
        const ReferenceArray reference(info, 1);
        for (int level = 0; level < info.levels; ++level) {
            const View view = first.view({.level = level});
            ASSERT_EQ(view.extent(), reference.extent(level));
            ASSERT_EQ(view.format(), info.format);
            ASSERT_EQ(view.kind(), MemoryKind::array);
            upload(view, reference.level(level));
        }
        ASSERT_TRUE(holds(first, reference));
        for (int level = 0; level < info.levels; ++level) {
            copy(second.view({.level = level}), first.view({.level = level}), stream());
        }
        stream().synchronize();
        ASSERT_TRUE(holds(second, reference));
        ASSERT_TRUE(holds(first, reference));
    }

    // Copies a region from memory of every kind to the array and back. The bytes around the texels in memory must not
    // change.
    void expect_passed(const Array& array, ReferenceArray& reference, int level, const Region& region) {
        const Format format = reference.info().format;
        const View part = array.view({.level = level}).region(region);
        ASSERT_EQ(part.extent(), region.extent);
        const std::size_t row = row_bytes(format, region.extent.width);
        const std::size_t rows = row_count(format, region.extent.height);
        const test::Layout packed{0, row, row * rows};
        for (const test::MemoryMaker& maker : test::memories(device(), peer(), format, region.extent)) {
            const How into = maker.foreign ? How::at_once : next();
            const How out = maker.foreign ? How::on_stream : next();
            SCOPED_TRACE(maker.name + " in and out, " + trace(reference.info(), level, region, into));
            const Memory memory = maker.make(0);
            const Bytes before = pattern(packed_bytes(Format::r8_uint, memory.raw.extent()), 4);
            upload(memory.raw, before);
            Bytes texels(test::box_bytes(format, region.extent));
            test::reference_copy(texels, packed, before, memory.layout, row, rows, region.extent.depth);
            copy_and_wait(into, part, memory.texels, stream());
            reference.write(level, region, texels);
            ASSERT_TRUE(same_bytes(download(memory.raw), before)) << "the copy changed its source";
            ASSERT_TRUE(holds(array, reference));

            Bytes around = pattern(before.size(), 5);
            upload(memory.raw, around);
            copy_and_wait(out, memory.texels, part, stream());
            test::reference_copy(around, memory.layout, texels, packed, row, rows, region.extent.depth);
            ASSERT_TRUE(same_bytes(download(memory.raw), around)) << "out, " << label(out);
        }
    }

private:
    std::optional<Stream> stream_;
    std::size_t turn_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Devices, ArrayRoundTripTest, test::every_device(), test::device_label);

TEST_P(ArrayRoundTripTest, AllLevelsOfEveryKindAndFormatRoundTrip) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::array_formats()) {
            if (test::has_arrays(kind, format)) expect_kept(test::small_info(kind, format));
        }
    }
}

TEST_P(ArrayRoundTripTest, SingleTexelThinAndPartialBlockArraysRoundTrip) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::formats_of_every_size()) {
            if (!test::has_arrays(kind, format)) continue;
            for (const ArrayInfo& info : test::example_infos(kind, format)) expect_kept(info);
        }
    }
}

TEST_P(ArrayRoundTripTest, RegionsAreCopiedToAndFromMemoryOfEveryKind) {
    Random random(2);
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::formats_of_every_size()) {
            if (!test::has_arrays(kind, format)) continue;
            ArrayInfo info = test::small_info(kind, format);
            // Packed views of memory cannot have partial blocks in the middle of a row.
            const bool blocks = test::is_block_compressed(format);
            if (blocks) info.extent = {20, is_cube(kind) ? 20u : 12u, info.extent.depth};
            if (blocks) info.levels = 1;
            const Array array(device(), info);
            ReferenceArray reference(info, 3);
            upload(array, reference);
            for (int level = 0; level < info.levels; ++level) {
                expect_passed(array, reference, level, test::random_region(random, format, reference.extent(level)));
                if (HasFatalFailure()) return;
            }
            ASSERT_TRUE(holds(array, reference));
        }
    }
}

TEST_P(ArrayRoundTripTest, RandomRegionsOfEveryLevelAreCopiedToTheirOffsets) {
    Random random(6);
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::formats_of_every_size()) {
            if (!test::has_arrays(kind, format)) continue;
            const ArrayInfo info = test::small_info(kind, format);
            const Array array(device(), info);
            ReferenceArray reference(info, 7);
            upload(array, reference);
            for (int level = 0; level < info.levels; ++level) {
                for (int round = 0; round < 12; ++round) {
                    const Region region = test::random_region(random, format, reference.extent(level));
                    const How how = next();
                    SCOPED_TRACE(trace(info, level, region, how));
                    const View part = array.view({.level = level, .region = region});
                    ASSERT_EQ(part.extent(), region.extent);
                    const Bytes sent = pattern(test::box_bytes(format, region.extent), static_cast<unsigned>(round));
                    copy_and_wait(how, part, host_view(static_cast<const void*>(sent.data()), format, region.extent),
                                  stream());
                    reference.write(level, region, sent);
                    Bytes seen(sent.size());
                    copy_and_wait(next(), host_view(static_cast<void*>(seen.data()), format, region.extent), part,
                                  stream());
                    ASSERT_TRUE(same_bytes(seen, sent));
                }
            }
            ASSERT_TRUE(holds(array, reference)) << describe(info);
        }
    }
}

TEST_P(ArrayRoundTripTest, AddressesAndPitchesNeedNoAlignment) {
    Random random(8);
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::formats_of_every_size()) {
            if (!test::has_arrays(kind, format)) continue;
            const ArrayInfo info = test::flat_info(kind, format);
            const Array array(device(), info);
            ReferenceArray reference(info, 9);
            upload(array, reference);
            for (const std::size_t shift : {1u, 2u, 4u, 8u}) {
                const Region region = test::random_region(random, format, reference.extent(0));
                const std::size_t row = row_bytes(format, region.extent.width);
                const std::size_t rows = row_count(format, region.extent.height);
                const std::size_t pitch = row + shift;
                const test::Layout layout{shift, pitch, pitch * rows};
                const std::size_t bytes = shift + pitch * rows * region.extent.depth;
                SCOPED_TRACE(trace(info, 0, region, How::on_stream) + ", shift " + std::to_string(shift));
                const View part = array.view({.region = region});
                const Linear memory(device(), bytes);
                const View there = borrowed_view(device(), memory.data() + shift, format, region.extent, pitch);
                Bytes host = pattern(bytes, 10);
                upload(memory.view(), host);
                Bytes texels(row * rows * region.extent.depth);
                test::reference_copy(texels, {0, row, row * rows}, host, layout, row, rows, region.extent.depth);
                copy(part, there, stream());
                stream().synchronize();
                reference.write(0, region, texels);
                ASSERT_TRUE(holds(array, reference)) << "copy from device memory";

                Bytes around = pattern(bytes, 11);
                upload(memory.view(), around);
                copy(there, part, stream());
                stream().synchronize();
                test::reference_copy(around, layout, texels, {0, row, row * rows}, row, rows, region.extent.depth);
                ASSERT_TRUE(same_bytes(download(memory.view()), around)) << "copy to device memory";

                host = pattern(bytes, 12);
                test::reference_copy(texels, {0, row, row * rows}, host, layout, row, rows, region.extent.depth);
                copy(part, host_view(static_cast<const void*>(host.data() + shift), format, region.extent, pitch));
                reference.write(0, region, texels);
                ASSERT_TRUE(holds(array, reference)) << "copy from host memory";
            }
        }
    }
}

// Returns the largest box that both extents contain, made of whole blocks unless both extents end at the same position.
// No value if there is none.
std::optional<Extent> common_box(Format format, Extent a, Extent b) {
    const std::size_t side = block_side(format);
    const auto shorter = [&](std::size_t x, std::size_t y) { return x == y ? x : std::min(x, y) / side * side; };
    const Extent box{shorter(a.width, b.width), shorter(a.height, b.height), std::min(a.depth, b.depth)};
    if (box.width == 0 || box.height == 0) return std::nullopt;
    return box;
}

TEST_P(ArrayRoundTripTest, RegionsAreCopiedBetweenArraysOfAnyTwoKinds) {
    struct Pair {
        Format from;
        Format to;
    };
    const Pair formats[] = {{Format::r8_uint, Format::r8_snorm},       {Format::r16_float, Format::rg8_unorm},
                            {Format::rgba8_srgb, Format::r32_float},   {Format::rgb10a2_unorm, Format::rg16_sint},
                            {Format::rgba16_float, Format::rg32_uint}, {Format::rgba32_float, Format::rgba32_sint},
                            {Format::bc1_unorm, Format::bc4_snorm},    {Format::bc7_srgb, Format::bc5_unorm}};
    Random random(13);
    for (const ArrayKind from_kind : test::all_kinds()) {
        for (const ArrayKind to_kind : test::all_kinds()) {
            for (const Pair& pair : formats) {
                if (!test::has_arrays(from_kind, pair.from) || !test::has_arrays(to_kind, pair.to)) continue;
                const ArrayInfo from_info = test::small_info(from_kind, pair.from);
                const ArrayInfo to_info = test::small_info(to_kind, pair.to);
                const ReferenceArray source(from_info, 14);
                ReferenceArray target(to_info, 15);
                const Array from(device(), from_info);
                const Array to(device(), to_info);
                upload(from, source);
                upload(to, target);
                for (int round = 0; round < 2; ++round) {
                    const int from_level = static_cast<int>(random.below(2));
                    const int to_level = static_cast<int>(random.below(2));
                    const auto maximum = common_box(pair.from, source.extent(from_level), target.extent(to_level));
                    if (!maximum) continue;
                    const Extent size = test::random_region(random, pair.from, *maximum).extent;
                    if (size.width % block_side(pair.from) != 0 || size.height % block_side(pair.from) != 0) continue;
                    const Region there = test::random_region(random, pair.from, source.extent(from_level), size);
                    const Region here = test::random_region(random, pair.to, target.extent(to_level), size);
                    const How how = next();
                    SCOPED_TRACE(trace(from_info, from_level, there, how) + " to " +
                                 trace(to_info, to_level, here, how));
                    copy_and_wait(how, to.view({.level = to_level, .region = here}),
                                  from.view({.level = from_level, .region = there}), stream());
                    target.write(to_level, here, source.read(from_level, there));
                    ASSERT_TRUE(holds(to, target));
                }
                ASSERT_TRUE(holds(from, source)) << describe(from_info);
            }
        }
    }
}

TEST_P(ArrayRoundTripTest, PartsOfAnArrayAreCopiedWithinTheArray) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : {Format::r8_uint, Format::rgba16_float, Format::bc3_unorm}) {
            if (!test::has_arrays(kind, format)) continue;
            const ArrayInfo info = test::small_info(kind, format);
            const Array array(device(), info);
            ReferenceArray reference(info, 16);
            upload(array, reference);
            const std::size_t side = block_side(format);
            // From the first unit to the last column of the same row, and between slices and levels if there are
            // several.
            const Extent extent = reference.extent(0);
            const Region first{{0, 0, 0}, {side, std::min(side, extent.height), 1}};
            std::vector<std::pair<int, Region>> targets{{0, {{(extent.width / side - 1) * side, 0, 0}, first.extent}},
                                                        {0, {{0, 0, extent.depth - 1}, first.extent}}};
            if (reference.extent(1).width >= side && reference.extent(1).height >= first.extent.height) {
                targets.push_back({1, {{0, 0, 0}, first.extent}});
            }
            for (const auto& [level, region] : targets) {
                if (level == 0 && region == first) continue;
                const How how = next();
                SCOPED_TRACE(trace(info, level, region, how));
                copy_and_wait(how, array.view({.level = level, .region = region}), array.view({.region = first}),
                              stream());
                reference.write(level, region, reference.read(0, first));
                ASSERT_TRUE(holds(array, reference));
            }
        }
    }
}

TEST_P(ArrayRoundTripTest, LayersAndFacesAreConsecutiveSlices) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : {Format::rgba8_unorm, Format::bc1_unorm}) {
            if (!test::has_arrays(kind, format)) continue;
            const ArrayInfo info = test::small_info(kind, format);
            SCOPED_TRACE(describe(info));
            const Array array(device(), info);
            ReferenceArray reference(info, 17);
            for (int level = 0; level < info.levels; ++level) {
                const Extent box = reference.extent(level);
                for (std::size_t z = 0; z < box.depth; ++z) {
                    Subresource part{.level = level};
                    Region slice{{0, 0, z}, {box.width, box.height, 1}};
                    if (kind == ArrayKind::array_3d) part.region = slice;
                    if (is_cube(kind)) part.face = static_cast<int>(z % 6);
                    if (is_layered(kind)) part.layer = is_cube(kind) ? z / 6 : z;
                    const View view = array.view(part);
                    ASSERT_EQ(view.extent(), slice.extent);
                    upload(view, reference.read(level, slice));
                }
            }
            ASSERT_TRUE(holds(array, reference));
            // The offset of a region of a layer is relative to the layer's own corner.
            if (!is_layered(kind)) continue;
            const std::size_t side = block_side(format);
            const Extent corner{side, std::min(side, info.extent.height), 1};
            const std::size_t faces = is_cube(kind) ? 6 : 1;
            const View last = array.view({.layer = info.layers - 1, .region = Region{{side, 0, faces - 1}, corner}});
            EXPECT_TRUE(same_bytes(download(last), reference.read(0, {{side, 0, info.layers * faces - 1}, corner})));
        }
    }
}

TEST_P(ArrayRoundTripTest, AGraphOfCopiesRunsAtEachLaunch) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : {Format::r8_uint, Format::rgba32_float, Format::bc7_unorm}) {
            if (!test::has_arrays(kind, format)) continue;
            const ArrayInfo info = test::small_info(kind, format);
            SCOPED_TRACE(describe(info));
            const Array first(device(), info);
            const Array second(device(), info);
            std::vector<Pinned> sent;
            std::vector<Pinned> received;
            for (int level = 0; level < info.levels; ++level) {
                const std::size_t bytes = test::box_bytes(format, test::level_box(info, level));
                sent.emplace_back(device(), bytes);
                received.emplace_back(device(), bytes);
            }
            const Graph graph = Graph::capture(stream(), [&] {
                for (int level = 0; level < info.levels; ++level) {
                    const auto index = static_cast<std::size_t>(level);
                    const Extent box = test::level_box(info, level);
                    copy(first.view({.level = level}), sent[index].view(format, box), stream());
                    copy(second.view({.level = level}), first.view({.level = level}), stream());
                    copy(received[index].view(format, box), second.view({.level = level}), stream());
                }
            });
            EXPECT_GE(graph.size(), static_cast<std::size_t>(info.levels) * 3);
            for (unsigned launch = 0; launch < 3; ++launch) {
                const ReferenceArray reference(info, 18 + launch);
                for (int level = 0; level < info.levels; ++level) {
                    const auto index = static_cast<std::size_t>(level);
                    std::memcpy(sent[index].data(), reference.level(level).data(), reference.level(level).size());
                }
                graph.launch(stream());
                stream().synchronize();
                for (int level = 0; level < info.levels; ++level) {
                    ASSERT_TRUE(
                        same_bytes(download(received[static_cast<std::size_t>(level)].view()), reference.level(level)));
                }
                ASSERT_TRUE(holds(second, reference));
            }
        }
    }
}

TEST_P(ArrayRoundTripTest, OneBatchCopiesArraysOfEveryKind) {
    struct Subject {
        Array up;
        Array across;
        ReferenceArray reference;
        std::vector<Bytes> seen;
    };
    std::vector<Subject> subjects;
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : {Format::rg8_uint, Format::rgba32_float, Format::bc5_snorm}) {
            if (!test::has_arrays(kind, format)) continue;
            const ArrayInfo info = test::small_info(kind, format);
            subjects.push_back({Array(device(), info), Array(device(), info), ReferenceArray(info, 21), {}});
        }
    }
    // Copies of one batch are not ordered, so upload, copy and download need three batches.
    CopyBatch up;
    CopyBatch across;
    CopyBatch down;
    for (Subject& subject : subjects) {
        const ArrayInfo& info = subject.reference.info();
        for (int level = 0; level < info.levels; ++level) {
            const Bytes& texels = subject.reference.level(level);
            const Extent box = subject.reference.extent(level);
            Bytes& seen = subject.seen.emplace_back(texels.size());
            up.add(subject.up.view({.level = level}),
                   host_view(static_cast<const void*>(texels.data()), info.format, box));
            across.add(subject.across.view({.level = level}), subject.up.view({.level = level}));
            down.add(host_view(static_cast<void*>(seen.data()), info.format, box),
                     subject.across.view({.level = level}));
        }
    }
    ASSERT_GT(up.size(), 50u);
    for (const CopyBatch* batch : {&up, &across, &down}) batch->run(stream());
    stream().synchronize();
    for (const Subject& subject : subjects) {
        SCOPED_TRACE(describe(subject.reference.info()));
        for (int level = 0; level < subject.reference.info().levels; ++level) {
            ASSERT_TRUE(same_bytes(subject.seen[static_cast<std::size_t>(level)], subject.reference.level(level)));
        }
        ASSERT_TRUE(holds(subject.across, subject.reference));
    }
}

TEST_P(ArrayRoundTripTest, CopiesRunInStreamOrder) {
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {64, 64}, .kind = ArrayKind::layered_2d, .layers = 8};
    const Array a(device(), info);
    const Array b(device(), info);
    const Extent box = test::level_box(info, 0);
    const std::size_t bytes = test::box_bytes(info.format, box);
    const Linear first(device(), bytes);
    const Linear second(device(), bytes);
    upload(first.view(), pattern(bytes, 22));
    upload(second.view(), pattern(bytes, 23));
    for (int round = 0; round < 20; ++round) {
        copy(a.view(), first.view(info.format, box), stream());
        copy(b.view(), a.view(), stream());
        copy(a.view(), second.view(info.format, box), stream());
        copy(first.view(info.format, box), a.view(), stream());
        copy(second.view(info.format, box), b.view(), stream());
    }
    stream().synchronize();
    // Each round swaps the two.
    EXPECT_TRUE(same_bytes(download(first.view()), pattern(bytes, 22)));
    EXPECT_TRUE(same_bytes(download(second.view()), pattern(bytes, 23)));
    EXPECT_TRUE(same_bytes(download(b.view()), pattern(bytes, 23)));
}

TEST_P(ArrayRoundTripTest, LargeArraysAreCopiedCompletely) {
    // Larger than the sizes from which pageable memory is copied in pieces and work is divided among cores.
    const ArrayInfo infos[] = {
        {.format = Format::rgba8_unorm, .extent = {1999, 1501}},
        {.format = Format::rgba32_float, .extent = {129, 65, 67}, .kind = ArrayKind::array_3d},
        {.format = Format::r8_uint, .extent = {1023, 511}, .kind = ArrayKind::layered_2d, .layers = 9},
        {.format = Format::rg16_float, .extent = {401, 401}, .kind = ArrayKind::cubemap},
        {.format = Format::bc7_unorm, .extent = {2001, 1501}, .kind = ArrayKind::layered_2d, .layers = 2}};
    for (const ArrayInfo& info : infos) {
        SCOPED_TRACE(describe(info));
        const ReferenceArray reference(info, 24);
        const Array array(device(), info);
        const Array other(device(), info);
        const Extent box = reference.extent(0);
        copy(array.view(), host_view(static_cast<const void*>(reference.level(0).data()), info.format, box), stream());
        copy(other.view(), array.view(), stream());
        const Linear linear(device(), reference.level(0).size());
        copy(linear.view(info.format, box), other.view(), stream());
        Bytes seen(reference.level(0).size());
        copy(host_view(static_cast<void*>(seen.data()), info.format, box), other.view(), stream());
        stream().synchronize();
        EXPECT_TRUE(same_bytes(seen, reference.level(0)));
        EXPECT_TRUE(same_bytes(download(linear.view()), reference.level(0)));
    }
}

TEST_P(ArrayRoundTripTest, FillsWriteOnlyTheirRegion) {
    Random random(25);
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::array_formats()) {
            if (!test::has_arrays(kind, format)) continue;
            const ArrayInfo info = test::small_info(kind, format);
            const Array array(device(), info);
            ReferenceArray reference(info, 26);
            upload(array, reference);
            const Bytes texel = pattern(texton::info(format).bytes, 27);
            for (int level = 0; level < info.levels; ++level) {
                const Region region = test::random_region(random, format, reference.extent(level));
                const How how = next();
                SCOPED_TRACE(trace(info, level, region, how));
                const View part = array.view({.level = level, .region = region});
                if (how == How::at_once) {
                    fill(part, texel);
                } else if (how == How::in_graph) {
                    Graph::capture(stream(), [&] { fill(part, texel, stream()); }).launch(stream());
                    stream().synchronize();
                } else {
                    fill(part, texel, stream());
                    stream().synchronize();
                }
                reference.fill(level, region, texel);
            }
            ASSERT_TRUE(holds(array, reference)) << describe(info);
            fill(array.view(), std::uint8_t{0xA5});
            const std::byte one[] = {std::byte{0xA5}};
            reference.fill(0, whole(reference, 0), one);
            ASSERT_TRUE(holds(array, reference)) << describe(info);
        }
    }
}

TEST(ArrayRoundTripBetweenDevicesTest, ArraysAreCopiedBetweenAnyTwoDevices) {
    const std::vector<Device> devices = Device::list();
    Random random(28);
    for (const Device& from_device : devices) {
        for (const Device& to_device : devices) {
            const Stream stream(from_device.kind() == DeviceKind::cuda ? from_device : to_device);
            for (const ArrayKind kind : test::all_kinds()) {
                for (const Format format : test::formats_of_every_size()) {
                    if (!test::has_arrays(kind, format)) continue;
                    const ArrayInfo info = test::small_info(kind, format);
                    SCOPED_TRACE(from_device.name() + " to " + to_device.name() + ", " + describe(info));
                    const ReferenceArray source(info, 29);
                    ReferenceArray target(info, 30);
                    const Array from(from_device, info);
                    const Array to(to_device, info);
                    upload(from, source);
                    upload(to, target);
                    for (int level = 0; level < info.levels; ++level) {
                        const Region region = test::random_region(random, format, source.extent(level));
                        const View there = from.view({.level = level, .region = region});
                        const View here = to.view({.level = level, .region = region});
                        if (level % 2 == 0) {
                            copy(here, there);
                        } else {
                            copy(here, there, stream);
                            stream.synchronize();
                        }
                        target.write(level, region, source.read(level, region));
                    }
                    ASSERT_TRUE(holds(to, target));
                    ASSERT_TRUE(holds(from, source));
                }
            }
        }
    }
}

}  // namespace
}  // namespace texton
