#include <texton/sample.h>
#include <texton/texture.h>

#include <texton/error.h>

#include "core/block.h"

namespace texton {
namespace detail {

struct TextureState {
    TextureState(Backend& backend, const Array& array) : backend(&backend), array(array.block()), info(array.info()) {}
    ~TextureState() {
        if (handle != nullptr) backend->destroy_texture(handle);
    }
    TextureState(const TextureState&) = delete;
    TextureState& operator=(const TextureState&) = delete;

    Backend* backend;
    std::shared_ptr<Block> array;
    ArrayInfo info;
    TextureHandle handle = nullptr;
};

}  // namespace detail

Texture::Texture(const Array& array) {
    detail::Backend& backend = array.device().backend();
    state_ = std::make_shared<detail::TextureState>(backend, array);
    state_->handle = detail::request(&backend, "texton::Texture", {},
                                     [&] { return backend.create_texture(array.handle(), array.info().format); });
}

const ArrayInfo& Texture::info() const noexcept { return state_->info; }
Device Texture::device() const { return Device(*state_->backend); }

std::vector<std::array<float, 4>> sample(const Texture& texture, std::span<const Point2> points) {
    detail::refuse_while_recording("texton::sample", "sampling without a stream");
    std::vector<std::array<float, 4>> results(points.size());
    if (points.empty()) return results;
    static_assert(sizeof(Point2) == 2 * sizeof(float));
    const std::span<const float> coordinates(&points.front().x, points.size() * 2);
    const std::span<float> values(results.front().data(), results.size() * 4);
    detail::Backend& backend = texture.device().backend();
    detail::request(&backend, "texton::sample", {{"points", points.size()}},
                    [&] { backend.sample(texture.state()->handle, texture.info().format, coordinates, values); });
    return results;
}

}  // namespace texton
