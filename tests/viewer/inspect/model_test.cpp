// Compares the footprint of a fetch with the model itself: with texels that record each read, with texels of which one
// is 1, and with arrays of which one texel is changed.
#include "viewer/inspect/model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>

#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"
#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"
#include "viewer/inspect/copied_texels.h"
#include "viewer/inspect/fetches.h"

namespace texton::viewer {
namespace {

using test::Random;

Sampler random_sampler(Random& random, const ArrayInfo& info) {
    const FormatKind kind = texton::info(info.format).kind;
    const bool integers = kind == FormatKind::uint || kind == FormatKind::sint;
    Sampler sampler;
    sampler.filter = random.coin() && !integers ? Filter::linear : Filter::point;
    sampler.mip_filter = random.coin() && !integers ? Filter::linear : Filter::point;
    sampler.normalized_coordinates = info.levels > 1 || is_cube(info.kind) || random.coin();
    const std::size_t modes = sampler.normalized_coordinates ? 4 : 2;
    for (AddressMode& mode : sampler.address) {
        const AddressMode all[4] = {AddressMode::clamp, AddressMode::border, AddressMode::wrap, AddressMode::mirror};
        mode = all[random.below(modes)];
    }
    sampler.seamless_cubemap = is_cube(info.kind) && random.coin();
    sampler.trilinear_optimization = random.coin();
    const std::uint8_t ratios[] = {1, 2, 4, 8, 16};
    sampler.max_anisotropy = random.coin() ? 1 : ratios[random.below(5)];
    if (random.below(4) == 0) sampler.mip_bias = 3 * random.unit() - 1.5f;
    if (random.below(4) == 0) sampler.mip_min = random.unit();
    for (float& channel : sampler.border) channel = random.unit();
    return sampler;
}

Fetch random_fetch(Random& random, const ArrayInfo& info, const Sampler& sampler) {
    Fetch fetch;
    const FetchOperation all[4] = {FetchOperation::plain, FetchOperation::lod, FetchOperation::gradients,
                                   FetchOperation::gather};
    fetch.operation = all[random.below(info.usage.gather ? 4 : 3)];
    fetch.component = static_cast<int>(random.below(4));
    const auto subresource = [&](std::size_t size) {
        const float share = 1.6f * random.unit() - 0.3f;
        return sampler.normalized_coordinates ? share : share * static_cast<float>(size);
    };
    fetch.point.x = subresource(info.extent.width);
    fetch.point.y = subresource(info.extent.height);
    fetch.point.z = subresource(info.extent.depth);
    if (is_cube(info.kind)) {
        fetch.point.x = 2 * random.unit() - 1;
        fetch.point.y = 2 * random.unit() - 1;
        fetch.point.z = 2 * random.unit() - 1;
    }
    fetch.point.layer = static_cast<std::int32_t>(random.below(info.layers + 1));
    fetch.point.lod = 4 * random.unit() - 0.5f;
    const float texels = sampler.normalized_coordinates ? 1 : static_cast<float>(info.extent.width);
    const float longer = texels * std::exp2(1 - 5 * random.unit());
    const float shorter = longer * std::exp2(-4 * random.unit());
    for (int axis = 0; axis < 3; ++axis) {
        fetch.point.dx[axis] = longer * (random.unit() - 0.5f);
        fetch.point.dy[axis] = shorter * (random.unit() - 0.5f);
    }
    return fetch;
}

ArrayInfo random_info(Random& random, const std::vector<Format>& formats) {
    const std::vector<ArrayKind> kinds(test::all_kinds().begin(), test::all_kinds().end());
    const ArrayKind kind = random.of(kinds);
    ArrayInfo info =
        random.coin() ? test::small_info(kind, random.of(formats)) : test::flat_info(kind, random.of(formats));
    info.usage.gather = kind == ArrayKind::array_2d;
    return info;
}

// Texel of the array that an entry refers to: level, column, row, and slice. Layers and faces count as slices.
using Where = std::tuple<int, int, int, int>;
Where where_of(const FootprintTexel& texel) {
    const int z = texel.face < 0 ? texel.found[2] : texel.found[2] * 6 + texel.face;
    return {texel.level, texel.found[0], texel.found[1], z};
}

// --- reads of the model ----------------------------------------------------------------------------------------------

// float32 texels of which the n-th that is read is 1, and all others are 0.
class Indicator {
public:
    explicit Indicator(const detail::TextureView& of) : view_(of) {
        view_.format = detail::texel_format(Format::r32_float);
        for (int level = 0; level < view_.level_count; ++level) {
            levels_[level].owner = this;
            levels_[level].level = level;
            view_.levels[level].partial = &levels_[level];
        }
    }

