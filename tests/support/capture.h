#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "arrays/texture_view.h"

namespace texton::test {

/// A recording of the texture unit: tests/captures/README.md has the format.
class Capture {
public:
    enum class Operation : std::uint8_t { fetch, lod, grad, gather };

    /// Throws std::runtime_error with the file's name if it is no whole capture.
    explicit Capture(const std::filesystem::path& path);
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    std::size_t points() const noexcept { return recorded_.size(); }
    const detail::Texel& recorded(std::size_t point) const { return recorded_[point]; }
    /// What the model makes of the same point.
    detail::Texel computed(std::size_t point) const;

private:
    struct Point {
        detail::Coordinates at;
        float lod;
        detail::Gradients gradients;
    };

    std::vector<std::vector<unsigned char>> levels_;
    detail::TextureView texture_{};
    detail::SamplerState sampler_{};
    Operation operation_ = Operation::fetch;
    int gather_component_ = 0;
    std::vector<Point> points_;
    std::vector<detail::Texel> recorded_;
};

}  // namespace texton::test
