#pragma once
// Batches: a pipeline of kernels that is applied to many image files.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace texton {

/// A part of a batch: the inputs of which `index` is the shard. Which shard an input belongs to depends only on its path
/// and on the number of shards, so several processes or machines can compute one batch together.
struct BatchShard {
    std::size_t index = 0;  ///< below `count`
    std::size_t count = 1;  ///< number of shards; 1 is the whole batch
};

/// How a batch decodes JPEG files. Other files are always decoded in full.
enum class JpegDecoding : std::uint8_t {
    full,  ///< all texels, as open_image() does
    /// At 1/2, 1/4 or 1/8 of the size, if the pipeline begins with resample, for a whole image, to a size that is at least
    /// four times smaller: the smallest that is still twice as large as the result. Values differ from those of `full`,
    /// because frequencies that the smaller image does not have are removed before the filter of resample is applied.
    shrink,
    /// By nvJPEG, which the CUDA Toolkit contains, on the CUDA device that computes. Values differ from those of `full` by
    /// a few codes, because the library rounds and interpolates chroma in another way. Files other than gray and YCbCr
    /// images of 8 bits, and those that nvJPEG refuses, are decoded as with `full`.
    gpu
};

/// What a batch reads, computes and writes.
struct BatchOptions {
    /// JSON file of the pipeline, as `texton run --save-pipeline` writes it.
    std::filesystem::path pipeline{};
    /// Files, folders (all images in them), numbered files (in_%03d.png) and patterns with *, ? or [...].
    std::vector<std::string> inputs{};
    /// Name of the file of the last step, with words for the parts of the input's name: "out/{folder}/{stem}.png". {name},
    /// {stem} and {extension} are those of the input, {folder} is its folder below the one in `inputs`, and {number} is
    /// its position. Empty: the pipeline names it. The files of other steps in the pipeline have such names, too.
    std::string output{};
    /// Folder of the journal. Empty: ".texton-batch" in the folder of the outputs.
    std::filesystem::path journal{};
    /// "cpu", "cuda:1", or all devices of a kind: "cpu:all", "cuda:all". Empty: the first CUDA device, or else the CPU.
    std::string device{};
    /// Number of processes that compute, which are distributed over the devices. A GPU, or a CPU device with threads of
    /// its own (TEXTON_CPU_THREADS), has one process instead: then it is the number of threads that decode and encode,
    /// on all devices together. 0: as many as there are processors, and at least one for each device.
    std::size_t workers = 0;
    double seconds = 120;                        ///< maximum time for an image
    int attempts = 3;                            ///< maximum number of attempts if another one can help
    std::size_t max_failures = ~std::size_t{0};  ///< the batch ends early after more failures
    double max_failure_share = 1;                ///< likewise; a share of the inputs that are computed
    BatchShard shard{};                          ///< part of the inputs that is computed
    JpegDecoding jpeg = JpegDecoding::full;      ///< how JPEG files are decoded; belongs to the pipeline
    bool checksum = false;                       ///< inputs are recognized by their contents, not by their time
    bool allow_outside = false;                  ///< the pipeline may name files outside of the folder of its JSON file
};

/// Why an input is computed, or is not.
enum class BatchReason : std::uint8_t {
    done,     ///< it was done by an earlier run, and is not computed again
    missing,  ///< it was never computed, or an output does not exist any more
    changed,  ///< the input changed after it was computed
    failed    ///< it failed in an earlier run
};

/// An input with its outputs.
struct BatchItem {
    std::filesystem::path input;                 ///< an image file
    std::vector<std::filesystem::path> outputs;  ///< one for each step that writes images
    BatchReason reason = BatchReason::missing;   ///< why it is computed, or is not
};

/// What happened to an input.
struct BatchEvent {
    const BatchItem& item;                       ///< the input
    std::vector<std::filesystem::path> files{};  ///< that were written
    std::string failure{};                       ///< cause of the failure; empty if the input is done
    int attempts = 1;                            ///< number of attempts, including the last one
    double seconds = 0;                          ///< of the last attempt
    std::string device{};                        ///< that computed it, if BatchOptions::device names one or more
};

/// The result of a run.
struct BatchSummary {
    std::size_t done = 0;     ///< inputs that were computed
    std::size_t skipped = 0;  ///< inputs that were done before
    std::size_t failed = 0;   ///< inputs that failed
    std::size_t left = 0;     ///< inputs that were not computed, because the run ended early
    double seconds = 0;       ///< time of the whole run
};

/// A pipeline of kernels that is applied to many image files, each by one of several processes.
///
/// A failure concerns one input: a damaged file, a crash or a hang of the process that computes it, or the loss of its
/// device. It is written to the journal, and the others are computed. Outputs are written completely or not at all. They
/// are stored on the disk in groups, and only then does the journal name their inputs as done. The same batch again
/// computes what is missing, changed or failed.
class Batch {
public:
    /// Checks everything before an image is read, and creates nothing. Throws the errors of the pipeline, Error{io} if an
    /// input does not exist, and Error{bad_argument} if two inputs have the same output, if an output is an input or in a
    /// folder of `inputs`, if no input has an output, or if the journal is that of another pipeline, other outputs or
    /// another BatchOptions::jpeg. Throws Error{unsupported} for JpegDecoding::shrink in a build without libjpeg, and
    /// for JpegDecoding::gpu with a CPU device.
    explicit Batch(BatchOptions options);
    ~Batch();
    Batch(Batch&& other) noexcept;             ///< Moves the batch. The other one can only be destroyed or assigned.
    Batch& operator=(Batch&& other) noexcept;  ///< Destroys this batch and moves the other one.

    /// Returns the inputs of the shard.
    [[nodiscard]] const std::vector<BatchItem>& items() const noexcept;

    /// Computes the inputs that are not done. `on_event` is called in this thread, after each input. If a stop is
    /// requested, the run ends within 5 seconds; what was begun is completed or dropped. Throws Error if no worker can
    /// start, for example without the device or, for JpegDecoding::gpu, without nvJPEG, and if the journal cannot be written.
    BatchSummary run(const std::function<void(const BatchEvent&)>& on_event = {}, const std::stop_token& stop = {});

private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace texton