    // Returns the result of the model if read number `lit` returns 1. With -1 all reads return 0. reads() then lists
    // all reads.
    double run(const Sampler& sampler, const Fetch& fetch, int lit) {
        reads_.clear();
        lit_ = lit;
        const Texel texel = detail::fetch_point(view_, sampler, fetch.point, fetch.operation, 0);
        return static_cast<double>(texel.as_float(0));
    }
    const std::vector<Where>& reads() const { return reads_; }

private:
    class Level final : public detail::PartialTexels {
    public:
        const unsigned char* find(int x, int y, int z) override {
            static const float one = 1;
            static const float zero = 0;
            owner->reads_.push_back({level, x, y, z});
            const bool lit = static_cast<int>(owner->reads_.size()) - 1 == owner->lit_;
            return reinterpret_cast<const unsigned char*>(lit ? &one : &zero);
        }
        Indicator* owner = nullptr;
        int level = 0;
    };

    detail::TextureView view_;
    Level levels_[detail::kMaxLevels];
    std::vector<Where> reads_;
    int lit_ = -1;
};

TEST(FootprintTest, FootprintListsTheReadsOfTheModelInOrderWithTheirWeights) {
    Random random(1);
    std::size_t rows = 0, borders = 0, faces = 0;
    for (int round = 0; round < 2000; ++round) {
        const ArrayInfo info = random_info(random, {Format::r32_float});
        Sampler sampler = random_sampler(random, info);
        std::ranges::fill(sampler.border, 0.0f);
        const Fetch fetch = random_fetch(random, info, sampler);
        if (fetch.operation == FetchOperation::gather) continue;  // gathered texels have no weights
        SCOPED_TRACE(test::describe(info) + ", round " + std::to_string(round));
        const Array array(Device::cpu(), info);
        const test::ReferenceArray texels(info, 5);
        test::upload(array, texels);
        const Model model(array, sampler);
        const Footprint found = model.footprint(fetch);

        Indicator indicator(model.view());
        indicator.run(sampler, fetch, -1);
        std::vector<Where> listed;
        std::vector<double> weights;
        for (const FootprintTexel& texel : found.texels) {
            borders += texel.border;
            faces += texel.face >= 0 && texel.asked[0] != texel.found[0];
            if (texel.border) continue;
            listed.push_back(where_of(texel));
            weights.push_back(texel.weight);
        }
        const std::vector<Where> reads = indicator.reads();
        ASSERT_EQ(listed, reads);
        for (std::size_t i = 0; i < reads.size(); ++i)
            ASSERT_EQ(indicator.run(sampler, fetch, static_cast<int>(i)), weights[i]) << "read " << i;
        double all = 0;
        for (const FootprintTexel& texel : found.texels) all += texel.weight;
        ASSERT_EQ(all, 1.0);
        rows += found.levels.ratio > 1;
    }
    EXPECT_GT(rows, 100u);
    EXPECT_GT(borders, 100u);
    EXPECT_GT(faces, 20u) << "texels of adjacent faces";
}

TEST(FootprintTest, RequestedPositionIsTakenBeforeTheAddressMode) {
    const Array array(Device::cpu(), {.format = Format::r32_float, .extent = {4, 4}});
    const auto asked = [&](AddressMode mode, Filter filter, float x) {
        const Sampler sampler{.address = {mode, mode, mode}, .filter = filter, .normalized_coordinates = true};
        return Model(array, sampler).footprint({.point = {.x = x, .y = 0.3f}}).texels.front();
    };
    struct Row {
        AddressMode mode;
        float x;
        std::int64_t asked;
        std::int32_t found;
    };
    for (const Row& row : {Row{AddressMode::wrap, 3.3f, 13, 1}, Row{AddressMode::wrap, -0.1f, -1, 3},
                           Row{AddressMode::mirror, 1.3f, 5, 2}, Row{AddressMode::clamp, -2.0f, -8, 0},
                           Row{AddressMode::clamp, 1.3f, 5, 3}}) {
        const FootprintTexel texel = asked(row.mode, Filter::point, row.x);
        EXPECT_EQ(texel.asked[0], row.asked);
        EXPECT_EQ(texel.found[0], row.found);
        EXPECT_FALSE(texel.border);
    }
    const FootprintTexel outside = asked(AddressMode::border, Filter::point, 2.0f);
    EXPECT_TRUE(outside.border);
    EXPECT_EQ(outside.asked[0], 8);
    EXPECT_EQ(asked(AddressMode::wrap, Filter::linear, -1.0f).asked[0], -5) << "-4 minus half a texel";
}

// For each address mode, the requested texel must lead to the texel that is read.
TEST(FootprintTest, AddressModeMapsRequestedPositionsToReadPositions) {
    Random random(2);
    for (int round = 0; round < 1000; ++round) {
        const ArrayInfo info = random_info(random, {Format::r16_float});
        if (is_cube(info.kind)) continue;
        const Sampler sampler = random_sampler(random, info);
        const Array array(Device::cpu(), info);
        const Model model(array, sampler);
        for (const FootprintTexel& texel : model.footprint(random_fetch(random, info, sampler)).texels) {
            const Extent extent = level_extent(info, texel.level);
            const auto led = [](std::int64_t asked, std::size_t size, AddressMode mode) {
                return detail::address_texel(asked, static_cast<std::int32_t>(size), mode);
            };
            const int x = led(texel.asked[0], extent.width, sampler.address[0]);
            const int y = led(texel.asked[1], extent.height, sampler.address[1]);
            const int z = info.kind == ArrayKind::array_3d ? led(texel.asked[2], extent.depth, sampler.address[2]) : 0;
            ASSERT_EQ(texel.border, x < 0 || y < 0 || z < 0);
            if (texel.border) continue;
            // Clamping moves all texels of a footprint: texels that moved have weight 0, and the first is the edge.
            ASSERT_EQ(texel.found[0], x);
            ASSERT_EQ(texel.found[1], y);
            if (info.kind == ArrayKind::array_3d) {
                ASSERT_EQ(texel.found[2], z);
            }
        }
    }
}

// --- texels that affect the result -----------------------------------------------------------------------------------

// Changes a channel to the value farthest from the stored value, or to NaN.
void change(std::byte* texel, Format format) {
    switch (info(format).kind) {
        case FormatKind::floating:
            texel[info(format).bytes - 1] = std::byte{0x7f};
            texel[info(format).bytes - 2] = std::byte{0xff};
            return;
        case FormatKind::snorm:
        case FormatKind::sint: {
            const bool negative = (texel[info(format).bytes - 1] & std::byte{0x80}) != std::byte{0};
            for (int i = 0; i < info(format).bytes; ++i) texel[i] = negative ? std::byte{0xff} : std::byte{0};
            texel[info(format).bytes - 1] = negative ? std::byte{0x7f} : std::byte{0x80};
            return;
        }
        case FormatKind::uint:
        case FormatKind::unorm:
        case FormatKind::srgb: break;
    }
    const bool high = (texel[info(format).bytes - 1] & std::byte{0x80}) != std::byte{0};
    for (int i = 0; i < info(format).bytes; ++i) texel[i] = high ? std::byte{0} : std::byte{0xff};
}

TEST(FootprintTest, FootprintContainsExactlyTheTexelsThatAffectTheResult) {
    Random random(3);
    std::size_t weightless = 0;
    for (int round = 0; round < 1000; ++round) {
        const ArrayInfo info = random_info(
            random, {Format::r32_float, Format::r16_float, Format::r16_unorm, Format::r16_snorm, Format::r32_uint});
        SCOPED_TRACE(test::describe(info) + ", round " + std::to_string(round));
        const Sampler sampler = random_sampler(random, info);
        Fetch fetch = random_fetch(random, info, sampler);
        fetch.component = 0;
        const Array array(Device::cpu(), info);
        const std::size_t bytes = texton::info(info.format).bytes;
        std::vector<test::Bytes> levels;
        detail::TextureView view = Model(array, sampler).view();
        for (int level = 0; level < info.levels; ++level) {
            const Extent box = test::level_box(info, level);
            levels.push_back(test::random_texels(random, info.format, box.width * box.height * box.depth * bytes));
            test::upload(array.view({.level = level}), levels.back());
            detail::LevelView& to = view.levels[level];
            to.partial = nullptr;
            to.data = reinterpret_cast<const unsigned char*>(levels.back().data());
            to.row_pitch = static_cast<std::int64_t>(box.width * bytes);
            to.slice_pitch = static_cast<std::int64_t>(box.height * box.width * bytes);
        }
        const Footprint found = Model(array, sampler).footprint(fetch);
        std::set<Where> listed;
        for (const FootprintTexel& texel : found.texels) {
            if (!texel.border) listed.insert(where_of(texel));
            weightless += texel.weight == 0;
        }
        const auto run = [&] { return detail::fetch_point(view, sampler, fetch.point, fetch.operation, 0); };
        const Texel before = run();
        ASSERT_EQ(before, found.result);
        for (int level = 0; level < info.levels; ++level) {
            const Extent box = test::level_box(info, level);
            for (std::size_t i = 0; i < box.width * box.height * box.depth; ++i) {
                std::byte* texel = levels[static_cast<std::size_t>(level)].data() + i * bytes;
                const test::Bytes kept(texel, texel + bytes);
                change(texel, info.format);
                const bool shows = !(run() == before);
                std::ranges::copy(kept, texel);
                const Where at{level, static_cast<int>(i % box.width), static_cast<int>(i / box.width % box.height),
                               static_cast<int>(i / box.width / box.height)};
                ASSERT_EQ(shows, listed.contains(at))
                    << std::get<1>(at) << " " << std::get<2>(at) << " " << std::get<3>(at) << " of level " << level;
            }
        }
    }
    EXPECT_GT(weightless, 0u) << "texels with weight 0 affect the result only through NaN";
}

// --- the sum ---

// Maximum difference of the model's result from the exact sum: the bits lost when texels are aligned to the largest
// exponent, and the rounding of the result. The terms follow texel_filter.h.
double rounding(Format format, const Footprint& found, double result) {
    double largest = 0;
    for (const FootprintTexel& texel : found.texels) largest = std::max(largest, std::abs(texel.value[0]));
    const auto half_step = [](double value, int bits, int minimum) {
        return std::ldexp(0.5, std::max(value == 0 ? minimum : std::ilogb(value) - bits, minimum));
    };
    const auto guard = [&](int bits) { return largest == 0 ? 0 : std::ldexp(1.0, std::ilogb(largest) - bits - 4); };
    const auto texels = static_cast<double>(found.texels.size());
    const double aligned = largest == 0 ? 0 : texels * std::ldexp(1.0, std::ilogb(largest) - 30);
    switch (info(format).kind) {
        case FormatKind::unorm: return 0.5 / 65535 + 1e-7;
        case FormatKind::snorm:
            return (info(format).bits == 8 ? 1.5 : 0.5) / 32767 + 1e-7 + (result <= -1 ? 1.0 / 127 : 0);
        case FormatKind::floating:
            return info(format).bits == 32 ? guard(23) + aligned + half_step(result, 23, -149)
                                           : guard(10) + aligned * 8192 / 4 + half_step(result, 10, -24);
        case FormatKind::uint:
        case FormatKind::sint: return info(format).bits == 32 ? 1 : 0.5;
        case FormatKind::srgb: break;
    }
    return 0;
}

TEST(FootprintTest, SumOfContributionsEqualsTheResultExceptForRounding) {
    Random random(4);
    for (int round = 0; round < 3000; ++round) {
        const ArrayInfo info = random_info(
            random, {Format::r32_float, Format::r16_float, Format::r16_unorm, Format::r8_unorm, Format::r16_snorm,
                     Format::r8_snorm, Format::r32_uint, Format::r8_uint, Format::r16_sint});
        SCOPED_TRACE(test::describe(info) + ", round " + std::to_string(round));
        const Sampler sampler = random_sampler(random, info);
        const Array array(Device::cpu(), info);
        for (int level = 0; level < info.levels; ++level) {
            const Extent box = test::level_box(info, level);
            const std::size_t bytes = box.width * box.height * box.depth * texton::info(info.format).bytes;
            test::upload(array.view({.level = level}), test::random_texels(random, info.format, bytes));
        }
        const Model model(array, sampler);
        Fetch fetch = random_fetch(random, info, sampler);
        fetch.component = 0;
        const Footprint found = model.footprint(fetch);
        ASSERT_FALSE(found.texels.empty());
        const double result = numbers_of(found.result, info.format)[0];
        const double sum = found.texels.back().sum[0];
        if (!std::isfinite(sum) || std::isinf(result)) continue;  // beyond the maximum of float16
        EXPECT_LE(std::abs(sum - result), rounding(info.format, found, result)) << sum << " and " << result;
        EXPECT_EQ(found.result, fetched(model.texture(), fetch)) << "must equal the fetch on the device";
    }
}

TEST(FootprintTest, GatheredTexelsBecomeTheFourChannels) {
    const Array array(Device::cpu(), {.format = Format::rg32_float, .extent = {4, 4}, .usage = {.gather = true}});
    std::vector<float> texels(32);
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i);
    test::upload(array.view(), std::as_bytes(std::span(texels)));
    const Model model(array, {});
    const Footprint found =
        model.footprint({.operation = FetchOperation::gather, .component = 1, .point = {.x = 2, .y = 2}});
    ASSERT_EQ(found.texels.size(), 4u);
    EXPECT_EQ(found.texels.back().sum, numbers_of(found.result, Format::rg32_float));
    EXPECT_EQ(where_of(found.texels[0]), (Where{0, 1, 2, 0}));
    EXPECT_EQ(where_of(found.texels[3]), (Where{0, 1, 1, 0}));
}

// --- copied texels ---------------------------------------------------------------------------------------------------

class ModelTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ModelTest, test::every_device(), test::device_label);

