#pragma once
// What stands behind a Texture, and how its source keeps it.
#include <array>
#include <memory>
#include <unordered_map>

#include <texton/texture.h>

#include "arrays/sampling.h"
#include "core/block.h"

namespace texton::detail {

/// A Texture points to it and keeps `source` alive; the state itself does not, since the source keeps the state.
struct TextureState {
    explicit TextureState(Backend& backend);
    ~TextureState();
    TextureState(const TextureState&) = delete;
    TextureState& operator=(const TextureState&) = delete;

    Backend* backend;
    Sampling* sampling;
    const Block* block = nullptr;  ///< of the source; null for memory and textures that Texton does not own
    TextureSource source = TextureSource::array;
    ArrayKind kind = ArrayKind::array_2d;
    Format format = Format::r8_uint;
    Sampler sampler{};
    Extent extent;
    Place memory;  ///< what it reads if that is memory, without its owner
    int first_level = 0;
    int levels = 1;
    std::size_t first_layer = 0;
    std::size_t layers = 1;
    bool gathers = false;
    TextureHandle handle = nullptr;
};

/// What the texture reads, kept by the texture; null where Texton does not own it.
[[nodiscard]] inline std::shared_ptr<const Block> source_of(const std::shared_ptr<TextureState>& texture) noexcept {
    return {texture, texture->block};
}

/// Everything that tells two textures of one source apart, bit for bit: floats that compare as equal may read differently.
using TextureKey = std::array<std::uint64_t, 10>;
[[nodiscard]] TextureKey texture_key(const TextureRequest& request) noexcept;

/// The textures of one source: Block::attached.
class TextureCache {
public:
    /// The texture of that key, made by `make` if there is none. Keeps `owner` as long as a handle lives.
    template <class Make>
    [[nodiscard]] static std::shared_ptr<TextureState> find_or_make(const std::shared_ptr<const Block>& owner,
                                                                    const TextureKey& key, const Make& make) {
        const std::lock_guard lock(owner->attached_mutex);
        if (owner->attached == nullptr) owner->attached = std::make_shared<TextureCache>();
        TextureCache& cache = *static_cast<TextureCache*>(owner->attached.get());
        auto found = cache.textures_.find(key);
        if (found == cache.textures_.end()) {
            std::unique_ptr<TextureState> made = make();
            cache.make_room();
            found = cache.textures_.emplace(key, Entry{std::move(made), {}}).first;
        }
        return handle_of(found->second, owner);
    }

private:
    struct Entry {
        std::unique_ptr<TextureState> state;
        std::weak_ptr<TextureState> handles;  // expired: no Texture names it
    };
    struct Hash {
        std::size_t operator()(const TextureKey& key) const;  // not noexcept: so the map keeps each hash
    };

    static std::shared_ptr<TextureState> handle_of(Entry& entry, const std::shared_ptr<const Block>& owner);
    void make_room();

    /// Textures that nobody names are kept for the next time, up to this many a source.
    static constexpr std::size_t kKept = 256;

    std::unordered_map<TextureKey, Entry, Hash> textures_;
    std::size_t room_ = kKept;
};

}  // namespace texton::detail
