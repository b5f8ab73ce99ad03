#pragma once
// The internal state of textures, and the cache of a source.
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <texton/texture.h>

#include "arrays/sampling.h"
#include "core/block.h"
#include "core/request.h"

namespace texton::detail {

/// The state of a texture. A Texture keeps its source alive, but the state does not, because the cache of the source
/// owns the state.
struct TextureState {
    explicit TextureState(Backend& backend);
    ~TextureState();
    TextureState(const TextureState&) = delete;
    TextureState& operator=(const TextureState&) = delete;

    Backend* backend;
    Sampling* sampling;
    const Block* block = nullptr;  ///< the source; null if Texton does not own it
    TextureSource source = TextureSource::array;
    ArrayKind kind = ArrayKind::array_2d;
    Format format = Format::r8_uint;
    Sampler sampler{};
    Extent extent;
    MemoryLocation memory;  ///< the memory that is read, without its owner; unused for arrays
    int first_level = 0;
    int levels = 1;
    std::size_t first_layer = 0;
    std::size_t layers = 1;
    bool gathers = false;
    std::atomic<bool> recorded{false};  ///< true if a graph contains the texture
    TextureHandle handle = nullptr;
    /// The same texture with the point filter, which by_points() creates. Destroyed with this state.
    std::mutex points_mutex;
    std::unique_ptr<TextureState> points;
    TextureState* original = nullptr;  ///< the state that owns this one as its `points`
};

/// Returns the texture with the point filter, for kernels that read texels at their centers. With other filters,
/// neighbors would take part in a texel: by rounding of normalized coordinates, or because a NaN or an infinity times
/// the weight 0 is NaN. The result is the texture itself if it has the point filter or was adopted. Possible while the
/// calling thread records a graph. Thread-safe.
[[nodiscard]] Texture by_points(const Texture& texture);

/// Keeps the texture in the cache of its source if the calling thread records a graph, which contains the texture then.
inline void keep_if_recorded(TextureState& texture) noexcept {
    TextureState& cached = texture.original != nullptr ? *texture.original : texture;
    if (recording()) cached.recorded.store(true, std::memory_order_relaxed);
}

/// Returns the source of a texture, or null if Texton does not own it. The returned pointer keeps the texture alive,
/// which keeps its source alive.
[[nodiscard]] inline std::shared_ptr<const Block> source_of(const std::shared_ptr<TextureState>& texture) noexcept {
    return {texture, texture->block};
}

/// All parameters that distinguish textures of one source. Floats are compared by their bits, because equal values such
/// as 0 and -0 may give different results.
using TextureKey = std::array<std::uint64_t, 10>;
/// Returns the key of a request.
[[nodiscard]] TextureKey texture_key(const TextureRequest& request) noexcept;

/// The cache of the textures of one source, stored in Block::attached. Block::attached_mutex protects it.
class TextureCache {
public:
    /// Returns the texture with this key. If the cache does not contain it, `make` creates it. The returned handle
    /// keeps `owner` alive. If `make` throws, the cache is unchanged.
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
        std::weak_ptr<TextureState> handles;  // expired if no Texture refers to it
    };
    struct Hash {
        std::size_t operator()(const TextureKey& key) const;  // not noexcept, so that the map stores the hashes
    };

    static std::shared_ptr<TextureState> handle_of(Entry& entry, const std::shared_ptr<const Block>& owner);
    void make_room();

    /// Number of textures of a source from which unused textures are destroyed when others are created.
    static constexpr std::size_t kKept = 256;

    std::unordered_map<TextureKey, Entry, Hash> textures_;
    std::size_t room_ = kKept;
};

}  // namespace texton::detail
