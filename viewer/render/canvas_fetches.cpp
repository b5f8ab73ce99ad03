#include "viewer/render/canvas_fetches.h"

#include <cstring>

#include <texton/pinned.h>
#include <texton/sample.h>

#include "kernels/functors/cube_direction.h"

namespace texton::viewer {
namespace {

bool is_integer(FormatKind kind) { return kind == FormatKind::uint || kind == FormatKind::sint; }

Texture texture_of(const Document& document, const SubresourceIndex& subresource, const Sampler& sampler) {
    const bool whole = sampler.normalized_coordinates;
    return Texture(document.array(subresource.plane), sampler,
                   whole ? TextureRange{} : TextureRange{.first_level = subresource.level, .levels = 1});
}

}  // namespace

Color color_of(const Texel& texel, Format format) {
    Color out;
    const FormatKind kind = info(format).kind;
    for (std::size_t i = 0; i < 4; ++i) {
        const std::uint32_t word = texel.channel[i];
        out[i] = !is_integer(kind)          ? std::bit_cast<float>(word)
                 : kind == FormatKind::sint ? static_cast<float>(static_cast<std::int32_t>(word))
                                            : static_cast<float>(word);
    }
    return out;
}

SubresourceTexture::SubresourceTexture(const Document& document, const SubresourceIndex& subresource,
                                       const Sampler& sampler)
    : texture_(texture_of(document, subresource, sampler)),
      subresource_(subresource),
      extent_(level_extent(document.info(subresource.plane), subresource.level)) {
    gradients_ = sampler.normalized_coordinates && (texture_.levels() > 1 || sampler.max_anisotropy > 1);
}

FetchPoint SubresourceTexture::at(double x, double y, double across, double down) const {
    FetchPoint point{.layer = static_cast<std::int32_t>(subresource_.layer)};
    if (is_cube(texture_.kind())) {
        const auto side = static_cast<std::int32_t>(extent_.width);
        const auto toward = [&](double u, double v) {
            return detail::direction_on_face(subresource_.face, static_cast<float>(u), static_cast<float>(v), side);
        };
        const detail::CubeDirection center = toward(x, y), right = toward(x + across, y), below = toward(x, y + down);
        return this->toward({center.x, center.y, center.z},
                            {right.x - center.x, right.y - center.y, right.z - center.z},
                            {below.x - center.x, below.y - center.y, below.z - center.z});
    }
    const bool shares = texture_.sampler().normalized_coordinates;
    const double x_unit = shares ? 1 / static_cast<double>(extent_.width) : 1;
    const double y_unit = shares ? 1 / static_cast<double>(extent_.height) : 1;
    const double z_unit = shares ? 1 / static_cast<double>(extent_.depth) : 1;
    point.x = static_cast<float>(x * x_unit);
    point.y = static_cast<float>(y * y_unit);
    point.z = static_cast<float>((static_cast<double>(subresource_.slice) + 0.5) * z_unit);
    point.dx[0] = static_cast<float>(across * x_unit);
    point.dy[1] = static_cast<float>(down * y_unit);
    return point;
}

FetchPoint SubresourceTexture::toward(const std::array<float, 3>& direction, const std::array<float, 3>& dx,
                                      const std::array<float, 3>& dy) const {
    FetchPoint point{.x = direction[0],
                     .y = direction[1],
                     .z = direction[2],
                     .layer = static_cast<std::int32_t>(subresource_.layer)};
    std::copy(dx.begin(), dx.end(), point.dx);
    std::copy(dy.begin(), dy.end(), point.dy);
    return point;
}

FetchPoint SubresourceTexture::at_shares(const std::array<double, 2>& share, const std::array<double, 2>& dx,
                                         const std::array<double, 2>& dy) const {
    const auto width = static_cast<double>(extent_.width), height = static_cast<double>(extent_.height);
    FetchPoint point = at(share[0] * width, share[1] * height, dx[0] * width, dy[1] * height);
    const bool shares = texture_.sampler().normalized_coordinates;
    point.dx[1] = static_cast<float>(shares ? dx[1] : dx[1] * height);
    point.dy[0] = static_cast<float>(shares ? dy[0] : dy[0] * width);
    return point;
}

std::vector<Color> SubresourceTexture::values(std::span<const FetchPoint> points, FetchOperation operation) const {
    const Samples samples = sample(texture_, points, {.operation = operation});
    std::vector<Color> out;
    out.reserve(points.size());
    for (const Texel& texel : samples.texels) out.push_back(color_of(texel, texture_.format()));
    return out;
}

std::vector<Color> SubresourceTexture::fetch(std::span<const FetchPoint> points) const {
    return values(points, gradients_ ? FetchOperation::gradients : FetchOperation::plain);
}

std::vector<Color> SubresourceTexture::fetch_level(std::span<FetchPoint> points) const {
    if (!texture_.sampler().normalized_coordinates || texture_.levels() == 1)
        return values(points, FetchOperation::plain);
    for (FetchPoint& point : points) point.lod = static_cast<float>(subresource_.level);
    return values(points, FetchOperation::lod);
}

bool SubresourceTexture::is_affine() const noexcept {
    return !gradients_ && (texture_.kind() == ArrayKind::array_2d || texture_.kind() == ArrayKind::layered_2d);
}

std::vector<Color> SubresourceTexture::fetch_rows(double x, double y, double across, double down, std::size_t columns,
                                                  std::size_t rows) const {
    const bool shares = texture_.sampler().normalized_coordinates;
    const double x_unit = shares ? 1 / static_cast<double>(extent_.width) : 1;
    const double y_unit = shares ? 1 / static_cast<double>(extent_.height) : 1;
    const AffineMap map{.xx = static_cast<float>(across * x_unit),
                        .x0 = static_cast<float>((x - across / 2) * x_unit),
                        .yy = static_cast<float>(down * y_unit),
                        .y0 = static_cast<float>((y - down / 2) * y_unit),
                        .layer = static_cast<std::int32_t>(subresource_.layer)};
    const FormatKind kind = info(texture_.format()).kind;
    const Format format = kind == FormatKind::uint   ? Format::rgba32_uint
                          : kind == FormatKind::sint ? Format::rgba32_sint
                                                     : Format::rgba32_float;
    const Pinned memory(texture_.device(), columns * rows * sizeof(Texel));
    sample(texture_, map, memory.view(format, {columns, rows}));
    std::vector<Color> out(columns * rows);
    if (!is_integer(kind)) {
        std::memcpy(out.data(), memory.read().data(), out.size() * sizeof(Color));
        return out;
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
        Texel texel;
        std::memcpy(&texel, memory.read().data() + i * sizeof texel, sizeof texel);
        out[i] = color_of(texel, texture_.format());
    }
    return out;
}

}  // namespace texton::viewer
