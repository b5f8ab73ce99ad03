#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <semaphore>
#include <span>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/batch.h>
#include <texton/device.h>
#include <texton/image_file.h>
#include <texton/stream.h>

#include "arrays/files/reduced_jpeg.h"
#include "arrays/jpeg_decoder.h"
#include "viewer/model/host_image.h"
#include "viewer/model/pipeline.h"

namespace texton::batch {

/// What is done with an image. It tells whether another attempt can help after an error.
enum class Phase { reading, computing, writing };

/// Limits how many threads of a process decode or encode at the same time. Threads that compute take no turn.
using CodingTurns = std::counting_semaphore<>;

/// A turn of the calling thread, until the end of the scope.
class CodingTurn {
public:
    explicit CodingTurn(CodingTurns& turns) : turns_(turns) { turns_.acquire(); }
    ~CodingTurn() { turns_.release(); }
    CodingTurn(const CodingTurn&) = delete;
    CodingTurn& operator=(const CodingTurn&) = delete;

private:
    CodingTurns& turns_;
};

/// An image that a pipeline reads.
class InputImage {
public:
    /// Opens the file for the first kernel of the pipeline. Throws the errors of open_image(), and Error{unsupported} for
    /// a video.
    InputImage(const std::filesystem::path& file, const verify::Pipeline& pipeline, JpegDecoding jpeg);

    /// Reads the texels to host memory, for a device that cannot be used yet.
    void decode();
    /// Creates the arrays of the image, or reuses those of another image if kind, format and size are equal.
    /// A JPEG file is decoded by `decoder`, if there is one, in the order of the stream.
    void load(const Stream& stream, std::vector<Array>& arrays, detail::JpegDecoder* decoder) const;
    const ImageFile& file() const noexcept { return input_.image; }
    /// Returns the region that the first kernel must resample instead of the whole image. Unset: all of it.
    const std::optional<std::vector<double>>& region() const noexcept { return input_.region; }

private:
    bool decode_on_device(detail::JpegDecoder& decoder, const Stream& stream, const Array& array) const;

    std::filesystem::path path_;
    detail::ReducedImage input_;
    std::vector<ImageFile> planes_;
    std::vector<verify::HostArray> decoded_;  // of the planes, or empty
};

/// A pipeline that is applied to many images on one device. The files of its other inputs are read once.
class AppliedPipeline {
public:
    /// Throws the errors of reading those files and, for JpegDecoding::gpu, those of make_jpeg_decoder().
    AppliedPipeline(const Device& device, verify::Pipeline pipeline, JpegDecoding jpeg);

    /// The stream and the memory of a thread that calls apply(). They are used for one image after the other.
    struct Lane {
        Stream stream;
        std::vector<Array> arrays{};  // of the last image
    };
    Lane lane() const { return {Stream(device_)}; }

    /// Computes an image: runs all steps and writes the images of each step that has a file in `outputs`, one path for
    /// each step. Folders are created. The files are complete, but the disk may store them later. Returns their paths.
    /// Several threads may call this function with different lanes. `phase` is what the call does, also after it threw.
    std::vector<std::filesystem::path> apply(const InputImage& image, std::span<const std::filesystem::path> outputs,
                                             Lane& lane, CodingTurns& turns, Phase& phase) const;

private:
    struct Step {
        verify::PipelineStep step;
        std::vector<Array> arrays{};          // of its files
        std::vector<std::size_t> samplers{};  // their indices, counted from the first file
    };

    void read_files(Step& step);

    Device device_;
    std::unique_ptr<detail::JpegDecoder> decoder_;  // null: files are decoded by the CPU
    std::vector<Step> steps_;
};

}  // namespace texton::batch