TEST_P(ModelTest, ModelCopiesOnlyTheTexelsThatAFetchReads) {
    const Array array(device(), {.format = Format::r16_unorm, .extent = {2000, 1500}, .levels = 3});
    for (int level = 0; level < 3; ++level) fill(array.view({.level = level}), std::uint16_t{0});
    const Sampler sampler{.address = {AddressMode::wrap, AddressMode::wrap, AddressMode::wrap},
                          .filter = Filter::linear,
                          .mip_filter = Filter::linear,
                          .normalized_coordinates = true};
    const Model model(array, sampler);
    const Fetch inside{.point = {.x = 0.5f, .y = 0.5f}};
    EXPECT_EQ(model.levels(inside).level, 0);
    EXPECT_EQ(model.copied_bytes(), 0u) << "selecting a level reads no texels";
    constexpr std::size_t kSquare = CopiedTexels::kSide * CopiedTexels::kSide * 2;
    EXPECT_EQ(model.footprint(inside).texels.size(), 4u);
    EXPECT_EQ(model.copied_bytes(), kSquare);
    (void)model.fetch(inside);
    EXPECT_EQ(model.copied_bytes(), kSquare) << "once";
    (void)model.fetch({.operation = FetchOperation::lod, .point = {.x = 0.51f, .y = 0.51f, .lod = 0.5f}});
    EXPECT_EQ(model.copied_bytes(), 2 * kSquare) << "the next level";
    // The texels at the corner come from all four corners of the array. The squares of the last column and row are
    // smaller.
    (void)model.fetch({});
    EXPECT_EQ(model.copied_bytes(), 2 * kSquare + 2 * (32 + 2000 % 32) * (32 + 1500 % 32));
}

