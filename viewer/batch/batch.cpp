#include <texton/batch.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/image_save.h>

#include "arrays/files/reduced_jpeg.h"
#include "viewer/batch/batch_run.h"
#include "viewer/batch/file_names.h"
#include "viewer/batch/journal.h"
#include "viewer/batch/jpeg_names.h"
#include "viewer/batch/packets.h"
#include "viewer/batch/path_json.h"
#include "viewer/batch/worker_process.h"
#include "viewer/model/json_file.h"
#include "viewer/model/named_paths.h"
#include "viewer/model/pipeline.h"
#include "viewer/model/sha256.h"

namespace texton {
namespace {

namespace fs = std::filesystem;
using batch::Input;
using batch::OutputPattern;

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton::Batch",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

fs::path whole_path(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

// Returns the shard of an input. The hash is FNV-1a.
std::size_t shard_of(const fs::path& input, std::size_t shards) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char byte : input.native()) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    return static_cast<std::size_t>((hash ^ hash >> 32) % shards);
}

// Throws Error{io} if no image can be written to a file with this name.
void require_writable_kind(const fs::path& output) {
    // savable_format() creates no file, but wants a folder that exists.
    (void)savable_format(fs::temp_directory_path() / output.filename(), Format::rgba8_unorm);
}

}  // namespace

class Batch::State {
public:
    explicit State(BatchOptions options) : options_(std::move(options)) {
        check_numbers();
        check_decoding();
        read_pipeline();
        const std::vector<Input> inputs = batch::inputs_named(options_.inputs);
        if (inputs.empty()) refuse("no input was named", "Name image files, folders or patterns.");
        list_items(inputs);
        refuse_collisions();
        open_journal();
    }

    const std::vector<BatchItem>& items() const noexcept { return items_; }

    BatchSummary run(const std::function<void(const BatchEvent&)>& on_event, const std::stop_token& stop) {
        batch::BatchRun run({.program = batch::worker_program(),
                             .work = work_,
                             .devices = batch::devices_named(options_.device),
                             .workers = options_.workers,
                             .seconds = options_.seconds,
                             .attempts = options_.attempts,
                             .max_failures = options_.max_failures,
                             .max_failure_share = options_.max_failure_share,
                             .checksum = options_.checksum},
                            items_, *journal_, on_event, stop);
        journal_->open(fmt::format("{}-of-{}", options_.shard.index, options_.shard.count));
        const BatchSummary summary = run.run();
        open_journal();  // reads what was written, for another run
        return summary;
    }

private:
    void check_numbers() const {
        if (options_.shard.count < 1 || options_.shard.index >= options_.shard.count)
            refuse(fmt::format("the shard is {} of {}", options_.shard.index, options_.shard.count),
                   "Use an index from 0 to the number of shards - 1.");
        if (!(options_.seconds > 0)) refuse("the time for an image is not positive", "Use seconds above 0.");
        if (options_.attempts < 1) refuse("there are no attempts", "Use at least one attempt.");
    }

    void check_decoding() const {
        if (options_.jpeg == JpegDecoding::shrink) detail::require_libjpeg("texton::Batch");
        if (options_.jpeg != JpegDecoding::gpu || !options_.device.starts_with("cpu")) return;
        throw Error(
            {.code = ErrorCode::unsupported,
             .object = "texton::Batch",
             .problem = fmt::format("JPEG files cannot be decoded by a GPU, because the device is {}", options_.device),
             .remedy = "Use a CUDA device, or let the CPU decode JPEG files (--jpeg full)."});
    }

    void read_pipeline() {
        std::string problem;
        const auto text = verify::read_json_text(options_.pipeline, problem);
        if (!text)
            throw Error({.code = ErrorCode::io,
                         .object = "texton::Batch",
                         .problem = options_.pipeline.string() + " " + problem,
                         .remedy = "Give the path of a pipeline, which `texton run --save-pipeline` writes."});
        if (text->size() > batch::kMaxPacket / 2)
            refuse(fmt::format("{} has {} bytes", options_.pipeline.string(), text->size()),
                   fmt::format("A pipeline has at most {} bytes.", batch::kMaxPacket / 2));
        const verify::Pipeline pipeline = verify::parse_pipeline(*text, options_.pipeline, options_.allow_outside);
        for (const verify::PipelineStep& step : pipeline) {
            const bool is_last = &step == &pipeline.back();
            const std::string name = is_last && !options_.output.empty() ? options_.output : step.out.string();
            if (is_last && name.empty())
                refuse("no output was named", "Name the file of the last step, for example -o 'out/{stem}.png'.");
            std::error_code unreadable;
            if (!name.empty() && (name.ends_with('/') || fs::is_directory(name, unreadable)))
                refuse(fmt::format("the output {} is a folder", name),
                       fmt::format("Name the files in it, for example -o '{}'.",
                                   (fs::path(name) / "{stem}.png").string()));
            patterns_.push_back(name.empty() ? std::nullopt : std::optional<OutputPattern>(name));
        }
        verify::Json patterns = verify::Json::array();
        for (const auto& pattern : patterns_)
            patterns.push_back(batch::json_of(pattern ? whole_path(pattern->text()) : fs::path()));
        work_ = {{"pipeline", *text},
                 {"folder", batch::json_of(whole_path(options_.pipeline))},
                 {"allow_outside", options_.allow_outside},
                 {"jpeg", name_of(batch::kJpegDecodings, options_.jpeg)}};
        std::string identity = verify::parse_json(*text, problem)->dump() + patterns.dump();
        if (options_.jpeg != JpegDecoding::full) identity += name_of(batch::kJpegDecodings, options_.jpeg);
        identity_ = verify::sha256(std::as_bytes(std::span(identity)));
    }

