#include "arrays/files/stored_texels.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "arrays/files/oiio.h"
#include "core/parallel.h"

namespace texton::detail {
namespace {

constexpr const char* kRead = "texton::ImageFile";

// Compressed levels whose first part was read, so that the next part can be read without the first one. A thread takes
// the reader that it needs. If another thread has taken it, it reads the level from the beginning.
class LevelReaders {
public:
    PartReader take(int level, std::uint64_t position, const CompressedPart& part) {
        {
            const std::lock_guard lock(mutex_);
            if (kept_ && kept_->level == level && kept_->reader.position() <= position) {
                PartReader reader = std::move(kept_->reader);
                kept_.reset();
                return reader;
            }
        }
        return PartReader(part);
    }
    void keep(int level, PartReader reader) {
        if (reader.is_at_end()) return;
        const std::lock_guard lock(mutex_);
        kept_.emplace(level, std::move(reader));
    }

private:
    struct Kept {
        Kept(int of, PartReader taken) : level(of), reader(std::move(taken)) {}
        int level;
        PartReader reader;
    };
    std::mutex mutex_;
    std::optional<Kept> kept_;
};

class StoredFile : public ImageSource {
public:
    StoredFile(std::filesystem::path path, const FileIdentity& identity, Format format, bool srgb,
               const StoredOrder& order, std::vector<StoredLevel> levels, std::vector<CompressedPart> compressed,
               std::vector<Extent> extents)
        : ImageSource(format, srgb, std::move(extents)),
          path_(std::move(path)),
          identity_(identity),
          order_(order),
          levels_(std::move(levels)),
          compressed_(std::move(compressed)) {}

    void read(int index, const Region& box, std::byte* packed) const override {
        const FileReading reading;
        const InputFile file(path_);
        if (!file.is_open()) {
            fail_file(kRead, path_, "can no longer be opened: " + system_message(),
                      "The file may have been moved or deleted.");
        }
        if (file.identity() != identity_) fail_file(kRead, path_, "has changed since it was opened", "Open it again.");
        if (compressed_.empty()) {
            for_each_run(index, box, packed,
                         [&](std::uint64_t at, std::size_t units, std::byte* out) { read_run(file, at, units, out); });
        } else {
            decompress(file, index, box, packed);
        }
    }

    std::vector<Region> boxes(int index, std::size_t max_bytes) const override {
        const Extent extent = level(index);
        return cut(format(), whole(extent), {extent.width, block_side(format()), 1}, max_bytes);
    }
    ImageAccess access(int index) const override {
        const std::size_t side = block_side(format());
        if (compressed_.empty()) return {{side, side, 1}};
        return {{level(index).width, side, 1}, true};
    }
    std::span<const StoredLevel> stored_levels() const override {
        if (compressed_.empty() && order_ == StoredOrder::same) return levels_;
        return {};
    }

private:
    // Calls `read(at, units, out)` for all runs of consecutive units of a box, in the order of the file.
    template <class Read>
    void for_each_run(int index, const Region& box, std::byte* packed, const Read& read) const {
        const StoredLevel& level = levels_[static_cast<std::size_t>(index)];
        const std::size_t side = block_side(format());
        const std::size_t unit = stored_bytes(format(), order_);
        const auto units = [side](std::size_t texels) { return (texels + side - 1) / side; };
        const std::size_t file_row = units(level.extent.width) * unit;
        const std::size_t rows = units(box.extent.height);
        const std::size_t across = units(box.extent.width);
        const bool whole_rows = box.extent.width == level.extent.width;
        const std::size_t run = whole_rows ? rows * across : across;
        const std::size_t row_step = whole_rows ? rows : 1;
        for (std::size_t z = 0; z < box.extent.depth; ++z) {
            const std::uint64_t slice = level.first + (box.offset.z + z) * level.stride;
            for (std::size_t y = 0; y < rows; y += row_step) {
                const std::uint64_t at = slice + (box.offset.y / side + y) * file_row + box.offset.x / side * unit;
                read(at, run, packed + (z * rows + y) * across * info(format()).bytes);
            }
        }
    }

