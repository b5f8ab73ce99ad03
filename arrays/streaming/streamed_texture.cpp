#include <texton/streamed_texture.h>

#include <algorithm>
#include <utility>

#include "arrays/streaming/streamed_state.h"
#include "core/request.h"

namespace texton {

StreamedTexture::StreamedTexture(const Device& device, TilePyramid pyramid, const StreamedTextureInfo& options) try
    : state_(std::make_unique<detail::StreamedState>(device, std::move(pyramid), options)) {
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kStreamed);
}

StreamedTexture::~StreamedTexture() = default;
StreamedTexture::StreamedTexture(StreamedTexture&& other) noexcept = default;
StreamedTexture& StreamedTexture::operator=(StreamedTexture&& other) noexcept = default;

const ArrayInfo& StreamedTexture::info() const noexcept { return state_->array().array().info(); }
int StreamedTexture::first_level() const noexcept { return state_->first_level(); }
int StreamedTexture::resident_level() const noexcept { return state_->grid().resident_level(); }
const SparseArray& StreamedTexture::array() const noexcept { return state_->array(); }
const Texture& StreamedTexture::texture(int clamp) const { return state_->texture(clamp); }

void StreamedTexture::request(std::span<const StreamedView> views) try {
    state_->request(views);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kStreamed);
}

StreamingProgress StreamedTexture::update(const Stream& stream, std::chrono::microseconds limit) try {
    return state_->update(stream, limit);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kStreamed);
}

void StreamedTexture::wait_for_reads(std::chrono::microseconds limit) const { state_->wait_for_reads(limit); }

StreamedSamples StreamedTexture::sample(std::span<const FetchPoint> points, FetchOperation operation) try {
    return state_->sample(points, operation);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kStreamed);
}

std::array<Texture, StreamedFeedback::kMaxLevels> StreamedTexture::clamps() const {
    return [&]<std::size_t... clamp>(std::index_sequence<clamp...>) {
        return std::array{texture(std::min(static_cast<int>(clamp), resident_level()))...};
    }
    (std::make_index_sequence<StreamedFeedback::kMaxLevels>{});
}

StreamedFeedback StreamedTexture::feedback(std::size_t pixels) try {
    return state_->feedback(pixels);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kStreamed);
}

std::size_t StreamedTexture::budget() const { return state_->budget(); }
std::size_t StreamedTexture::minimum_budget() const { return state_->minimum_budget(); }
void StreamedTexture::set_budget(std::size_t bytes) { state_->set_budget(bytes); }

void StreamedTexture::invalidate(const StreamedView& view) try {
    state_->invalidate(&view);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kStreamed);
}

void StreamedTexture::invalidate() try { state_->invalidate(nullptr); } catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kStreamed);
}

void StreamedTexture::abort() try { state_->abort(); } catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kStreamed);
}

std::vector<StreamingFailure> StreamedTexture::failures() const try {
    return state_->failures();
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(detail::kStreamed);
}

StreamingStatistics StreamedTexture::statistics() const { return state_->statistics(); }

}  // namespace texton
