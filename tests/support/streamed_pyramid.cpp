#include "tests/support/streamed_pyramid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <texton/sample.h>

#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"

namespace texton::test {

namespace {

// A level whose texels are zeros. It records whether a texel without memory was read.
class RecordedLevel final : public detail::PartialTexels {
public:
    const unsigned char* find(int x, int y, int z) override {
        static constexpr unsigned char kZeros[16] = {};
        if (always_resident) return kZeros;
        const std::size_t layer = volume ? 0 : static_cast<std::size_t>(z);
        const std::size_t slice = volume ? static_cast<std::size_t>(z) / tile.depth : 0;
        const std::size_t index = (slice * tiles.height + static_cast<std::size_t>(y) / tile.height) * tiles.width +
                                  static_cast<std::size_t>(x) / tile.width;
        missed |= counts && !resident.at(layer).at(index);
        return kZeros;
    }

    std::vector<std::vector<bool>> resident;  // by layer
    Extent tile;
    Extent tiles;
    bool volume = false;
    bool always_resident = false;
    bool missed = false;
};

}  // namespace

struct ClampOracle::Levels {
    detail::TextureView view{};
    std::vector<RecordedLevel> of;
};

ClampOracle::ClampOracle(const StreamedTexture& texture, const Sampler& sampler)
    : levels_(std::make_unique<Levels>()), sampler_(sampler), last_(texture.resident_level()) {
    const ArrayInfo& info = texture.info();
    levels_->view.kind = info.kind;
    levels_->view.format = detail::texel_format(info.format);
    levels_->view.level_count = info.levels;
    levels_->of.resize(static_cast<std::size_t>(info.levels));
    for (int level = 0; level < info.levels; ++level) {
        RecordedLevel& own = levels_->of[static_cast<std::size_t>(level)];
        own.volume = info.kind == ArrayKind::array_3d;
        own.tile = texture.array().properties().tile;
        own.always_resident = level >= texture.array().properties().first_tail_level;
        if (!own.always_resident) {
            own.tiles = texture.array().tiles(level);
            for (std::size_t layer = 0; layer < (is_layered(info.kind) ? info.layers : 1); ++layer)
                own.resident.push_back(texture.array().residency(level, layer));
        }
        levels_->view.levels[level] = detail::level_view(nullptr, level_box(info, level), 16, 16);
        levels_->view.levels[level].partial = &own;
    }
}

ClampOracle::~ClampOracle() = default;

int ClampOracle::clamp(const FetchPoint& point, FetchOperation operation) const {
    for (int clamp = 0; clamp < last_; ++clamp) {
        Sampler sampler = sampler_;
        sampler.mip_min = std::max(sampler.mip_min, static_cast<float>(clamp));
        for (RecordedLevel& level : levels_->of) level.missed = false;
        (void)detail::fetch_point(levels_->view, sampler, point, operation, 0);
        if (std::ranges::none_of(levels_->of, [](const RecordedLevel& level) { return level.missed; })) return clamp;
    }
    return last_;
}

FetchPoint random_point(Random& random, const ArrayInfo& info) {
    const auto coordinate = [&](std::size_t size) {
        switch (random.below(16)) {
            case 0: return 4 * random.unit() - 2;
            case 1: return static_cast<float>(random.below(size + 1)) / static_cast<float>(size);  // between texels
            case 2: return (static_cast<float>(random.below(size)) + 0.5f) / static_cast<float>(size);  // at a center
            default: return random.unit();
        }
    };
    FetchPoint point{.x = coordinate(info.extent.width),
                     .y = coordinate(info.extent.height),
                     .z = coordinate(info.extent.depth),
                     .layer = static_cast<std::int32_t>(random.below(info.layers + 1))};
    if (random.below(200) == 0) {
        const float far[] = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN(), 1e30f, -3e9f};
        (random.coin() ? point.x : point.y) = far[random.below(5)];
    }
    const auto levels = static_cast<float>(info.levels);
    point.lod = random.coin() ? (levels + 2) * random.unit() - 1 : static_cast<float>(random.below(4));
    for (int i = 0; i < 3; ++i) {
        const float size = std::exp2(-(levels + 1) * random.unit());
        point.dx[i] = size * (2 * random.unit() - 1);
        point.dy[i] = (random.coin() ? 0.1f : 1.0f) * size * (2 * random.unit() - 1);
    }
    return point;
}

std::vector<FetchPoint> random_points(Random& random, const ArrayInfo& info, std::size_t count) {
    std::vector<FetchPoint> points;
    for (std::size_t i = 0; i < count; ++i) points.push_back(random_point(random, info));
    return points;
}

void set_address_modes(Sampler& sampler, std::size_t number) {
    const AddressMode modes[] = {AddressMode::clamp, AddressMode::wrap, AddressMode::mirror, AddressMode::border};
    for (std::size_t axis = 0; axis < 3; ++axis) sampler.address[axis] = modes[(number + axis) % 4];
}

std::size_t expect_smallest_clamps(const StreamedTexture& texture, const Array& plain, const Sampler& sampler,
                                   const std::vector<FetchPoint>& points, FetchOperation operation,
                                   const StreamedSamples& found) {
    const ClampOracle oracle(texture, sampler);
    std::size_t coarse = 0;
    for (int clamp = 0; clamp <= texture.resident_level(); ++clamp) {
        Sampler clamped = sampler;
        clamped.mip_min = std::max(clamped.mip_min, static_cast<float>(clamp));
        const Samples expected = sample(Texture(plain, clamped), points, {.operation = operation});
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (found.clamps[i] != clamp) continue;
            coarse += clamp != 0;
            EXPECT_EQ(found.texels[i], expected.texels[i])
                << "clamp " << clamp << " at " << points[i].x << ", " << points[i].y << ", lod " << points[i].lod;
            EXPECT_EQ(clamp, oracle.clamp(points[i], operation)) << points[i].x << ", " << points[i].y;
        }
    }
    return coarse;
}

StreamingProgress settle(StreamedTexture& texture, const Stream& stream) {
    for (;;) {
        const StreamingProgress progress = texture.update(stream, std::chrono::milliseconds(50));
        if (progress.settled()) return progress;
        texture.wait_for_reads(std::chrono::milliseconds(50));
    }
}

}  // namespace texton::test
