// Values of pixels that a texture with a sampler returns. The gradients are the differences of the coordinates of
// neighboring pixels, as on a GPU.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "viewer/render/lod_plane.h"
#include "viewer/render/render_parts.h"

namespace texton::viewer::detail {
namespace {

constexpr int kQuickBlock = 4;

// Returns the position, in texels of the part, of the center of a pixel of the canvas plane.
double center_of(int pixel, double zoom, double part_at, double texels_a_unit) {
    return ((pixel + 0.5) / zoom - part_at) * texels_a_unit;
}

// Returns the pixel that represents the block of a pixel. Returns the pixel itself if `block` is 1.
int stand_in(int pixel, int block) {
    return block == 1 ? pixel : (pixel >= 0 ? pixel / block : (pixel - block + 1) / block) * block + block / 2;
}

// Fetches `point_of(x, y)` for the pixels of a box, once per block. Pixels without a point are outside the image.
template <class PointOf>
void fetch_box(const SubresourceTexture& texture, const PixelBox& box, int block, const PointOf& point_of,
               Values& out) {
    std::vector<FetchPoint> points;
    std::vector<int> columns, rows;  // index of the point of each pixel
    const auto list = [&](int begin, int size, std::vector<int>& subresources) {
        std::vector<int> pixels;
        for (int pixel = begin; pixel < begin + size; ++pixel) {
            const int chosen = stand_in(pixel, block);
            if (pixels.empty() || pixels.back() != chosen) pixels.push_back(chosen);
            subresources.push_back(static_cast<int>(pixels.size()) - 1);
        }
        return pixels;
    };
    const std::vector<int> x = list(box.x, box.width, columns);
    const std::vector<int> y = list(box.y, box.height, rows);
    std::vector<std::uint8_t> seen;
    for (const int j : y) {
        for (const int i : x) {
            const std::optional<FetchPoint> point = point_of(i, j);
            points.push_back(point.value_or(FetchPoint{}));
            seen.push_back(point.has_value());
        }
    }
    const std::vector<Color> all = texture.fetch(points);
    for (int j = 0; j < box.height; ++j) {
        for (int i = 0; i < box.width; ++i) {
            const std::size_t from = static_cast<std::size_t>(rows[static_cast<std::size_t>(j)]) * x.size() +
                                     static_cast<std::size_t>(columns[static_cast<std::size_t>(i)]);
            const std::size_t to =
                static_cast<std::size_t>(box.y - out.part.y + j) * static_cast<std::size_t>(out.part.width) +
                static_cast<std::size_t>(box.x - out.part.x + i);
            if (!seen[from]) continue;
            out.values[to] = all[from];
            out.seen[to] = 1;
        }
    }
}

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

class Turn {
public:
    explicit Turn(const Session& session)
        : cos_yaw_(std::cos(radians(session.sphere_yaw))),
          sin_yaw_(std::sin(radians(session.sphere_yaw))),
          cos_pitch_(std::cos(radians(session.sphere_pitch))),
          sin_pitch_(std::sin(radians(session.sphere_pitch))) {}

    // Rotates a direction from the coordinates of the eye to those of the cubemap.
    std::array<float, 3> operator()(double right, double up, double ahead) const {
        const double y = up * cos_pitch_ + ahead * sin_pitch_;
        const double z = ahead * cos_pitch_ - up * sin_pitch_;
        return {static_cast<float>(right * cos_yaw_ + z * sin_yaw_), static_cast<float>(y),
                static_cast<float>(z * cos_yaw_ - right * sin_yaw_)};
    }

private:
    double cos_yaw_, sin_yaw_, cos_pitch_, sin_pitch_;
};

}  // namespace

void sample_part(const Source& source, const Part& part, const Axis& across, const Axis& down, double zoom,
                 Values& out) {
    if (across.pixels.empty() || down.pixels.empty()) return;
    const SubresourceTexture texture(*source.document, part.subresource, source.sampler);
    const auto x_of = [&](int pixel) { return center_of(pixel, zoom, part.at.x, part.texels_across()); };
    const auto y_of = [&](int pixel) { return center_of(pixel, zoom, part.at.y, part.texels_down()); };
    const PixelBox box{across.begin, down.begin, across.size(), down.size()};
    if (!texture.is_affine()) {
        const int block = out.quality == Quality::quick ? kQuickBlock : 1;
        const auto point = [&](int x, int y) {
            return std::optional(texture.at(x_of(x), y_of(y), across.scale, down.scale));
        };
        return fetch_box(texture, box, block, point, out);
    }
    const std::vector<Color> all = texture.fetch_rows(x_of(box.x), y_of(box.y), across.scale, down.scale,
                                                      across.pixels.size(), down.pixels.size());
    for (int j = 0; j < box.height; ++j) {
        const auto to = static_cast<long>(box.y - out.part.y + j) * out.part.width + box.x - out.part.x;
        std::copy_n(all.begin() + static_cast<long>(j) * box.width, box.width, out.values.begin() + to);
        std::fill_n(out.seen.begin() + to, box.width, std::uint8_t{1});
    }
    out.quality = Quality::full;
}

void sample_sphere(const Source& source, const Session& session, Values& out) {
    const SubresourceIndex subresource = source.document->in_array(session.subresource);
    Sampler sampler = source.sampler;
    if (source.reading == Reading::stored) {
        sampler = {.normalized_coordinates = true};
        sampler.mip_min = sampler.mip_max = static_cast<float>(subresource.level);
    }
    const SubresourceTexture texture(*source.document, subresource, sampler);
    const Turn turn(session);
    const double pixel = 1 / session.view.zoom;
    const std::array<float, 3> dx = turn(pixel, 0, 0), dy = turn(0, -pixel, 0);
    const auto point = [&](int x, int y) {
        return std::optional(texture.toward(sphere_direction(session, x, y), dx, dy));
    };
    fetch_box(texture, out.part, out.quality == Quality::quick ? kQuickBlock : 1, point, out);
}

std::array<float, 3> sphere_direction(const Session& session, int x, int y) {
    const double pixel = 1 / session.view.zoom;
    return Turn(session)((x + 0.5) * pixel - 1, 1 - (y + 0.5) * pixel, 1);
}

void sample_plane(const Source& source, const Session& session, Values& out) {
    const SubresourceTexture texture(*source.document, source.document->in_array(session.subresource), source.sampler);
    const Extent extent = source.document->extent(session.subresource);
    const auto at = [&](int x, int y) { return plane_shares(session.lod_plane, extent, session.view.zoom, x, y); };
    const auto point = [&](int x, int y) -> std::optional<FetchPoint> {
        const auto here = at(x, y), right = at(x + 1, y), below = at(x, y + 1);
        if (!here || !right || !below) return std::nullopt;
        return texture.at_shares({here->x, here->y}, {right->x - here->x, right->y - here->y},
                                 {below->x - here->x, below->y - here->y});
    };
    fetch_box(texture, out.part, out.quality == Quality::quick ? kQuickBlock : 1, point, out);
}

std::optional<Position> plane_shares(const LodPlane& plane, Extent extent, double zoom, int x, int y) {
    return subresource_on_plane(plane, {(x + 0.5) / zoom, (y + 0.5) / zoom}, extent);
}

}  // namespace texton::viewer::detail
