#pragma once
// A texture of the CPU device: what it reads, looked up when it fetches, since the memory of deferred and sparse arrays comes
// and goes; and how a thread reads it.
#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include <texton/sample.h>

#include "arrays/cpu/rows.h"
#include "arrays/sampling.h"
#include "arrays/unit/texture_unit.h"
#include "core/cpu/array.h"

namespace texton::detail {

struct CpuTexture {
    const CpuArray* array = nullptr;  // or memory
    std::size_t first_part = 0;
    std::size_t levels = 1;
    std::size_t first_slice = 0;  // layers and faces counted one by one
    std::size_t slices = 1;       // not of 3D
    LevelView memory{};
    ArrayKind kind = ArrayKind::array_2d;
    Format stored = Format::r8_uint;
    TexelFormat format{};
    Sampler sampler{};
};

inline CpuTexture& texture_of(TextureHandle handle) noexcept { return *reinterpret_cast<CpuTexture*>(handle); }

class SparseTexels final : public PartialTexels {
public:
    SparseTexels() = default;
    SparseTexels(const CpuLevel& level, Format format, std::size_t first_slice) noexcept
        : level_(&level), format_(format), first_slice_(first_slice) {}

    const unsigned char* find(int x, int y, int z) override {
        const std::byte* texel = level_->texel(static_cast<std::size_t>(x), static_cast<std::size_t>(y),
                                               static_cast<std::size_t>(z) + first_slice_, format_);
        if (texel == nullptr) missed = true;
        return reinterpret_cast<const unsigned char*>(texel);
    }

    bool missed = false;  // a texel was asked for that has no memory

private:
    const CpuLevel* level_ = nullptr;
    Format format_ = Format::r8_uint;
    std::size_t first_slice_ = 0;
};

// A texture as one thread reads it.
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
            if (level.sparse()) {
                sparse_[i] = SparseTexels(level, texture.stored, texture.first_slice);
                view_.levels[i].partial = &sparse_[i];
            } else {
                view_.levels[i].data =
                    reinterpret_cast<const unsigned char*>(level.data) + texture.first_slice * level.slice_pitch;
            }
        }
    }
    TextureReader(const TextureReader&) = delete;
    TextureReader& operator=(const TextureReader&) = delete;

    Texel fetch(const FetchPoint& point, const SampleOptions& options) const {
        return fetch_point(view_, sampler_, point, options.operation, options.component);
    }

    /// The same for many points.
    void fetch(std::span<const FetchPoint> points, const SampleOptions& options, std::span<Texel> texels) const {
        if (options.operation == FetchOperation::plain &&
            (view_.kind == ArrayKind::array_1d || view_.kind == ArrayKind::array_2d)) {
            fetch_plain(points, texels);
        } else {
            for (std::size_t i = 0; i < points.size(); ++i) texels[i] = fetch(points[i], options);
        }
    }

    /// What the model reads; valid as long as the reader.
    const TextureView& view() const noexcept { return view_; }

    /// Plain fetches of a 2D texture, or of a layer; valid as long as the reader.
    RowSampler rows(std::int32_t layer) const { return {view_, sampler_, layer}; }
    std::unique_ptr<RowSampler> make_rows(std::int32_t layer) const {
        return std::make_unique<RowSampler>(view_, sampler_, layer);
    }

    /// True if all texels of the fetches since the last call had memory.
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
