#include "arrays/texture_state.h"

#include <algorithm>
#include <bit>

namespace texton::detail {
namespace {

std::uint64_t pair_of(float low, float high) noexcept {
    return std::bit_cast<std::uint32_t>(low) | std::uint64_t{std::bit_cast<std::uint32_t>(high)} << 32;
}

// Returns the modes of the sampler in separate bits of a word.
std::uint64_t modes_of(const Sampler& sampler) noexcept {
    std::uint64_t modes = 0;
    for (const AddressMode mode : sampler.address) modes = modes << 8 | static_cast<std::uint64_t>(mode);
    modes = modes << 8 | static_cast<std::uint64_t>(sampler.filter);
    modes = modes << 8 | static_cast<std::uint64_t>(sampler.mip_filter);
    modes = modes << 8 | sampler.max_anisotropy;
    return modes << 3 | std::uint64_t{sampler.normalized_coordinates} << 2 |
           std::uint64_t{sampler.seamless_cubemap} << 1 | std::uint64_t{sampler.trilinear_optimization};
}

}  // namespace

TextureState::TextureState(Backend& device) : backend(&device), sampling(&detail::sampling(device)) {}

TextureState::~TextureState() {
    if (handle == nullptr) return;
    outside_recording([on = sampling, texture = handle] { on->destroy_texture(texture); });
}

Texture by_points(const Texture& texture) {
    const std::shared_ptr<TextureState>& state = texture.state();
    const Sampler sampler = with_point_filter(state->sampler);
    if (state->sampler == sampler || state->source == TextureSource::linear) return texture;
    const std::lock_guard lock(state->points_mutex);
    if (state->points == nullptr) {
        auto points = std::make_unique<TextureState>(*state->backend);
        points->block = state->block;
        points->source = state->source;
        points->kind = state->kind;
        points->format = state->format;
        points->sampler = sampler;
        points->extent = state->extent;
        points->memory = state->memory;
        points->first_level = state->first_level;
        points->levels = state->levels;
        points->first_layer = state->first_layer;
        points->layers = state->layers;
        points->gathers = state->gathers;
        points->original = state.get();
        points->handle = request(state->backend, "texton::Texture", {},
                                 [&] { return state->sampling->create_point_texture(state->handle); });
        if (points->handle == nullptr) return texture;
        state->points = std::move(points);
    }
    return Texture(std::shared_ptr<TextureState>(state, state->points.get()));
}

TextureKey texture_key(const TextureRequest& request) noexcept {
    TextureKey key{};
    if (request.memory != nullptr) {
        key[0] = reinterpret_cast<std::uintptr_t>(request.memory->address);
        key[1] = request.memory->extent.width;
        key[2] = request.memory->extent.height;
        key[3] = request.memory->pitch;
    } else {
        key[0] = static_cast<std::uint64_t>(request.range.first_level) << 32 |
                 static_cast<std::uint32_t>(request.range.levels);
        key[1] = request.range.first_layer;
        key[2] = request.range.layers;
    }
    const Sampler& sampler = request.sampler;
    key[4] = static_cast<std::uint64_t>(request.format);
    key[5] = modes_of(sampler);
    key[6] = pair_of(sampler.mip_bias, sampler.mip_min);
    key[7] = pair_of(sampler.mip_max, 0);
    key[8] = pair_of(sampler.border[0], sampler.border[1]);
    key[9] = pair_of(sampler.border[2], sampler.border[3]);
    return key;
}

std::size_t TextureCache::Hash::operator()(const TextureKey& key) const {
    std::uint64_t hash = 0;
    for (const std::uint64_t word : key) hash = (std::rotl(hash, 23) ^ word) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>(hash ^ hash >> 32);
}

std::shared_ptr<TextureState> TextureCache::handle_of(Entry& entry, const std::shared_ptr<const Block>& owner) {
    if (auto handle = entry.handles.lock()) return handle;
    auto keeper = std::make_shared<std::shared_ptr<const Block>>(owner);
    std::shared_ptr<TextureState> handle(std::move(keeper), entry.state.get());
    entry.handles = handle;
    return handle;
}

void TextureCache::make_room() {
    if (textures_.size() < room_) return;
    const auto unused = [](const auto& entry) {
        return entry.second.handles.expired() && !entry.second.state->recorded;
    };
    const auto first = std::ranges::find_if(textures_, unused);
    if (first != textures_.end()) first->second.state->sampling->wait_for_uses();
    std::erase_if(textures_, unused);
    room_ = std::max(kKept, 2 * textures_.size());  // keeps the amortized cost of a new texture constant
}

}  // namespace texton::detail
