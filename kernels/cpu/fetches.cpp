#include "kernels/cpu/fetches.h"

#include <algorithm>

namespace texton::detail {

Texel fetch_on_cpu(RecordedFetches& fetches, std::size_t texture, ArrayKind kind, FetchOperation operation,
                   const FetchPoint& at, int component) {
    return static_cast<BlockFetches&>(fetches).fetch(texture, kind, operation, at, component);
}

BlockFetches::BlockFetches(const CpuJob& job, RefusedFetch& refused) : job_(job) {
    for (std::size_t i = 0; i < job.textures.size(); ++i) {
        direct_.emplace_back(job, i, refused);
        const FetchesOfTexture& fetches = job.fetches[i];
        const ArrayKind kind = fetches.kind;
        const bool rows = kind == ArrayKind::array_1d || kind == ArrayKind::array_2d || kind == ArrayKind::layered_2d;
        const bool has_rows = rows && fetches.has(kind, FetchOperation::plain, 0);
        recorded_.push_back(has_rows ? std::optional(kind) : std::nullopt);
    }
}

// Destroys the samplers in reverse order, since each restores the thread's modes from before its creation.
BlockFetches::~BlockFetches() {
    while (!rows_.empty()) rows_.pop_back();
}

bool BlockFetches::run_planned(const PlannedFunction& planned, std::span<const RecordingSource> sources,
                               PixelPosition at, std::span<Float4> room) {
    if (plan_.count == 0 || !planned) return false;
    static constexpr Texel kZeros{};
    PlannedPass pass{plan_, 0, {}};
    for (; pass.wanted < plan_.count; ++pass.wanted) {
        RecordedLane& lane = lanes_[pass.wanted];
        pass.x = lane.x;
        pass.y = lane.y;
        pass.known[pass.wanted] = &kZeros;
        if (!planned(sources, pass, at, room)) break;
        const RowSampler& fetched = rows(lane.texture, lane.layer);
        if (pass.is_pixel && job_.stores_fetches(lane.texture)) {
            fetched.fetch(lane.x, lane.y, room.size(), job_.image.format(), job_.image.address(at));
            return true;
        }
        fetched.fetch(lane.x, lane.y, room.size(), lane.texels);
        pass.known[pass.wanted] = lane.texels;
    }
    if (pass.wanted == plan_.count && planned(sources, pass, at, room)) {
        job_.image.store(at, room);
        return true;
    }
    can_plan_ = false;
    plan_ = {};
    return false;
}

// Plans the fetches of the block that is known now for the next blocks.
void BlockFetches::plan() {
    if (!can_plan_ || used_lanes_ == 0 || used_lanes_ > PlannedFetches::kMax) return;
    plan_.count = static_cast<unsigned>(used_lanes_);
    for (std::size_t i = 0; i < used_lanes_; ++i)
        plan_.fetches[i] = {lanes_[i].texture, lanes_[i].kind, lanes_[i].layer};
}

void BlockFetches::start(std::size_t pixels) {
    pixels_ = pixels;
    used_lanes_ = 0;
    first = nullptr;
    round = 0;
    std::fill_n(waiting, pixels, true);
}

RecordedLane& BlockFetches::add_lane(std::size_t texture, ArrayKind kind, std::int32_t layer) {
    if (used_lanes_ == lanes_.size()) {
        lanes_.emplace_back();
        lanes_.back().first_round = 0;
    }
    RecordedLane& lane = lanes_[used_lanes_];
    lane.texture = texture;
    lane.kind = kind;
    lane.layer = layer;
    lane.changed = false;
    lane.following = nullptr;
    (used_lanes_ == 0 ? first : lanes_[used_lanes_ - 1].following) = &lane;
    ++used_lanes_;
    std::fill_n(lane.x, pixels_, float_of(kNotRequested));
    std::fill_n(lane.y, pixels_, 0.0f);
    return lane;
}

Texel BlockFetches::fetch(std::size_t texture, ArrayKind kind, FetchOperation operation, const FetchPoint& at,
                          int component) {
    if (operation != FetchOperation::plain || recorded_[texture] != kind)
        return direct_[texture].fetch(kind, operation, at, component);
    if (next != nullptr) {  // other pixels made a fetch of another texture
        next = next->following;
    } else if (used_lanes_ < kMaxLanes && round < kMaxRounds) {
        RecordedLane& lane = add_lane(texture, kind, kind == ArrayKind::layered_2d ? at.layer : 0);
        changed = true;
        if (round < lane.first_round) return {};
        lane.x[pixel] = recorded_coordinate(at.x);
        lane.y[pixel] = kind == ArrayKind::array_1d ? 0.0f : recorded_coordinate(at.y);
        lane.changed = true;
        return {};
    }
    return direct_[texture].plain(kind, at.x, at.y, at.layer);
}

const RowSampler& BlockFetches::rows(std::size_t texture, std::int32_t layer) {
    for (const Rows& rows : rows_) {
        if (rows.texture == texture && rows.layer == layer) return *rows.sampler;
    }
    rows_.push_back({texture, layer, direct_[texture].reader().make_rows(layer)});
    return *rows_.back().sampler;
}

bool BlockFetches::settle() {
    if (std::none_of(waiting, waiting + pixels_, [](bool waits) { return waits; })) {
        plan();
        return true;
    }
    for (RecordedLane* lane = first; lane != nullptr; lane = lane->following) {
        if (!lane->changed) continue;
        lane->changed = false;
        lane->first_round = round;
        rows(lane->texture, lane->layer).fetch(lane->x, lane->y, pixels_, lane->texels);
    }
    ++round;
    if (round >= kMaxRounds) first = nullptr;  // all fetches of the next round are executed at once
    return false;
}

}  // namespace texton::detail
