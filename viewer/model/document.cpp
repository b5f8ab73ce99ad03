#include "viewer/model/document.h"

#include <algorithm>
#include <charconv>
#include <mutex>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/image_pyramid.h>

#include "viewer/model/file_reading.h"
#include "viewer/model/file_texels.h"
#include "viewer/model/host_image.h"
#include "viewer/model/kernel_run.h"
#include "viewer/model/named_paths.h"
#include "viewer/model/positions.h"
#include "viewer/model/reduced_image.h"
#include "viewer/model/streamed_image.h"
#include "viewer/text/error_text.h"
#include "viewer/text/value_text.h"

namespace texton::viewer {
namespace {

constexpr std::size_t kMaxCoarseBytes = std::size_t{16} << 20;  // of the array of a streamed image

std::size_t nearest(std::size_t index, std::size_t count) { return std::min(index, count - 1); }

// Returns true if any tile of the image can be read without the rest of its level.
bool can_stream(const FrameFiles& files, const ImageFile& image) {
    const ArrayInfo& info = image.info();
    return files.source.paths.size() == 1 && info.levels > 1 && !is_flat(info.kind) &&
           info.kind != ArrayKind::array_3d && plane_count(info.format) == 1 && !image.access().in_order;
}

// Returns the number of finest levels that are not loaded into the array of a streamed image.
int streamed_levels(const Device& device, const ArrayInfo& image, std::size_t budget) {
    int levels = needed_halvings(device, image);
    while (levels + 1 < image.levels && packed_bytes(halved(image, levels)) > std::min(kMaxCoarseBytes, budget / 4))
        ++levels;
    return levels;
}

}  // namespace

// Texels that are copied to the array when it is needed.
struct Document::HostTexels {
    explicit HostTexels(const ConstView& texels) : view(texels) {}