    // Reads consecutive units, with several threads if there are many: a single thread copies more slowly than the link
    // to a GPU.
    void read_run(const InputFile& file, std::uint64_t at, std::size_t units, std::byte* out) const {
        const std::size_t unit = stored_bytes(format(), order_);
        const std::size_t grain = kGrainBytes / unit;
        run_in_parallel((units + grain - 1) / grain, [&](std::size_t part) {
            const std::size_t first = part * grain;
            read_units(std::min(grain, units - first), out + first * info(format()).bytes,
                       [&](std::span<std::byte> stored) { read_bytes(file, at + first * unit, stored); });
        });
    }

    void read_bytes(const InputFile& file, std::uint64_t at, std::span<std::byte> out) const {
        const std::size_t got = file.read_at(at, out);
        if (got == out.size()) return;
        fail_file(
            kRead, path_,
            fmt::format("is truncated: it ends after {} bytes, but texels at byte {} were requested", at + got, at),
            "The file may have been changed since it was opened.");
    }

    // Calls `read(bytes)` for the stored bytes of units, and converts them to the order of the format.
    template <class Read>
    void read_units(std::size_t units, std::byte* out, const Read& read) const {
        const std::size_t bytes = units * stored_bytes(format(), order_);
        if (order_ == StoredOrder::same) return read({out, bytes});
        const auto stored = std::make_unique_for_overwrite<std::byte[]>(bytes);
        read({stored.get(), bytes});
        unpack(order_, format(), {stored.get(), bytes}, out);
    }

    void decompress(const InputFile& file, int index, const Region& box, std::byte* packed) const {
        std::optional<PartReader> reader;
        const std::size_t grain = kGrainBytes / stored_bytes(format(), order_);
        try {
            for_each_run(index, box, packed, [&](std::uint64_t at, std::size_t units, std::byte* out) {
                if (!reader) reader = readers_.take(index, at, compressed_[static_cast<std::size_t>(index)]);
                reader->skip(file, at - reader->position());
                for (std::size_t first = 0; first < units; first += grain) {
                    read_units(std::min(grain, units - first), out + first * info(format()).bytes,
                               [&](std::span<std::byte> stored) { reader->read(file, stored); });
                }
            });
        } catch (const DamagedPart& damaged) {
            fail_file(kRead, path_, damaged.what(), "The file may be truncated.");
        }
        if (reader) readers_.keep(index, std::move(*reader));
    }

    static constexpr std::size_t kGrainBytes = std::size_t{1} << 20;

    std::filesystem::path path_;
    FileIdentity identity_;
    StoredOrder order_;
    std::vector<StoredLevel> levels_;
    std::vector<CompressedPart> compressed_;
    mutable LevelReaders readers_;
};

}  // namespace

ImageSourcePtr stored_file(std::filesystem::path path, const FileIdentity& identity, Format format, bool srgb,
                           const StoredOrder& order, std::vector<StoredLevel> levels,
                           std::vector<CompressedPart> compressed) {
    std::vector<Extent> extents;
    for (const StoredLevel& level : levels) extents.push_back(level.extent);
    return std::make_shared<StoredFile>(std::move(path), identity, format, srgb, order, std::move(levels),
                                        std::move(compressed), std::move(extents));
}

std::span<const std::byte> ImageBands::read(const ImageSource& file, int level, const Region& box) {
    const std::size_t bytes = packed_bytes(file.format(), box.extent);
    if (bytes > capacity_) {
        texels_ = nullptr;  // before the larger buffer is allocated
        texels_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
        capacity_ = bytes;
    }
    read_named(image_.name, file, level, box, texels_.get());
    return {texels_.get(), bytes};
}

void ImageBands::report(std::size_t bytes) {
    done_ += bytes;
    if (!progress_ || call_back([&] { return progress_({done_, total_}); })) return;
    throw Canceled({.code = ErrorCode::io,
                    .object = "texton::save",
                    .problem = fmt::format("saving {} was canceled after {} of {} bytes", image_.name, done_, total_),
                    .remedy = "The progress callback canceled the operation.",
                    .numbers = {{"done", done_}, {"total", total_}}});
}

void ImageBands::write(const ImageSource& file, int level, const Region& region, NewFile& out) {
    const Extent rows{region.extent.width, block_side(file.format()), 1};
    for (const Region& box : cut(file.format(), region, rows, kBandBytes)) {
        const auto texels = read(file, level, box);
        out.write(texels);
        report(texels.size());
    }
}

}  // namespace texton::detail
