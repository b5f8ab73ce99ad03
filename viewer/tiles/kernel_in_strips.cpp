#include "viewer/tiles/kernel_in_strips.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/image_load.h>

#include "arrays/array_block.h"
#include "arrays/loaded_array.h"
#include "kernels/launch/image_rows.h"
#include "kernels/launch/rows_read.h"
#include "viewer/text/value_text.h"

namespace texton::tiles {
namespace {

constexpr std::size_t kMaxStripRows = 1024;
constexpr std::size_t kEfficientStrips = std::size_t{16} << 20;  // bytes of strips and of the rows that they read

[[noreturn]] void refuse(const Kernel& kernel, ErrorCode code, std::string problem, std::string remedy,
                         std::vector<ErrorNumber> numbers = {}) {
    throw Error({.code = code,
                 .object = "texton::" + kernel.info.name,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

// Returns whether the image does not exceed the limits of arrays.
bool fits_array(const Device& device, const ArrayInfo& info) {
    try {
        detail::check_array(device, info, detail::ArrayBacking::own, "");
        return true;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

void check_kernel(const verify::KernelRun& run) {
    const Kernel& kernel = *run.kernel;
    const char* why = detail::why_not_in_rows(kernel, Arguments(kernel.info, run.parameters));
    if (why == nullptr) return;
    const char* more = kernel.info.name == "mips" ? "; `texton mips --memory` computes all" : "";
    refuse(kernel, ErrorCode::unsupported,
           fmt::format("the image cannot be computed in parts: {} {}{}", kernel.info.name, why, more),
           "Omit --memory.");
}

KernelInStrips::KernelInStrips(const Device& device, verify::KernelRun run, std::vector<KernelInput> inputs,
                               std::size_t memory)
    : KernelInStrips(device, std::move(run), std::move(inputs), memory,
                     device.kind() == DeviceKind::cpu ? StripInputs::loaded : StripInputs::copied) {}

KernelInStrips::KernelInStrips(const Device& device, verify::KernelRun run, std::vector<KernelInput> inputs,
                               std::size_t memory, StripInputs strip_inputs)
    : run_(std::move(run)),
      arguments_(run_.kernel->info, run_.parameters),
      strip_inputs_(strip_inputs),
      device_(device),
      blocks_(std::make_unique<BlockMemory>(memory / 2)),
      memory_(memory) {
    check_kernel(run_);
    for (KernelInput& input : inputs) add_input(std::move(input), memory);
    std::vector<ImageShape> made = shapes(*run_.kernel, arguments_, textures_);
    if (made.size() != 1)
        refuse(*run_.kernel, ErrorCode::unsupported, "several images cannot be computed in parts", "Omit --memory.");
    shape_ = made.front();
    if (run_.size) shape_.extent = run_.size->of(shape_.extent);
    if (run_.format) shape_.format = *run_.format;
    reads_rows_ = true;
    for (std::size_t i = 0; i < cached_.size(); ++i) {
        const auto is_known = [&](Rows rows) {
            return detail::rows_read(*run_.kernel, arguments_, textures_, i, shape_.extent, rows).has_value();
        };
        const std::size_t height = shape_.extent.height;
        if (cached_[i] == nullptr || (is_known({0, 1}) && is_known({height - 1, height}))) continue;
        if (copies()) {
            const ImageFile image = cached_[i]->image();
            ArrayInfo info = image.info();
            info.usage = verify::usage_for_kernels(device_, info);
            copied_[i] = {};
            textures_[i] = Texture(whole(image, info, memory), textures_[i].sampler());
            cached_[i] = nullptr;
        } else {
            reads_rows_ = false;
        }
    }
    plan(memory);
}

void KernelInStrips::add_input(KernelInput input, std::size_t memory) {
    copied_.emplace_back();
    if (input.array.info().extent.width != 0 && input.array.block() != nullptr) {
        textures_.emplace_back(input.array, input.sampler);
        cached_.push_back(nullptr);
        return;
    }
    ArrayInfo info = input.image.info();
    info.usage = verify::usage_for_kernels(device_, info);
    const bool is_small = packed_bytes(info) <= memory / 16 && fits_array(device_, info);
    const bool has_rows = info.kind == ArrayKind::array_2d && info.levels == 1 && block_side(info.format) == 1;
    if (is_small || (copies() && !has_rows)) {
        textures_.emplace_back(whole(input.image, info, memory), input.sampler);
        cached_.push_back(nullptr);
        return;
    }
    auto cached = std::make_shared<CachedTexels>(input.image, *blocks_);
    if (copies()) {
        copied_.back().array = mapped(info);
        textures_.emplace_back(copied_.back().array.array(), input.sampler);
    } else {
        textures_.emplace_back(detail::loaded_array(device_, info, cached), input.sampler);
    }
    cached_.push_back(std::move(cached));
}

// Reads an input of which any row may be needed.
Array KernelInStrips::whole(const ImageFile& image, const ArrayInfo& info, std::size_t memory) {
    const std::size_t bytes = packed_bytes(info);
    if (bytes > memory - std::min(memory, whole_)) {
        refuse(*run_.kernel, ErrorCode::out_of_memory,
               fmt::format("{} needs all rows of an input, which take {}, but the kernel has {}", device_.name(),
                           viewer::size_text(bytes), viewer::size_text(memory)),
               "Use --device cpu, which reads parts of any image, or a larger --memory.",
               {{"needed", bytes}, {"memory", memory}});
    }
    whole_ += bytes;
    return load(device_, image, {.usage = info.usage});
}

// Kernels that gather read any rows, so they get whole inputs.
detail::MappedRows KernelInStrips::mapped(ArrayInfo info) const try {
    info.usage.gather = false;
    return {device_, info};
} catch (const Error& error) {
    if (error.code() != ErrorCode::overflow) throw;
    refuse(*run_.kernel, ErrorCode::overflow, error.problem(),
           "Use --device cpu, which has no limits of textures for --memory.", error.numbers());
}

// --- the plan --------------------------------------------------------------------------------------------------------

// Returns the rows of an input that rows of the image need.
Rows KernelInStrips::rows_needed(std::size_t input, Rows rows) const {
    return detail::rows_read(*run_.kernel, arguments_, textures_, input, shape_.extent, rows).value();
}

// Returns the rows of an input that are in memory while rows of the image are computed.
Rows KernelInStrips::rows_of(std::size_t input, Rows rows) const {
    Rows read = rows_needed(input, rows);
    if (reads_tiles_) {
        const std::size_t granule = granule_of(input);
        read.end = std::min((read.end + granule - 1) / granule * granule, textures_[input].extent().height);
    }
    return read;
}

std::size_t KernelInStrips::row_bytes() const {
    return texton::row_bytes(shape_.format, shape_.extent.width) * shape_.extent.depth;
}

// The smallest number of rows of a strip.
std::size_t KernelInStrips::row_unit() const noexcept {
    return copies() ? std::min(detail::kRowAlignment, shape_.extent.height) : 1;
}

// Two strips of the image: one is computed while the other one is written. Likewise for the rows of the inputs. The
// device has a strip and its rows of the inputs in addition.
std::size_t KernelInStrips::bytes_of_rows(std::size_t rows) const {
    constexpr std::size_t kPositions = 64;  // of strips that are examined
    std::size_t bytes = (copies() ? 3 : 2) * rows * row_bytes();
    if (!reads_rows_) return bytes;
    const std::size_t height = shape_.extent.height;
    const std::size_t step = std::max<std::size_t>(1, height / kPositions);
    for (std::size_t i = 0; i < cached_.size(); ++i) {
        if (cached_[i] == nullptr) continue;
        std::size_t most = 0;
        for (std::size_t first = 0; first < height; first += step)
            most = std::max(most, rows_needed(i, {first, std::min(first + rows, height)}).count());
        if (reads_tiles_) most += granule_of(i);  // up to the end of a row of tiles
        bytes += 2 * (most + 1) * cached_[i]->row_bytes();
        if (copies()) bytes += copied_[i].array.bytes_of(most + 1);
    }
    return bytes;
}

// Returns the number of rows of an input that are decoded together. Images of other kernels are not decoded.
std::size_t KernelInStrips::granule_of(std::size_t input) const {
    const ImageFile& image = cached_[input]->image();
    return image.metadata().file_kind == "memory" ? 1 : std::max<std::size_t>(image.access().granule.height, 1);
}

// Returns the number of rows of the image for which a row of tiles is decoded, at most a few.
std::size_t KernelInStrips::rows_of_granules() const {
    constexpr std::size_t kFewRows = 16;
    std::size_t rows = 1;
    for (std::size_t i = 0; i < cached_.size(); ++i) {
        if (cached_[i] == nullptr) continue;
        const std::size_t height = textures_[i].extent().height;
        rows = std::max(rows, (granule_of(i) * shape_.extent.height + height - 1) / height);
    }
    return std::min(rows, kFewRows);
}

// Files are decoded in whole tiles or strips, of which rows can begin in one and end in another.
std::size_t KernelInStrips::bytes_of_decoding() const {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < cached_.size(); ++i) {
        if (cached_[i] != nullptr) bytes += 2 * granule_of(i) * cached_[i]->row_bytes();
    }
    return bytes;
}

void KernelInStrips::plan(std::size_t memory) {
    const std::size_t others = whole_ + (reads_rows_ ? bytes_of_decoding() : 0);
    const auto needed = [&](std::size_t rows) { return others + bytes_of_rows(rows); };
    const std::size_t unit = row_unit();
    if (needed(unit) >= memory) {
        refuse(*run_.kernel, ErrorCode::out_of_memory,
               fmt::format("{} of the image and the texels that {} take {}, but the kernel has {}",
                           unit == 1 ? "a row" : fmt::format("{} rows", unit), unit == 1 ? "it reads" : "they read",
                           viewer::size_text(needed(unit)), viewer::size_text(memory)),
               fmt::format("Use a --memory that is at least {} times as large.",
                           needed(unit) / std::max(memory, std::size_t{1}) + 1),
               {{"needed", needed(unit)}, {"memory", memory}});
    }
    const std::size_t few_rows = std::min(std::max(rows_of_granules(), unit), shape_.extent.height);
    if (reads_rows_) {
        reads_tiles_ = true;
        reads_tiles_ = needed(few_rows) <= memory / 2;
    }
    // Blocks of texels get most of the memory. Strips of CUDA devices are large, because each is copied as a whole.
    // Other strips take no more memory than makes them efficient: at least as much as the rows that two strips read,
    // and those of the last row of tiles, which are kept for the next strip. If they are decoded again, all memory is
    // used.
    std::size_t of_rows = reads_rows_ ? memory : memory / 4;
    if (reads_tiles_ && !copies()) {
        const std::size_t few = needed(few_rows), fixed = 2 * few - std::min(2 * few, needed(2 * few_rows));
        const std::size_t shared = fixed - std::min(fixed, bytes_of_decoding());
        of_rows = std::min(memory, fixed + std::max(kEfficientStrips, shared));
    }
    std::size_t fits = 1;  // in units
    std::size_t too_many = std::min(kMaxStripRows, shape_.extent.height) / unit + 1;
    while (too_many - fits > 1) {
        const std::size_t units = (fits + too_many) / 2;
        (needed(units * unit) <= of_rows ? fits : too_many) = units;
    }
    strip_rows_ = fits * unit;
    blocks_->set_limit(memory - needed(strip_rows_));
}

// --- computing -------------------------------------------------------------------------------------------------------

void KernelInStrips::enqueue(Rows rows, Rows strip, const Linear& pixels) {
    const Extent extent{shape_.extent.width, strip.count(), shape_.extent.depth};
    const std::size_t pitch = texton::row_bytes(shape_.format, extent.width);
    if (copies() && band_.bytes() == 0) band_ = Linear(device_, strip_rows_ * row_bytes());
    const View computed_pixels = (copies() ? band_ : pixels).view(shape_.format, extent);
    detail::MemoryLocation image = computed_pixels.location();
    image.address -= strip.first * pitch;
    image.extent = shape_.extent;
    const detail::ImageRows computed{image.address, rows.first, rows.count()};
    const View view(std::move(image));
    {
        const bool is_whole = rows.count() == shape_.extent.height;
        const detail::ImageRowsScope scope({&computed, is_whole ? std::size_t{0} : 1});
        texton::enqueue(*run_.kernel, stream_, {&view, 1}, arguments_, textures_);
    }
    if (copies()) copy(pixels.view(shape_.format, extent), computed_pixels, stream_);
    stream_.synchronize();
}

void KernelInStrips::compute(Rows rows, Rows next, const Linear& pixels) {
    if (!reads_rows_) return compute_by_blocks(rows, rows, pixels);
    for (std::size_t i = 0; i < cached_.size(); ++i) {
        if (cached_[i] == nullptr) continue;
        cached_[i]->load(rows_of(i, rows));
        if (copies()) copy_rows(i, rows_of(i, rows));
        if (next.count() > 0) cached_[i]->prefetch(rows_of(i, next));
    }
    enqueue(rows, rows, pixels);
}

// Copies rows that the host has to the device, except those that the device has from the strip before.
void KernelInStrips::copy_rows(std::size_t input, Rows rows) {
    CopiedRows& copied = copied_[input];
    const Rows valid = std::exchange(copied.valid, {});
    copied.array.keep(rows, stream_);
    const bool keeps = valid.first <= rows.first && rows.first < valid.end;
    const std::size_t first = keeps ? std::min(valid.end, rows.end) : rows.first;
    if (first < rows.end) {
        const ArrayInfo& info = copied.array.array().info();
        const Extent extent{info.extent.width, rows.end - first, 1};
        const std::byte* texels = cached_[input]->rows(0) + first * cached_[input]->row_bytes();
        copy(copied.array.view({first, rows.end}), host_view(texels, info.format, extent), stream_);
    }
    copied.valid = rows;
}

// Computes rows of a strip. If their texels do not fit, computes fewer rows at a time.
void KernelInStrips::compute_by_blocks(Rows rows, Rows strip, const Linear& pixels) {
    const auto fits = [&](bool all) {
        for (const auto& cached : cached_) {
            if (cached != nullptr) cached->begin(all);
        }
        (void)blocks_->was_exceeded();
        enqueue(rows, strip, pixels);
        for (const auto& cached : cached_) {
            if (cached != nullptr) cached->check();
        }
        return !blocks_->was_exceeded();
    };
    if (fits(false)) return;
    if (rows.count() > 1) {
        const std::size_t middle = rows.first + rows.count() / 2;
        compute_by_blocks({rows.first, middle}, strip, pixels);
        return compute_by_blocks({middle, rows.end}, strip, pixels);
    }
    if (fits(true)) return;
    std::size_t bytes = 2 * row_bytes();
    for (const auto& cached : cached_) {
        if (cached != nullptr && cached->image().metadata().file_kind != "memory")
            bytes += 2 * packed_bytes(cached->image().info());
    }
    refuse(*run_.kernel, ErrorCode::out_of_memory,
           fmt::format("row {} of the image reads more texels than {} hold", rows.first,
                       viewer::size_text(blocks_->limit())),
           fmt::format("Use a larger --memory for each kernel: {} suffices for any.", viewer::size_text(bytes)),
           {{"row", rows.first}, {"memory", memory_}});
}

}  // namespace texton::tiles
