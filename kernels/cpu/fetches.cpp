#include "kernels/cpu/fetches.h"

#include <algorithm>

namespace texton::detail {

bool begin_pixel(RecordedFetches& fetches, std::size_t pixel) { return fetches.begin(pixel); }

Texel fetch_on_cpu(RecordedFetches& fetches, std::size_t texture, ArrayKind kind, FetchOperation operation,
                   const FetchPoint& at, int component) {
    return fetches.fetch(texture, kind, operation, at, component);
}

RecordedFetches::RecordedFetches(const CpuJob& job, RefusedFetch& refused) {
    for (std::size_t i = 0; i < job.textures.size(); ++i) {
        direct_.emplace_back(job, i, refused);
        const FetchesOfTexture& fetches = job.fetches[i];
        const ArrayKind kind = fetches.kind;
        const bool rows = kind == ArrayKind::array_1d || kind == ArrayKind::array_2d || kind == ArrayKind::layered_2d;
        const bool has_rows = rows && fetches.has(kind, FetchOperation::plain, 0);
        recorded_.push_back({has_rows ? std::optional(kind) : std::nullopt, is_flat(job.textures[i].kind)});
    }
}

// Destroys the samplers in reverse order, since each restores the thread's modes from before its creation.
RecordedFetches::~RecordedFetches() {
    while (!rows_.empty()) rows_.pop_back();
}

void RecordedFetches::start(std::size_t pixels) {
    pixels_ = pixels;
    used_lanes_ = 0;
    round_ = 0;
    std::fill_n(waiting_, pixels, true);
}

bool RecordedFetches::begin(std::size_t pixel) {
    if (!waiting_[pixel]) return false;
    waiting_[pixel] = false;
    pixel_ = pixel;
    next_lane_ = 0;
    return true;
}

RecordedFetches::Lane& RecordedFetches::add_lane(std::size_t texture, const FetchPoint& at) {
    if (used_lanes_ == lanes_.size()) lanes_.push_back(std::make_unique<Lane>());
    Lane& lane = *lanes_[used_lanes_++];
    lane.texture = texture;
    lane.layer = at.layer;
    lane.is_recorded = false;
    std::fill_n(lane.x, pixels_, at.x);
    std::fill_n(lane.y, pixels_, at.y);
    std::fill_n(lane.known, pixels_, false);
    return lane;
}

Texel RecordedFetches::fetch(std::size_t texture, ArrayKind kind, FetchOperation operation, const FetchPoint& asked,
                             int component) {
    const Recorded& recorded = recorded_[texture];
    if (operation != FetchOperation::plain || recorded.kind != kind)
        return direct_[texture].fetch(kind, operation, asked, component);
    FetchPoint at = asked;
    if (recorded.flat) at.y = 0;
    if (next_lane_ < kMaxLanes && round_ < kMaxRounds) {
        const bool is_new = next_lane_ == used_lanes_;
        Lane& lane = is_new ? add_lane(texture, at) : *lanes_[next_lane_];
        ++next_lane_;
        if (lane.texture == texture && lane.layer == at.layer) {
            float& x = lane.x[pixel_];
            float& y = lane.y[pixel_];
            const bool same = bits_of(x) == bits_of(at.x) && bits_of(y) == bits_of(at.y);
            if (same && lane.known[pixel_]) return lane.texels[pixel_];
            x = at.x;
            y = at.y;
            lane.known[pixel_] = false;
            lane.is_recorded = true;
            waiting_[pixel_] = true;
            return {};
        }
    }
    return direct_[texture].plain(kind, at.x, at.y, at.layer);
}

const RowSampler& RecordedFetches::rows(std::size_t texture, std::int32_t layer) {
    for (const Rows& rows : rows_) {
        if (rows.texture == texture && rows.layer == layer) return *rows.sampler;
    }
    rows_.push_back({texture, layer, direct_[texture].reader().make_rows(layer)});
    return *rows_.back().sampler;
}

bool RecordedFetches::settle() {
    bool done = true;
    for (std::size_t i = 0; i < used_lanes_; ++i) {
        Lane& lane = *lanes_[i];
        if (!lane.is_recorded) continue;
        done = false;
        lane.is_recorded = false;
        rows(lane.texture, lane.layer).fetch(lane.x, lane.y, pixels_, lane.texels);
        std::fill_n(lane.known, pixels_, true);
    }
    ++round_;
    return done;
}

}  // namespace texton::detail