TEST_P(ModelTest, ModelReturnsTheSameResultForArraysOfAnyDevice) {
    Random random(8);
    for (int round = 0; round < 300; ++round) {
        const ArrayInfo info = random_info(random, {Format::r32_float, Format::rgba8_unorm, Format::rg16_float});
        SCOPED_TRACE(test::describe(info) + ", round " + std::to_string(round));
        const Sampler sampler = random_sampler(random, info);
        const Array here(Device::cpu(), info), there(device(), info);
        const test::ReferenceArray texels(info, static_cast<unsigned>(round));
        test::upload(here, texels);
        test::upload(there, texels);
        const Fetch fetch = random_fetch(random, info, sampler);
        const Footprint found = Model(there, sampler).footprint(fetch);
        EXPECT_EQ(found.result, fetched(Texture(here, sampler), fetch));
        const Footprint same = Model(here, sampler).footprint(fetch);
        ASSERT_EQ(found.texels.size(), same.texels.size());
        for (std::size_t i = 0; i < found.texels.size(); ++i)
            EXPECT_EQ(where_of(found.texels[i]), where_of(same.texels[i])) << i;
    }
}

TEST_P(ModelTest, ModelCopiesWholeBlocksOfCompressedTexels) {
    const ArrayInfo info{.format = Format::bc1_unorm, .extent = {68, 44}};
    const Array array(device(), info);
    Random random(9);
    test::upload(array.view(), test::random_texels(random, info.format, packed_bytes(info)));
    const Model model(array, {});
    const Texture texture(array, {});
    for (int round = 0; round < 200; ++round) {
        const Fetch fetch{.point = {.x = 68 * random.unit(), .y = 44 * random.unit()}};
        ASSERT_EQ(model.fetch(fetch), fetched(texture, fetch)) << fetch.point.x << ", " << fetch.point.y;
    }
    EXPECT_EQ(model.copied_bytes(), packed_bytes(info));
}

