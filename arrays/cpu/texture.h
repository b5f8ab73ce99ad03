#pragma once
// A texture of the CPU device, and the reader that a thread uses to fetch from it. The memory of deferred and sparse
// arrays can change, so its addresses are looked up for each use.
#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include <texton/sample.h>

#include "arrays/cpu/default_modes.h"
#include "arrays/cpu/rows.h"
#include "arrays/cpu/single_fetches.h"
#include "arrays/sampling.h"
#include "arrays/unit/texture_unit.h"
#include "core/cpu/array.h"

namespace texton::detail {

/// A texture of the CPU device. It reads either an array or other memory. Non-owning.
struct CpuTexture {
    const CpuArray* array = nullptr;  // null: the texture reads `memory`
    std::size_t first_part = 0;
    std::size_t levels = 1;
    std::size_t first_slice = 0;  // layers, with each face counted as one
    std::size_t slices = 1;       // not used for 3D arrays
    LevelView memory{};
    ArrayKind kind = ArrayKind::array_2d;
    Format stored = Format::r8_uint;
    TexelFormat format{};
    Sampler sampler{};
};

inline CpuTexture& texture_of(TextureHandle handle) noexcept { return *reinterpret_cast<CpuTexture*>(handle); }

/// The texels of a level of a sparse or a loaded array. Fetches modify `missed`, so threads must not share an object.
/// Non-owning.
class SparseTexels final : public PartialTexels {
public:
    SparseTexels() = default;
    SparseTexels(const CpuLevel& level, Format format, std::size_t first_slice) noexcept
        : level_(&level), format_(format), first_slice_(first_slice) {}

    const unsigned char* find(int x, int y, int z) override {
        const std::byte* texel = level_->texel(static_cast<std::size_t>(x), static_cast<std::size_t>(y),
                                               static_cast<std::size_t>(z) + first_slice_, format_);
        if (texel == nullptr && counts) missed = true;
        return reinterpret_cast<const unsigned char*>(texel);
    }

    bool missed = false;  // a texel without memory was read

private:
    const CpuLevel* level_ = nullptr;
    Format format_ = Format::r8_uint;
    std::size_t first_slice_ = 0;
};

// Reads a texture on one thread. It looks up the addresses of the levels when it is constructed. Threads must not share
// it. The texture and its memory must outlive it.
class TextureReader {
public:
    explicit TextureReader(const CpuTexture& texture) : sampler_(texture.sampler) {
        view_.kind = texture.kind;
        view_.format = texture.format;
        view_.level_count = static_cast<std::int32_t>(texture.levels);
        if (texture.array == nullptr) {
            view_.levels[0] = texture.memory;
            return;
        }
        for (std::size_t i = 0; i < texture.levels; ++i) {
            const CpuLevel& level = texture.array->parts[texture.first_part + i];
            Extent extent = level.extent;
            if (texture.kind != ArrayKind::array_3d) extent.depth = texture.slices;
            view_.levels[i] = level_view(nullptr, extent, level.row_pitch, level.slice_pitch);
            if (const std::byte* rows = level.rows()) {
                view_.levels[i].data =
                    reinterpret_cast<const unsigned char*>(rows) + texture.first_slice * level.slice_pitch;
            } else {
                sparse_[i] = SparseTexels(level, texture.stored, texture.first_slice);
                view_.levels[i].partial = &sparse_[i];
            }
        }
    }
    TextureReader(const TextureReader&) = delete;
    TextureReader& operator=(const TextureReader&) = delete;

    /// Fetches at a point.
    Texel fetch(const FetchPoint& point, const SampleOptions& options) const {
        return fetch_point(view_, sampler_, point, options.operation, options.component);
    }

    /// Fetches at many points.
    void fetch(std::span<const FetchPoint> points, const SampleOptions& options, std::span<Texel> texels) const {
        if (options.operation == FetchOperation::plain &&
            (view_.kind == ArrayKind::array_1d || view_.kind == ArrayKind::array_2d)) {
            fetch_plain(points, texels);
        } else {
            const DefaultModes modes;
            const SingleFetches single(view_, sampler_);
            for (std::size_t i = 0; i < points.size(); ++i)
                texels[i] = single.fetch(points[i], options.operation, options.component);
        }
    }

    /// Returns the view that the model reads, which is valid for the lifetime of the reader.
    const TextureView& view() const noexcept { return view_; }

    /// Returns a sampler for plain fetches of a 1D or 2D texture or of a layer, which is valid for the lifetime of the
    /// reader.
    RowSampler rows(std::int32_t layer) const { return {view_, sampler_, layer}; }
    std::unique_ptr<RowSampler> make_rows(std::int32_t layer) const {
        return std::make_unique<RowSampler>(view_, sampler_, layer);
    }

    /// Returns whether all texels of the fetches since the last call had memory.
    bool found_all() {
        bool found = true;
        for (int i = 0; i < view_.level_count; ++i) found &= !std::exchange(sparse_[i].missed, false);
        return found;
    }

private:
    void fetch_plain(std::span<const FetchPoint> points, std::span<Texel> texels) const {
        constexpr std::size_t kBlock = 512;  // points on the stack
        float x[kBlock];
        float y[kBlock];
        const RowSampler sampler = rows(0);
        for (std::size_t begin = 0; begin < points.size(); begin += kBlock) {
            const std::size_t count = std::min(kBlock, points.size() - begin);
            for (std::size_t i = 0; i < count; ++i) {
                x[i] = points[begin + i].x;
                y[i] = is_flat(view_.kind) ? 0.0f : points[begin + i].y;
            }
            sampler.fetch(x, y, count, &texels[begin]);
        }
    }

    TextureView view_{};
    const Sampler& sampler_;
    SparseTexels sparse_[kMaxLevels];
};

}  // namespace texton::detail