    void list_items(const std::vector<Input>& inputs) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            BatchItem item{.input = whole_path(inputs[i].path), .outputs = {}};
            for (const auto& pattern : patterns_)
                item.outputs.push_back(pattern ? whole_path(pattern->path(inputs[i], i)) : fs::path());
            all_.push_back(std::move(item));
        }
        for (const auto& output : all_.front().outputs) {
            if (!output.empty()) require_writable_kind(output);
        }
        for (const BatchItem& item : all_) {
            if (shard_of(item.input, options_.shard.count) == options_.shard.index) items_.push_back(item);
        }
    }

    void refuse_collisions() const {
        std::set<fs::path> named;
        for (const BatchItem& item : all_) {
            if (!named.insert(item.input).second)
                refuse(fmt::format("{} is named twice", item.input.string()), "Name each input once.");
        }
        std::map<fs::path, const BatchItem*> writers;
        for (const BatchItem& item : all_) {
            for (const fs::path& output : item.outputs) {
                if (output.empty()) continue;
                const auto [found, is_new] = writers.emplace(output, &item);
                if (is_new) continue;
                refuse(found->second == &item
                           ? fmt::format("two steps write {}", output.string())
                           : fmt::format("{} and {} have the same output, {}", found->second->input.string(),
                                         item.input.string(), output.string()),
                       "Use {stem}, {folder}, {name} or {number} in the name of the output, such that no two are the "
                       "same.");
            }
        }
        for (const BatchItem& item : all_) {
            if (const auto found = writers.find(item.input); found != writers.end())
                refuse(fmt::format("{} is an input, but also the output of {}", item.input.string(),
                                   found->second->input.string()),
                       "Write to another folder.");
        }
        for (const std::string& name : options_.inputs) {
            std::error_code unreadable;
            if (!fs::is_directory(name, unreadable)) continue;
            const auto& [output, item] = *writers.begin();
            for (const auto& pattern : patterns_) {
                if (pattern && viewer::is_inside(name, whole_path(pattern->fixed_folder())))
                    refuse(fmt::format("the outputs, such as {}, are inside the folder {}, which is an input",
                                       output.string(), name),
                           "Write to another folder.");
            }
        }
    }

    void open_journal() {
        const fs::path folder =
            options_.journal.empty() ? patterns_.back()->fixed_folder() / ".texton-batch" : options_.journal;
        journal_ = std::make_unique<batch::Journal>(whole_path(folder), identity_);
        for (BatchItem& item : items_) item.reason = reason_of(item);
    }

    BatchReason reason_of(const BatchItem& item) const {
        const batch::Entry* entry = journal_->find(item.input);
        if (entry == nullptr) return BatchReason::missing;
        const auto contents = batch::contents_of(item.input, options_.checksum);
        const batch::Contents& before = entry->contents;
        const bool same =
            contents && (options_.checksum && !before.sha256.empty()
                             ? contents->sha256 == before.sha256
                             : contents->bytes == before.bytes && contents->nanoseconds == before.nanoseconds);
        if (!same) return BatchReason::changed;
        if (!entry->is_done()) return BatchReason::failed;
        std::error_code failed;
        const auto exists = [&](const fs::path& file) { return fs::exists(file, failed); };
        return std::ranges::all_of(entry->outputs, exists) ? BatchReason::done : BatchReason::missing;
    }

    BatchOptions options_;
    verify::Json work_;
    std::string identity_;
    std::vector<std::optional<OutputPattern>> patterns_;  // of each step that writes images
    std::vector<BatchItem> all_;
    std::vector<BatchItem> items_;  // of the shard
    std::unique_ptr<batch::Journal> journal_;
};

Batch::Batch(BatchOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;

const std::vector<BatchItem>& Batch::items() const noexcept { return state_->items(); }

BatchSummary Batch::run(const std::function<void(const BatchEvent&)>& on_event, const std::stop_token& stop) {
    return state_->run(on_event, stop);
}

}  // namespace texton