// --- levels of detail ---

// Each level has its own index as value, so the result of a fetch is the level of detail that it reads.
TEST(LevelChoiceTest, ChosenLevelsAreTheLevelsThatTheFetchReads) {
    Random random(6);
    std::size_t between = 0, rows = 0;
    for (int round = 0; round < 4000; ++round) {
        ArrayInfo info = test::small_info(random.of(std::vector(test::all_kinds().begin(), test::all_kinds().end())),
                                          Format::r32_float);
        info.usage.gather = false;
        const Array array(Device::cpu(), info);
        for (int level = 0; level < info.levels; ++level) {
            const Extent box = test::level_box(info, level);
            const std::vector<float> texels(box.width * box.height * box.depth, static_cast<float>(level));
            test::upload(array.view({.level = level}), std::as_bytes(std::span(texels)));
        }
        Sampler sampler = random_sampler(random, info);
        std::ranges::fill(sampler.address, AddressMode::clamp);
        const Model model(array, sampler);
        const Fetch fetch = random_fetch(random, info, sampler);
        const LevelChoice choice = model.levels(fetch);
        const float read = static_cast<float>(choice.level) + static_cast<float>(choice.next_weight) / 256;
        ASSERT_EQ(model.fetch(fetch).as_float(0), read) << round;
        if (sampler.mip_filter == Filter::linear) {
            ASSERT_EQ(choice.clamped, choice.level * 256 + choice.next_weight);
        } else {
            ASSERT_EQ(choice.next_weight, 0);
            ASSERT_EQ(choice.level, (choice.clamped + 128) >> 8);
        }
        std::map<int, std::set<int>> samples;
        for (const FootprintTexel& texel : model.footprint(fetch).texels) samples[texel.level].insert(texel.sample);
        ASSERT_LE(samples[choice.level].size(), static_cast<std::size_t>(choice.samples[0]));
        ASSERT_LE(samples[choice.level + 1].size(), static_cast<std::size_t>(choice.samples[1]));
        ASSERT_EQ(choice.ratio > 1, choice.samples[0] > 1);
        between += choice.next_weight != 0;
        rows += choice.samples[0] > 2;
    }
    EXPECT_GT(between, 100u);
    EXPECT_GT(rows, 50u);
}

