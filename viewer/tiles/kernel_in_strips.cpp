#include "viewer/tiles/kernel_in_strips.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/image_load.h>

#include "arrays/array_block.h"
#include "arrays/loaded_array.h"
#include "kernels/launch/image_rows.h"
#include "viewer/text/value_text.h"
#include "viewer/tiles/kernel_rows.h"

namespace texton::tiles {
namespace {

constexpr std::size_t kMaxStripRows = 1024;

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
    struct Row {
        std::string_view name;
        const char* why;
    };
    static constexpr std::array<Row, 6> kRefused{{
        {"from_rgb", "writes planes, which are saved together"},
        {"histogram", "counts the texels of the whole image"},
        {"min_max_pyramid", "computes each level from the whole level above"},
        {"mips", "writes several levels, unless level_count is 1; `texton mips --memory` computes all"},
        {"prefilter_ggx", "writes several levels, each from the whole cube"},
        {"statistics", "sums the texels of the whole image"},
    }};
    const auto count = run.parameters.find("level_count");
    const bool is_single = count != run.parameters.end() && count->second == ParameterValue(1.0);
    if (kernel.info.name == "mips" && is_single) return;
    for (const auto& [name, why] : kRefused) {
        if (kernel.info.name == name)
            refuse(kernel, ErrorCode::unsupported,
                   fmt::format("the image cannot be computed in parts: {} {}", name, why), "Omit --memory.");
    }
}

KernelInStrips::KernelInStrips(const Device& device, verify::KernelRun run, std::vector<KernelInput> inputs,
                               std::size_t memory)
    : run_(std::move(run)),
      arguments_(run_.kernel->info, run_.parameters),
      device_(device),
      blocks_(std::make_unique<BlockMemory>(memory / 2)),
      memory_(memory) {
    check_kernel(run_);
    for (KernelInput& input : inputs) add_input(std::move(input), memory);
    std::vector<ImageShape> made = shapes(*run_.kernel, arguments_, textures_);
    if (made.size() != 1)
        refuse(*run_.kernel, ErrorCode::unsupported, "several images cannot be computed in parts", "Omit --memory.");
    shape_ = made.front();
    if (run_.size) {
        const std::size_t slices = run_.size->depth != 0 ? run_.size->depth : shape_.extent.depth;
        shape_.extent = {run_.size->width, run_.size->height, slices};
    }
    if (run_.format) shape_.format = *run_.format;
    reads_rows_ = true;
    for (std::size_t i = 0; i < cached_.size(); ++i) {
        const auto is_known = [&](Rows rows) {
            return rows_read(*run_.kernel, arguments_, textures_, i, shape_.extent, rows).has_value();
        };
        const std::size_t height = shape_.extent.height;
        if (cached_[i] != nullptr && !(is_known({0, 1}) && is_known({height - 1, height}))) reads_rows_ = false;
    }
    plan(memory);
}

void KernelInStrips::add_input(KernelInput input, std::size_t memory) {
    std::shared_ptr<CachedTexels> cached;
    Array array = std::move(input.array);
    if (array.info().extent.width == 0 || array.block() == nullptr) {
        ArrayInfo info = input.image.info();
        info.usage = verify::usage_for_kernels(device_, info);
        if (packed_bytes(info) <= memory / 16 && fits_array(device_, info)) {
            array = load(device_, input.image, {.usage = info.usage});
            whole_ += packed_bytes(info);
        } else {
            cached = std::make_shared<CachedTexels>(input.image, *blocks_);
            array = detail::loaded_array(device_, info, cached);
        }
    }
    textures_.emplace_back(array, input.sampler);
    cached_.push_back(std::move(cached));
}

// --- the plan --------------------------------------------------------------------------------------------------------

Rows KernelInStrips::rows_of(std::size_t input, Rows rows) const {
    Rows read = rows_read(*run_.kernel, arguments_, textures_, input, shape_.extent, rows).value();
    if (reads_tiles_) {
        const std::size_t granule = granule_of(input);
        read.end = std::min((read.end + granule - 1) / granule * granule, textures_[input].extent().height);
    }
    return read;
}

std::size_t KernelInStrips::row_bytes() const {
    return texton::row_bytes(shape_.format, shape_.extent.width) * shape_.extent.depth;
}

// Two strips of the image: one is computed while the other one is written. Likewise for the rows of the inputs.
std::size_t KernelInStrips::bytes_of_rows(std::size_t rows) const {
    constexpr std::size_t kPositions = 64;  // of strips that are examined
    std::size_t bytes = 2 * rows * row_bytes();
    if (!reads_rows_) return bytes;
    const std::size_t height = shape_.extent.height;
    const std::size_t step = std::max<std::size_t>(1, height / kPositions);
    for (std::size_t i = 0; i < cached_.size(); ++i) {
        if (cached_[i] == nullptr) continue;
        std::size_t most = 0;
        for (std::size_t first = 0; first < height; first += step)
            most = std::max(most, rows_of(i, {first, std::min(first + rows, height)}).count());
        if (reads_tiles_) most += granule_of(i);  // the end of the row of tiles in other strips
        bytes += 2 * (most + 1) * cached_[i]->row_bytes();
    }
    return bytes;
}

// Returns the number of rows of an input that are decoded together. Images of other kernels are not decoded.
std::size_t KernelInStrips::granule_of(std::size_t input) const {
    const ImageFile& image = cached_[input]->image();
    return image.metadata().file_kind == "memory" ? 1 : std::max<std::size_t>(image.access().granule.height, 1);
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
    if (needed(1) >= memory) {
        refuse(*run_.kernel, ErrorCode::out_of_memory,
               fmt::format("a row of the image and the texels that it reads take {}, but {} was given",
                           viewer::size_text(needed(1)), viewer::size_text(memory)),
               fmt::format("Use --memory {}MiB or more for each kernel.", (needed(1) >> 20) + 1),
               {{"needed", needed(1)}, {"memory", memory}});
    }
    if (reads_rows_) {
        constexpr std::size_t kFewRows = 16;
        reads_tiles_ = true;
        reads_tiles_ = needed(std::min(kFewRows, shape_.extent.height)) <= memory / 2;
    }
    // Blocks of texels get most of the memory.
    const std::size_t of_rows = reads_rows_ ? memory : memory / 4;
    std::size_t fits = 1;
    std::size_t too_many = std::min(kMaxStripRows, shape_.extent.height) + 1;
    while (too_many - fits > 1) {
        const std::size_t rows = (fits + too_many) / 2;
        (needed(rows) <= of_rows ? fits : too_many) = rows;
    }
    strip_rows_ = fits;
    blocks_->set_limit(memory - needed(fits));
}

// --- computing -------------------------------------------------------------------------------------------------------

void KernelInStrips::enqueue(Rows rows, Rows strip, const Linear& pixels) {
    const Extent extent{shape_.extent.width, strip.count(), shape_.extent.depth};
    const std::size_t pitch = texton::row_bytes(shape_.format, extent.width);
    detail::MemoryLocation image = pixels.view(shape_.format, extent).location();
    image.address -= strip.first * pitch;
    image.extent = shape_.extent;
    const detail::ImageRows computed{image.address, rows.first, rows.count()};
    const View view(std::move(image));
    {
        const detail::ImageRowsScope scope({&computed, 1});
        texton::enqueue(*run_.kernel, stream_, {&view, 1}, arguments_, textures_);
    }
    stream_.synchronize();
}

void KernelInStrips::compute(Rows rows, Rows next, const Linear& pixels) {
    if (!reads_rows_) return compute_by_blocks(rows, rows, pixels);
    for (std::size_t i = 0; i < cached_.size(); ++i) {
        if (cached_[i] == nullptr) continue;
        cached_[i]->load(rows_of(i, rows));
        if (next.count() > 0) cached_[i]->prefetch(rows_of(i, next));
    }
    enqueue(rows, rows, pixels);
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
