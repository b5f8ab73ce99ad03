#include "kernels/cpu/direct_fetches.h"

#include <string>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton::detail {
namespace {

// Returns the call in a functor that makes this fetch, for messages.
std::string call_of(const RefusedFetch::Fetch& fetch) {
    switch (fetch.operation) {
        case FetchOperation::plain: return fmt::format("a fetch with the coordinates of {}", name(fetch.kind));
        case FetchOperation::lod: return fmt::format("a level of detail of {}", name(fetch.kind));
        case FetchOperation::gradients: return fmt::format("a fetch with gradients of {}", name(fetch.kind));
        case FetchOperation::gather: return fmt::format("a gather of component {}", fetch.component);
        case FetchOperation::texel: return "a texel fetch";
    }
    return "a fetch";
}

const char* source_name(TextureSource source) {
    switch (source) {
        case TextureSource::array: return "an array";
        case TextureSource::linear: return "a row of memory";
        case TextureSource::pitched: return "rows of memory";
    }
    return "";
}

}  // namespace

void RefusedFetch::add(const Fetch& fetch) noexcept {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = fetch;
}

void RefusedFetch::throw_if_any(const CpuJob& job) const {
    if (!first_) return;
    const FetchesOfTexture& texture = job.fetches[first_->texture];
    const char* usage = texture.gathers ? "" : ", without ArrayUsage::gather";
    throw Error({.code = ErrorCode::unsupported,
                 .object = job.object,
                 .problem = fmt::format("the functor requested {} from texture {}, a texture of {} of kind {}{}",
                                        call_of(*first_), first_->texture, source_name(texture.source),
                                        name(texture.kind), first_->operation == FetchOperation::gather ? usage : ""),
                 .remedy = "Use a fetch that the texture has, or pass another texture.",
                 .numbers = {{"texture", first_->texture}}});
}

bool FetchesOfTexture::has_other(ArrayKind requested, FetchOperation operation, int component) const noexcept {
    switch (operation) {
        case FetchOperation::plain: return false;
        case FetchOperation::lod:
        case FetchOperation::gradients: return requested == kind && source == TextureSource::array;
        case FetchOperation::gather: return requested == kind && gathers && component >= 0 && component < 4;
        case FetchOperation::texel: return source == TextureSource::linear;
    }
    return false;
}

DirectFetches::DirectFetches(const CpuJob& job, std::size_t texture, RefusedFetch& refused)
    : reader_(job.textures[texture]),
      single_(reader_.view(), job.textures[texture].sampler),
      has_(job.fetches[texture]),
      texture_(texture),
      refused_(refused) {}

Texel DirectFetches::fetch(ArrayKind kind, FetchOperation operation, const FetchPoint& at, int component) const {
    if (!has(kind, operation, component)) return {};
    return single_.fetch(at, operation, component);
}

Texel DirectFetches::fetch(ArrayKind kind, FetchOperation operation, const FetchPoint& at, int component,
                           bool& resident) const {
    (void)reader_.found_all();  // forgets earlier fetches
    const Texel texel = fetch(kind, operation, at, component);
    resident = reader_.found_all();
    return texel;
}

Texel fetch_on_cpu(const DirectFetches& fetches, ArrayKind kind, float x, float y, std::int32_t layer) {
    return fetches.plain(kind, x, y, layer);
}

Texel fetch_on_cpu(const DirectFetches& fetches, ArrayKind kind, FetchOperation operation, const FetchPoint& at,
                   int component) {
    return fetches.fetch(kind, operation, at, component);
}

Texel fetch_on_cpu(const DirectFetches& fetches, ArrayKind kind, FetchOperation operation, const FetchPoint& at,
                   int component, bool& resident) {
    return fetches.fetch(kind, operation, at, component, resident);
}

}  // namespace texton::detail