    ConstView view;
    std::once_flag copied{};
};

std::shared_ptr<const Document> Document::open(const Source& source, const Device& device,
                                               const OnImageProgress& progress,
                                               const std::optional<StreamingOptions>& streaming) {
    const FrameFiles files = files_of(source);
    for (const std::filesystem::path& path : files.source.paths) refuse_special_file(path);
    const ImageFile whole = open_image(files.source.paths, files.source.options, file_reading());
    const int maximum = max_halvings(whole.info());
    const int needed = needed_halvings(device, whole.info());
    std::string streaming_problem;
    if (streaming && can_stream(files, whole)) {
        const std::size_t max_loaded = streaming->max_loaded.value_or(device.memory().total / 2);
        if (needed > 0 || packed_bytes(whole.info()) > max_loaded) {
            try {
                return open_streamed(source, files, device, whole, *streaming, progress);
            } catch (const Canceled&) {
                throw;
            } catch (const Error& error) {
                streaming_problem = error_text(error);
            }
        }
    }
    for (int halvings = needed;; ++halvings) {
        try {
            const auto document = open_halved(source, files, device, whole, halvings, progress);
            document->streaming_problem_ = std::move(streaming_problem);
            return document;
        } catch (const Error& error) {
            // Other processes may have allocated memory in the meantime, or the process may have a lower limit.
            if (error.code() == ErrorCode::out_of_memory && halvings < maximum) continue;
            if (maximum > 0 || (error.code() != ErrorCode::out_of_memory && error.code() != ErrorCode::overflow)) throw;
            throw Error(
                {.code = error.code(),
                 .object = std::string(error.object()),
                 .problem = std::string(error.problem()),
                 .remedy = fmt::format(
                     "{} The image cannot be reduced automatically: {} of {} without levels are loaded at full size.",
                     error.remedy(), name(whole.info().kind), name(whole.info().format)),
                 .numbers = error.numbers()});
        }
    }
}

std::shared_ptr<Document> Document::open_streamed(const Source& source, const FrameFiles& files, const Device& device,
                                                  const ImageFile& whole, const StreamingOptions& streaming,
                                                  const OnImageProgress& progress) {
    auto tiles = std::make_shared<StreamedImage>(
        device, open_pyramid(files.source.paths.front(), files.source.options, file_reading()),
        StreamedImageOptions{.budget = streaming.budget});
    const int levels = streamed_levels(device, whole.info(), streaming.budget);
    const auto document = open_halved(source, files, device, whole, levels, progress);
    if (levels > 0) document->streamed_ = std::move(tiles);
    return document;
}

std::shared_ptr<Document> Document::open_halved(const Source& source, const FrameFiles& files, const Device& device,
                                                const ImageFile& whole, int halvings, const OnImageProgress& progress) {
    const std::shared_ptr<Document> document(new Document(source, title_of(files.source), whole, device));
    document->files_ = files;
    LoadOptions options{.progress = progress};
    options.timing = &document->timing_;
    if (plane_count(whole.info().format) > 1) {
        document->planes_ = 2;
        document->whole_ = whole.plane(0).info();
        document->whole_chroma_ = whole.plane(1).info();
        document->planar_ =
            halvings == 0 ? load_planar(device, whole, options) : load_planar_halved(device, whole, halvings, options);
        if (halvings > 0) document->image_ = image_of(document->planar_);
    } else if (halvings == 0 || whole.info().levels > 1) {
        document->whole_ = whole.info();
        ImageOptions finer_left_out = files.source.options;
        finer_left_out.first_level += halvings;
        if (halvings > 0) document->image_ = open_image(files.source.paths, finer_left_out, file_reading());
        options.usage = verify::usage_for_kernels(device, document->image_.info());
        document->array_ = texton::load(device, document->image_, options);
    } else {
        document->whole_ = whole.info();
        options.usage = verify::usage_for_kernels(device, halved(whole.info(), halvings));
        document->array_ = load_halved(device, whole, halvings, options);
        document->image_ = image_of(document->array_);
    }
    if (halvings > 0) {
        document->halve(halvings);
        document->file_texels_ = std::make_shared<const FileTexels>(whole);
    }
    return document;
}

std::shared_ptr<const Document> Document::of(Array array, std::string title, const Document* like) {
    const std::shared_ptr<Document> document(new Document({}, std::move(title), image_of(array), array.device()));
    document->array_ = std::move(array);
    document->whole_ = document->info();
    const bool lies_alike = like != nullptr && like->halvings_ > 0 && like->info().extent == document->info().extent;
    if (!lies_alike) return document;
    document->whole_.extent = like->whole().extent;
    if (document->whole_.levels > 1) document->whole_.levels += like->halvings_;
    document->halve(like->halvings_);
    return document;
}

std::shared_ptr<const Document> Document::of_frame(Array array, std::string title, std::uint64_t number) {
    const std::shared_ptr<Document> document(new Document({}, std::move(title), image_of(array), array.device()));
    document->array_ = std::move(array);
    document->whole_ = document->info();
    document->live_frame_ = number;
    return document;
}

std::shared_ptr<const Document> Document::of_frame(Array array, std::span<const std::byte> texels,
                                                   std::shared_ptr<const void> owner, std::string title,
                                                   std::uint64_t number) {
    detail::MemoryLocation location =
        host_view(static_cast<const void*>(texels.data()), array.info().format, array.info().extent).location();
    location.owner = std::shared_ptr<const detail::Block>(std::move(owner), nullptr);  // views keep it alive
    const ConstView view(std::move(location));
    const std::shared_ptr<Document> document(new Document({}, std::move(title), image_of(view), array.device()));
    document->array_ = std::move(array);
    document->whole_ = document->info();
    document->live_frame_ = number;
    document->host_texels_ = std::make_shared<HostTexels>(view);
    return document;
}

void Document::halve(int times) {
    const std::shared_ptr<Document> alone(new Document(*this));
    alone->whole_ = info(0);
    alone->whole_chroma_ = info(1);
    as_loaded_ = alone;
    halvings_ = times;
}

const Array& Document::array_of(int plane) const {
    return is_planar() ? planar_.plane(std::clamp(plane, 0, 1)) : array_;
}

const Array& Document::array(int plane) const {
    if (host_texels_) std::call_once(host_texels_->copied, [&] { copy(array_.view(), host_texels_->view); });
    return array_of(plane);
}

SubresourceIndex Document::clamped(const SubresourceIndex& subresource) const {
    SubresourceIndex out;
    out.plane = std::clamp(subresource.plane, 0, planes_ - 1);
    const ArrayInfo& row = whole(out.plane);
    out.level = std::clamp(subresource.level, 0, row.levels - 1);
    if (is_layered(row.kind)) out.layer = nearest(subresource.layer, row.layers);
    if (is_cube(row.kind)) out.face = std::clamp(subresource.face, 0, 5);
    if (row.kind == ArrayKind::array_3d) out.slice = nearest(subresource.slice, level_extent(row, out.level).depth);
    return out;
}

Extent Document::extent(const SubresourceIndex& subresource) const {
    const SubresourceIndex at = clamped(subresource);
    Extent extent = level_extent(whole(at.plane), at.level);
    extent.depth = 1;
    return extent;
}

SubresourceIndex Document::in_array(const SubresourceIndex& subresource) const {
    SubresourceIndex out = clamped(subresource);
    const int times = halvings(out);
    out.level = std::max(0, out.level - halvings_);
    out.slice = nearest(out.slice >> times, level_extent(info(out.plane), out.level).depth);
    return out;
}

Subresource Document::part(const SubresourceIndex& subresource) const {
    const SubresourceIndex at = in_array(subresource);
    const ArrayInfo& row = info(at.plane);
    Subresource part{.level = at.level};
    if (is_layered(row.kind)) part.layer = at.layer;
    if (is_cube(row.kind)) part.face = at.face;
    if (row.kind == ArrayKind::array_3d) {
        Extent slice = level_extent(row, at.level);
        slice.depth = 1;
        part.region = Region{{0, 0, at.slice}, slice};
    }
    return part;
}

bool Document::is_finer_in_files(const SubresourceIndex& subresource) const {
    return file_texels_ && halvings(clamped(subresource)) > 0;
}

std::vector<std::byte> Document::texels(const SubresourceIndex& subresource, const TexelBox& box,
                                        const CancellationToken& token) const {
    return is_finer_in_files(subresource) ? file_texels_->read(clamped(subresource), box, token)
                                          : array_texels(subresource, box);
}

std::optional<std::vector<std::byte>> Document::texels_at_hand(const SubresourceIndex& subresource,
                                                               const TexelBox& box) const {
    if (is_finer_in_files(subresource)) {
        const SubresourceIndex at = clamped(subresource);
        if (streamed_) {
            if (auto resident = streamed_->texels({at.level, streamed_layer(whole_, at), box})) return resident;
        }
        return file_texels_->kept(at, box);
    }
    return array_texels(subresource, box);
}

// In a reduced array without files, each texel stands for a square of texels and is repeated.
std::vector<std::byte> Document::array_texels(const SubresourceIndex& subresource, const TexelBox& box) const {
    const TexelBox here = viewer::in_array(*this, subresource, box);
    Subresource part = this->part(subresource);
    part.region = Region{{here.x, here.y, in_array(subresource).slice}, {here.width, here.height, 1}};
    const Extent extent{here.width, here.height};
    const Format format = info(subresource.plane).format;
    std::vector<std::byte> out(packed_bytes(format, extent));
    copy(host_view(out.data(), format, extent),
         host_texels_ ? host_texels_->view.region(*part.region) : array(subresource.plane).view(part));
    const int times = halvings(clamped(subresource));
    if (times == 0) return out;
    const std::size_t texel = texton::info(format).bytes;
    std::vector<std::byte> repeated(packed_bytes(format, {box.width, box.height}));
    for (std::size_t y = 0; y < box.height; ++y) {
        for (std::size_t x = 0; x < box.width; ++x) {
            const std::size_t column = std::min(((box.x + x) >> times) - here.x, here.width - 1);
            const std::size_t row = std::min(((box.y + y) >> times) - here.y, here.height - 1);
            std::copy_n(out.begin() + static_cast<std::ptrdiff_t>((row * here.width + column) * texel), texel,
                        repeated.begin() + static_cast<std::ptrdiff_t>((y * box.width + x) * texel));
        }
    }
    return repeated;
}

Sampler Document::standard_sampler(int plane) const { return verify::standard_sampler(info(plane)); }

Texture Document::texture(const Sampler& sampler, int plane) const { return Texture(array(plane), sampler); }

std::string halving_text(const Document& document) {
    const std::string unstreamed = document.streaming_problem().empty()
                                       ? std::string()
                                       : "The image is not streamed: " + document.streaming_problem();
    if (document.halvings() == 0) return unstreamed;
    const int part = 1 << document.halvings();
    if (document.streamed() != nullptr) {
        return fmt::format(
            "Streamed: of {} texels of {} ({}), tiles are read where they are seen. Samplers, kernels, comparisons and "
            "statistics use level {} ({}).",
            to_string(document.file().info().extent), name(document.file().info().format),
            size_text(packed_bytes(document.file().info())), document.halvings(), to_string(document.info().extent));
    }
    if (document.source().paths.empty())
        return fmt::format("It was computed from an image at 1/{} of its width and height.", part);
    const ArrayInfo& whole = document.file().info();
    return fmt::format(
        "Shown at 1/{} of its width and height: {} cannot hold {} texels of {} ({}). When zoomed in, stored texels "
        "come from the file; samplers, kernels and statistics use the reduced image.{}{}",
        part, document.device().name(), to_string(whole.extent), name(whole.format), size_text(packed_bytes(whole)),
        unstreamed.empty() ? "" : " ", unstreamed);
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
                     .problem = fmt::format("'{}' is not a device name", name),
                     .remedy = "Use cpu, cpu:N, cuda or cuda:N."});
    }
    try {
        return kind == "cpu" ? Device::cpu(index) : Device::cuda(index);
    } catch (const Error& error) {
        throw Error({.code = error.code(),
                     .object = "texton-view",
                     .problem = fmt::format("'{}': {}", name, error.problem()),
                     .remedy = "Run `texton devices` for a list of the available devices."});
    }
}

}  // namespace texton::viewer
