#pragma once
// A kernel whose image is computed in strips of rows, with only a part of the inputs and of the image in memory. The
// image has the same bits as if all of it were computed at once: the kernel sees textures and an image of full size.
#include <cstddef>
#include <memory>
#include <vector>

#include <texton/array.h>
#include <texton/image_file.h>
#include <texton/linear.h>
#include <texton/stream.h>
#include <texton/texture.h>

#include "arrays/mapped_rows.h"
#include "viewer/model/kernel_run.h"
#include "viewer/tiles/cached_texels.h"
#include "viewer/tiles/rows.h"

namespace texton::tiles {

/// An input of a kernel: an image that is read in parts, or an array on the device of the kernel.
struct KernelInput {
    ImageFile image{};
    Array array{};  ///< used if it is not empty
    Sampler sampler{};
};

/// Throws Error{unsupported}, with the reason, for kernels that need their whole input or several of their images at
/// once: statistics, and kernels that write several levels or planes.
void check_kernel(const verify::KernelRun& run);

/// Where a kernel reads the parts of its inputs.
enum class StripInputs {
    loaded,  ///< in host memory, from which the CPU device loads texels while the kernel runs
    copied   ///< in memory of the device, which has the rows that a strip reads; CUDA devices need this
};

class KernelInStrips {
public:
    /// `memory` is in bytes, of the host and of the device together: the strips, the parts of the inputs, and what
    /// reading them takes. Inputs that are small in comparison are read as a whole. With StripInputs::copied, this also
    /// holds for inputs of which a strip may need any row.
    ///
    /// Throws Error{out_of_memory}, with the number of bytes, if the smallest strip needs more: a row of the image, or
    /// kRowAlignment rows with StripInputs::copied. Throws Error{overflow} if an input exceeds the limits of a CUDA
    /// device. Throws the errors of check_kernel(), of the kernel, and of reading the inputs.
    KernelInStrips(const Device& device, verify::KernelRun run, std::vector<KernelInput> inputs, std::size_t memory);
    KernelInStrips(const Device& device, verify::KernelRun run, std::vector<KernelInput> inputs, std::size_t memory,
                   StripInputs strip_inputs);

    /// Returns the device of the memory that compute() writes, which is host memory.
    Device device() const { return copies() ? Device::cpu() : device_; }
    const ImageShape& shape() const noexcept { return shape_; }
    ArrayKind input_kind() const { return textures_.front().kind(); }
    const verify::KernelRun& run() const noexcept { return run_; }
    /// Returns the number of rows of a strip.
    std::size_t strip_rows() const noexcept { return strip_rows_; }

    /// Computes at most strip_rows() rows, in all slices. Each slice of `pixels` has that many rows, tightly packed.
    /// Starts to read what the rows of `next` need, unless they are none. Must not be called by several threads at
    /// once.
    void compute(Rows rows, Rows next, const Linear& pixels);

private:
    bool copies() const noexcept { return strip_inputs_ == StripInputs::copied; }
    void add_input(KernelInput input, std::size_t memory);
    Array whole(const ImageFile& image, const ArrayInfo& info, std::size_t memory);
    detail::MappedRows mapped(ArrayInfo info) const;
    std::size_t row_unit() const noexcept;
    std::size_t row_bytes() const;
    std::size_t bytes_of_rows(std::size_t rows) const;
    std::size_t granule_of(std::size_t input) const;
    std::size_t rows_of_granules() const;
    std::size_t bytes_of_decoding() const;
    void plan(std::size_t memory);
    void compute_by_blocks(Rows rows, Rows strip, const Linear& pixels);
    void enqueue(Rows rows, Rows strip, const Linear& pixels);
    void copy_rows(std::size_t input, Rows rows);
    Rows rows_needed(std::size_t input, Rows rows) const;
    Rows rows_of(std::size_t input, Rows rows) const;

    verify::KernelRun run_;
    Arguments arguments_;
    StripInputs strip_inputs_;
    Device device_;
    Stream stream_{device_};
    std::unique_ptr<BlockMemory> blocks_;
    std::vector<Texture> textures_;
    std::vector<std::shared_ptr<CachedTexels>> cached_;  // of each input; null: it is in memory
    // The rows of the inputs in memory of the device, for StripInputs::copied.
    struct CopiedRows {
        detail::MappedRows array;
        Rows valid;
    };
    std::vector<CopiedRows> copied_;  // of each input
    Linear band_;                     // the strip in memory of the device
    ImageShape shape_;
    bool reads_rows_ = false;   // the rows of the inputs are known
    bool reads_tiles_ = false;  // rows are read up to the end of a row of tiles, so that no tile is decoded twice
    std::size_t strip_rows_ = 0;
    std::size_t whole_ = 0;  // bytes of inputs that are in memory
    std::size_t memory_;
};

}  // namespace texton::tiles
