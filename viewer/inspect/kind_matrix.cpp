#include "viewer/inspect/kind_matrix.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/error.h>
#include <texton/kernel.h>
#include <texton/linear.h>
#include <texton/managed.h>
#include <texton/physical.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/planar_array.h>
#include <texton/registered.h>
#include <texton/sparse_array.h>
#include <texton/statistics.h>
#include <texton/texture.h>

#include "viewer/inspect/pitched_map.h"
#include "viewer/model/kernel_run.h"

namespace texton::viewer {
namespace {

constexpr int kRounds = 3;  // measurements, of which the minimum is returned

// An array or memory of one kind, and how to read it. All texels are copied to each of the targets.
struct Made {
    std::size_t bytes = 0;
    std::size_t alignment = 0;
    std::vector<View> targets{};
    std::function<Texture(const Sampler&)> texture{};
    Sampler usual{};
    std::shared_ptr<const void> keeps{};
};

Made made_of(const Array& array, std::size_t bytes, std::size_t alignment, std::shared_ptr<const void> keeps) {
    Made made{.bytes = bytes,
              .alignment = alignment,
              .usual = verify::standard_sampler(array.info()),
              .keeps = std::move(keeps)};
    if (is_cube(array.info().kind)) {
        for (int face = 0; face < 6; ++face) {
            Subresource part{.face = face};
            if (is_layered(array.info().kind)) part.layer = 0;
            made.targets.push_back(array.view(part));
        }
    } else {
        made.targets.push_back(array.view());
    }
    const auto kept = std::make_shared<Array>(array.block());
    made.texture = [kept](const Sampler& sampler) { return Texture(*kept, sampler); };
    return made;
}

ArrayInfo info_of(ArrayKind kind, const KindTexels& texels) {
    const Extent extent = texels.extent;
    ArrayInfo info{.format = texels.format, .extent = extent, .kind = kind};
    if (kind == ArrayKind::array_1d)
        info.extent = {checked_product(extent.width, extent.height, "texton::Array", "width * height")};
    if (kind == ArrayKind::layered_1d) {
        info.extent = {extent.width};
        info.layers = extent.height;
    }
    return info;
}

template <ArrayKind kind>
Made make_array(const Device& device, const KindTexels& texels) {
    const ArrayInfo info = info_of(kind, texels);
    const Array array(device, info);
    const MemoryRequirements needs = memory_requirements(device, info);
    return made_of(array, needs.bytes, needs.alignment, nullptr);
}

Made make_sparse(const Device& device, const KindTexels& texels) {
    const auto sparse = std::make_shared<SparseArray>(device, info_of(ArrayKind::array_2d, texels));
    const TilePool pool(device, {.chunk_bytes = std::size_t{2} << 20});
    const Stream stream(device);
    const SparseProperties& how = sparse->properties();
    TileBox all = TileBox::mip_tail();
    if (how.first_tail_level > 0) all = {.extent = sparse->tiles(0)};
    sparse->map(all, pool.allocate(sparse->slots()), stream);
    stream.synchronize();
    return made_of(sparse->array(), sparse->slots() * kTileBytes, kTileBytes, sparse);
}

Made make_deferred(const Device& device, const KindTexels& texels) {
    const auto deferred = std::make_shared<DeferredArray>(device, info_of(ArrayKind::array_2d, texels));
    const TilePool pool(device, {.chunk_bytes = std::size_t{2} << 20});
    const Stream stream(device);
    const MemoryRequirements needs = deferred->requirements();
    deferred->map(pool.allocate_bytes(needs.bytes), stream);
    stream.synchronize();
    return made_of(deferred->array(), needs.bytes, needs.alignment, deferred);
}

Made make_planar(const Device& device, const KindTexels& texels) {
    const auto planar = std::make_shared<PlanarArray>(device, texels.format, texels.extent);
    return made_of(planar->plane(0), 0, 0, planar);
}

Made memory_of(const View& view, std::size_t bytes, std::size_t alignment, std::shared_ptr<const void> keeps) {
    return {.bytes = bytes,
            .alignment = alignment,
            .targets = {view},
            .texture = [view](const Sampler& sampler) { return Texture(view, sampler); },
            .keeps = std::move(keeps)};
}

// One row of all texels, which kernels read with fetches by texel index.
Made make_linear(const Device& device, const KindTexels& texels) {
    const auto memory = std::make_shared<Linear>(device, texels.texels.size());
    const Extent row{texels.extent.width * texels.extent.height};
    return memory_of(memory->view(texels.format, row), memory->bytes(), device.limits().texture_alignment, memory);
}

Made make_pitched(const Device& device, const KindTexels& texels) {
    const auto memory = std::make_shared<Pitched2D>(device, texels.format, texels.extent);
    return memory_of(memory->view(), memory->pitch() * row_count(texels.format, texels.extent.height),
                     device.limits().pitch_alignment, memory);
}

Made make_pitched_volume(const Device& device, const KindTexels& texels) {
    const auto memory = std::make_shared<Pitched3D>(device, texels.format, texels.extent);
    return memory_of(memory->view(), memory->slice_pitch(), device.limits().pitch_alignment, memory);
}

template <class Memory>
Made make_memory(const Device& device, const KindTexels& texels) {
    const auto memory = std::make_shared<Memory>(device, texels.texels.size());
    return memory_of(memory->view(texels.format, texels.extent), memory->bytes(), device.limits().texture_alignment,
                     memory);
}

Made make_registered(const Device& device, const KindTexels& texels) {
    struct Both {
        std::vector<std::byte> bytes;
        Registered registered;
    };
    const auto memory = std::make_shared<Both>();
    memory->bytes.resize(texels.texels.size());
    memory->registered = Registered(device, std::span(memory->bytes), {.mapped = true});
    return memory_of(memory->registered.view(texels.format, texels.extent), memory->bytes.size(),
                     device.limits().texture_alignment, memory);
}

Made make_mapped(const Device& device, const KindTexels& texels) {
    const std::size_t unit = Physical::granularity(device);
    const std::size_t bytes = (texels.texels.size() + unit - 1) / unit * unit;
    const auto range = std::make_shared<AddressRange>(device, bytes);
    range->map(0, Physical(device, bytes));
    range->set_access();
    return memory_of(range->view(texels.format, texels.extent), bytes, unit, range);
}

Made make_host(const Device&, const KindTexels& texels) {
    const auto memory = std::make_shared<std::vector<std::byte>>(texels.texels.size());
    return memory_of(host_view(memory->data(), texels.format, texels.extent), memory->size(), 1, memory);
}

struct Row {
    std::string_view name;
    Made (*make)(const Device& device, const KindTexels& texels);
};

constexpr std::array kRows{Row{"array_1d", make_array<ArrayKind::array_1d>},
                           Row{"array_2d", make_array<ArrayKind::array_2d>},
                           Row{"array_3d", make_array<ArrayKind::array_3d>},
                           Row{"layered_1d", make_array<ArrayKind::layered_1d>},
                           Row{"layered_2d", make_array<ArrayKind::layered_2d>},
                           Row{"cubemap", make_array<ArrayKind::cubemap>},
                           Row{"cubemap_layered", make_array<ArrayKind::cubemap_layered>},
                           Row{"sparse 2d", make_sparse},
                           Row{"deferred 2d", make_deferred},
                           Row{"planar", make_planar},
                           Row{"linear", make_linear},
                           Row{"pitched 2d", make_pitched},
                           Row{"pitched 3d", make_pitched_volume},
                           Row{"mapped", make_mapped},
                           Row{"managed", make_memory<Managed>},
                           Row{"pinned", make_memory<Pinned>},
                           Row{"registered", make_registered},
                           Row{"host", make_host}};

struct SamplerVariant {
    std::string_view name;
    Sampler sampler;
};

const std::array<SamplerVariant, 8>& sampler_variants() {
    constexpr auto all = [](AddressMode mode, Sampler sampler) {
        for (AddressMode& side : sampler.address) side = mode;
        return sampler;
    };
    static const std::array<SamplerVariant, 8> kVariants{
        SamplerVariant{"point", {}},
        SamplerVariant{"linear", {.filter = Filter::linear}},
        SamplerVariant{"normalized", {.normalized_coordinates = true}},
        SamplerVariant{"wrap", all(AddressMode::wrap, {.normalized_coordinates = true})},
        SamplerVariant{"mirror", all(AddressMode::mirror, {.normalized_coordinates = true})},
        SamplerVariant{"border", all(AddressMode::border, {})},
        SamplerVariant{"anisotropic",
                       {.filter = Filter::linear,
                        .mip_filter = Filter::linear,
                        .normalized_coordinates = true,
                        .max_anisotropy = 16}},
        SamplerVariant{"seamless",
                       {.filter = Filter::linear, .normalized_coordinates = true, .seamless_cubemap = true}}};
    return kVariants;
}

// Returns the message of the Error that `action` throws, or an empty string.
std::string refusal(const std::function<void()>& action) {
    try {
        action();
        return {};
    } catch (const Canceled&) {
        throw;
    } catch (const Error& error) {
        return error.what();
    }
}

double upload_time(const Made& made, const KindTexels& texels, const CancellationToken& token) {
    double best = 0;
    for (int round = 0; round < kRounds; ++round) {
        throw_if_canceled(token);
        const auto begin = std::chrono::steady_clock::now();
        for (const View& target : made.targets)
            copy(target, host_view(texels.texels.data(), target.format(), target.extent()));
        const double took = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
        best = round == 0 ? took : std::min(best, took);
    }
    return best;
}

std::string_view kernel_for(const Texture& texture) {
    if (texture.source() == TextureSource::array && texture.kind() == ArrayKind::array_3d) return "volume_slice";
    if (texture.source() == TextureSource::array && is_cube(texture.kind())) return "cube_to_strip";
    return "statistics";
}

double kernel_time(const Texture& texture, const Kernel& kernel, const CancellationToken& token) {
    const Device device = texture.device();
    const Arguments arguments(kernel.info);
    const ImageShape shape = shapes(kernel, arguments, {&texture, 1}).front();
    const Linear memory(device, shape.format, shape.extent);
    const View image = memory.view(shape.format, shape.extent);
    const Stream stream(device);
    const Event begin(device);
    const Event end(device);
    double best = 0;
    for (int round = 0; round < kRounds; ++round) {
        throw_if_canceled(token);
        begin.record(stream);
        enqueue(kernel, stream, {&image, 1}, arguments, {&texture, 1});
        end.record(stream);
        end.synchronize();
        const double took = end.milliseconds_since(begin);
        best = round == 0 ? took : std::min(best, took);
    }
    return best;
}

}  // namespace

KindTexels texels_of(const Array& array, const SubresourceIndex& subresource, std::size_t max_bytes) {
    Subresource part = slices_at(array.info(), subresource);
    const View all = array.view(part);
    const std::size_t side = block_side(all.format());
    const std::size_t rows = std::max<std::size_t>(1, max_bytes / row_bytes(all.format(), all.extent().width)) * side;
    KindTexels out{.format = all.format(), .extent = {all.extent().width, std::min(all.extent().height, rows)}};
    out.whole = out.extent.height == all.extent().height;
    out.texels.resize(packed_bytes(out.format, out.extent));
    const std::size_t slice = std::min(subresource.slice, all.extent().depth - 1);
    copy(host_view(out.texels.data(), out.format, out.extent), all.region({{0, 0, slice}, out.extent}));
    return out;
}

std::span<const std::string_view> kind_rows() {
    static const auto names = [] {
        std::array<std::string_view, kRows.size()> out;
        std::ranges::transform(kRows, out.begin(), &Row::name);
        return out;
    }();
    return names;
}

KindRow measure_kind(const Device& device, const KindTexels& texels, std::size_t row, const CancellationToken& token) {
    KindRow out{.name = kRows.at(row).name};
    throw_if_canceled(token);
    Made made;
    out.obstacle = refusal([&] {
        made = kRows[row].make(device, texels);
        out.upload = upload_time(made, texels, token);
    });
    if (!out.obstacle.empty()) return out;
    out.bytes = made.bytes;
    out.alignment = made.alignment;
    out.copied = texels.texels.size() * made.targets.size();
    for (const SamplerVariant& variant : sampler_variants())
        out.samplers.push_back({variant.name, refusal([&] { (void)made.texture(variant.sampler); })});
    out.kernel_obstacle = refusal([&] {
        const Texture texture = made.texture(made.usual);
        out.kernel = kernel_for(texture);
        out.kernel_time = kernel_time(texture, kernel_named(out.kernel), token);
    });
    return out;
}

}  // namespace texton::viewer