TEST(LevelChoiceTest, BiasIsAppliedBeforeTheLimits) {
    const Array array(Device::cpu(), {.format = Format::r8_unorm, .extent = {64, 64}, .levels = 7});
    const Sampler sampler{.filter = Filter::linear,
                          .mip_filter = Filter::linear,
                          .normalized_coordinates = true,
                          .mip_bias = 1.5f,
                          .mip_min = 0.5f,
                          .mip_max = 3};
    const Model model(array, sampler);
    const auto choice = [&](float lod) {
        return model.levels({.operation = FetchOperation::lod, .point = {.x = 0.5f, .y = 0.5f, .lod = lod}});
    };
    EXPECT_EQ(choice(0.25f), (LevelChoice{64, 448, 448, 1, 192, 1, {1, 1}}));
    EXPECT_EQ(choice(5).clamped, 768);
    EXPECT_EQ(choice(-9).biased, -1920);
    EXPECT_EQ(choice(-9).clamped, 128);
    const Fetch plain{.point = {.x = 0.5f, .y = 0.5f}};
    EXPECT_EQ(model.levels(plain), LevelChoice{}) << "a plain fetch reads level 0 with any sampler";
}

// --- positions ---

TEST(SubresourceFetchesTest, TexelCenterReadsTheTexelInEveryKindOfArray) {
    Random random(7);
    for (const ArrayKind kind : test::all_kinds()) {
        for (const bool normalized : {true, false}) {
            const ArrayInfo info =
                normalized ? test::small_info(kind, Format::r32_uint) : test::flat_info(kind, Format::r32_uint);
            if (!normalized && is_cube(kind)) continue;
            const Array array(Device::cpu(), info);
            const Sampler sampler{.normalized_coordinates = normalized};
            const Model model(array, sampler);
            for (int round = 0; round < 100; ++round) {
                SubresourceIndex subresource{.level =
                                                 static_cast<int>(random.below(static_cast<std::size_t>(info.levels)))};
                const Extent extent = level_extent(info, subresource.level);
                subresource.layer = random.below(info.layers);
                if (is_cube(kind)) subresource.face = static_cast<int>(random.below(6));
                subresource.slice = random.below(extent.depth);
                const auto x = random.below(extent.width);
                const auto y = random.below(extent.height);
                const Fetch fetch = SubresourceFetches(info, subresource, sampler)
                                        .at({static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5});
                const std::vector<FootprintTexel> texels = model.footprint(fetch).texels;
                ASSERT_EQ(texels.size(), 1u);
                const int z = kind == ArrayKind::array_3d ? static_cast<int>(subresource.slice)
                                                          : static_cast<int>(subresource.layer);
                EXPECT_EQ(texels[0].level, subresource.level);
                EXPECT_EQ(texels[0].found, (std::array<std::int32_t, 3>{static_cast<int>(x), static_cast<int>(y), z}));
                EXPECT_EQ(texels[0].face, is_cube(kind) ? subresource.face : -1);
            }
        }
    }
}

