#include "viewer/document.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>

#include "viewer/smaller.h"
#include "viewer/verify/host_picture.h"
#include "viewer/verify/kernel_run.h"

namespace texton::viewer {
namespace {

std::size_t nearest(std::size_t index, std::size_t count) { return std::min(index, count - 1); }

}  // namespace

std::shared_ptr<const Document> Document::open(const Source& source, const Device& device,
                                               const OnPictureProgress& progress) {
    const Picture whole = open_picture(source.paths, source.options);
    const int most = most_halvings(whole.info());
    for (int halvings = needed_halvings(device, whole.info());; ++halvings) {
        try {
            return open_halved(source, device, whole, halvings, progress);
        } catch (const Error& error) {
            // Others may have taken memory that was free, or the process may have less of it than the device.
            if (error.code() != ErrorCode::out_of_memory || halvings >= most) throw;
        }
    }
}

std::shared_ptr<const Document> Document::open_halved(const Source& source, const Device& device, const Picture& whole,
                                                      int halvings, const OnPictureProgress& progress) {
    const std::shared_ptr<Document> document(new Document(source, title_of(source), whole, device));
    document->halvings_ = halvings;
    document->whole_ = whole.info();
    LoadOptions options{.progress = progress};
    options.timing = &document->timing_;
    if (plane_count(whole.info().format) > 1) {
        document->planar_ = load_planar(device, whole, options);
        document->planes_ = 2;
    } else if (halvings == 0 || whole.info().levels > 1) {
        PictureOptions finer_left_out = source.options;
        finer_left_out.first_level += halvings;
        if (halvings > 0) document->picture_ = open_picture(source.paths, finer_left_out);
        options.usage = verify::usage_for_kernels(device, document->picture_.info());
        document->array_ = texton::load(device, document->picture_, options);
    } else {
        ArrayInfo info = whole.info();
        info.extent = halved(info.extent, halvings);
        options.usage = verify::usage_for_kernels(device, info);
        document->array_ = load_halved(device, whole, halvings, options);
        document->picture_ = picture_of(document->array_);
    }
    return document;
}

std::shared_ptr<const Document> Document::of(Array array, std::string title) {
    const std::shared_ptr<Document> document(new Document({}, std::move(title), picture_of(array), array.device()));
    document->whole_ = array.info();
    document->array_ = std::move(array);
    return document;
}

const Array& Document::array(int plane) const { return is_planar() ? planar_.plane(std::clamp(plane, 0, 1)) : array_; }

Place Document::clamped(const Place& place) const {
    Place out;
    out.plane = std::clamp(place.plane, 0, planes_ - 1);
    const ArrayInfo& row = info(out.plane);
    out.level = std::clamp(place.level, 0, row.levels - 1);
    if (is_layered(row.kind)) out.layer = nearest(place.layer, row.layers);
    if (is_cube(row.kind)) out.face = std::clamp(place.face, 0, 5);
    if (row.kind == ArrayKind::array_3d) out.slice = nearest(place.slice, level_extent(row, out.level).depth);
    return out;
}

Extent Document::extent(const Place& place) const {
    const Place at = clamped(place);
    Extent extent = level_extent(info(at.plane), at.level);
    extent.depth = 1;
    return extent;
}

Subresource Document::part(const Place& place) const {
    const Place at = clamped(place);
    const ArrayInfo& row = info(at.plane);
    Subresource part{.level = at.level};
    if (is_layered(row.kind)) part.layer = at.layer;
    if (is_cube(row.kind)) part.face = at.face;
    if (row.kind == ArrayKind::array_3d) part.region = Region{{0, 0, at.slice}, extent(at)};
    return part;
}

std::vector<std::byte> Document::texels(const Place& place, const TexelBox& box) const {
    const Place at = clamped(place);
    const Format format = info(at.plane).format;
    if (block_side(format) > 1) {
        throw Error({.code = ErrorCode::unsupported,
                     .object = "texton::viewer::Document",
                     .problem = fmt::format("{} of {} are stored as blocks", title_, name(format)),
                     .remedy = "Sample them."});
    }
    Subresource part = this->part(at);
    part.region = Region{{box.x, box.y, at.slice}, {box.width, box.height, 1}};
    const Extent extent{box.width, box.height};
    std::vector<std::byte> out(packed_bytes(format, extent));
    copy(host_view(out.data(), format, extent), array(at.plane).view(part));
    return out;
}

Sampler Document::standard_sampler(int plane) const { return verify::standard_sampler(info(plane)); }

Texture Document::texture(const Sampler& sampler, int plane) const { return Texture(array(plane), sampler); }

Texture Document::texel_texture(int plane) const {
    const ArrayInfo& row = info(plane);
    Sampler sampler;
    sampler.normalized_coordinates = row.levels > 1 || is_cube(row.kind);
    return Texture(array(plane), sampler);
}

std::string halving_words(const Document& document) {
    if (document.halvings() == 0) return {};
    const ArrayInfo& whole = document.whole();
    return fmt::format("It is shown with 1/{} of its sides: {} has no room for {} texels of {}, {:.1f} GiB.",
                       1 << document.halvings(), document.device().name(), to_string(whole.extent), name(whole.format),
                       static_cast<double>(packed_bytes(whole)) / (1 << 30));
}

std::string title_of(const Source& source) {
    if (source.paths.empty()) return {};
    const std::string first = source.paths.front().filename().string();
    const std::size_t more = source.paths.size() - 1;
    return more == 0 ? first : fmt::format("{} and {} more", first, more);
}

Device device_named(const std::string& name) {
    if (name.empty()) return Device::best();
    const std::size_t colon = std::min(name.find(':'), name.size());
    const std::string_view kind = std::string_view(name).substr(0, colon);
    int index = 0;
    bool good = kind == "cpu" || kind == "cuda";
    if (colon < name.size()) {
        const char* end = name.data() + name.size();
        const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, index);
        good = good && error == std::errc{} && stop == end && index >= 0;
    }
    if (!good) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton-view",
                     .problem = fmt::format("'{}' names no device", name),
                     .remedy = "Use cpu, cpu:N, cuda or cuda:N."});
    }
    try {
        return kind == "cpu" ? Device::cpu(index) : Device::cuda(index);
    } catch (const Error& error) {
        throw Error({.code = error.code(),
                     .object = "texton-view",
                     .problem = fmt::format("'{}': {}", name, error.problem()),
                     .remedy = "`texton devices` lists those that are there."});
    }
}

}  // namespace texton::viewer