TEST(SubresourceFetchesTest, StepsOfTwoTexelsGiveALevelOfDetailOfOne) {
    const ArrayInfo info{.format = Format::r8_unorm, .extent = {64, 32}, .levels = 6};
    const Array array(Device::cpu(), info);
    const Sampler sampler{.normalized_coordinates = true, .max_anisotropy = 1};
    const Model model(array, sampler);
    const SubresourceFetches fetches(info, {.level = 1}, sampler);
    EXPECT_EQ(model.levels(fetches.at({3, 3}, {{2, 0}, {0, 2}})).lod, 512) << "relative to level 1";
    EXPECT_EQ(model.levels(fetches.at({3, 3}, {{0, -1}, {1, 0}})).lod, 256);
}

TEST(FetchGridTest, VisiblePixelsHaveTheirCenterOnTheImage) {
    const ViewState view{4, {10, 5}};
    const FetchGrid grid = visible_grid(view, 100, 60, {20, 10});
    EXPECT_EQ(grid.columns, 80u);
    EXPECT_EQ(grid.rows, 40u);
    EXPECT_EQ(grid.first, (Position{0.125, 0.125}));
    EXPECT_EQ(grid.step, (Position{0.25, 0.25}));
    EXPECT_EQ(visible_grid({4, {900, 5}}, 100, 60, {20, 10}).columns, 0u);
    EXPECT_EQ(visible_grid({0.5, {10, 5}}, 100, 60, {20, 10}).columns, 10u);
    EXPECT_EQ(whole_grid({3, 2}, 4).at(11, 7), (Position{2.875, 1.875}));
}

}  // namespace
}  // namespace texton::viewer
