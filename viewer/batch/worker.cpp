#include "viewer/batch/worker.h"

#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <texton/device.h>
#include <texton/error.h>

#include "core/gpu_driver.h"
#include "core/unfinished_file.h"
#include "viewer/batch/applied_pipeline.h"
#include "viewer/batch/jpeg_names.h"
#include "viewer/batch/packets.h"
#include "viewer/batch/path_json.h"
#include "viewer/model/document.h"
#include "viewer/model/file_reading.h"
#include "viewer/text/error_text.h"

namespace texton::batch {
namespace {

namespace fs = std::filesystem;
using verify::Json;

// Another attempt can help if memory or the disk was full, or if the device failed. A damaged file stays damaged.
bool can_succeed_later(const Error& error, Phase phase) {
    switch (error.code()) {
        case ErrorCode::out_of_memory:
        case ErrorCode::device_lost:
        case ErrorCode::device_failure: return true;
        case ErrorCode::io:
            return phase == Phase::writing && std::ranges::any_of(error.numbers(), [](const ErrorNumber& number) {
                       return number.first == "errno";
                   });
        default: return false;
    }
}

Json failure(const std::exception& error, Phase phase) {
    Json answer{{"failed", viewer::error_text(error)}};
    if (const auto* own = dynamic_cast<const Error*>(&error)) {
        answer["retry"] = can_succeed_later(*own, phase);
        answer["lost"] = own->code() == ErrorCode::device_lost;
    } else if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
        answer["retry"] = true;
    }
    return answer;
}

// Makes malloc keep the memory of an image for the next one. By default it returns large blocks to the system, which
// then clears the pages of each image again: a fifth of the processor time of a batch that resamples photographs.
void reuse_memory() {
    ::mallopt(M_ARENA_MAX, 1);
    ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
    ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

std::string text_of(const Json& answer) { return answer.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Computes images in several threads. A CUDA device is prepared while the first images are decoded.
class Worker {
public:
    // Throws the errors of the pipeline.
    Worker(int socket, const Json& request)
        : socket_(socket),
          pipeline_(verify::parse_pipeline(request.at("pipeline"), path_in(request.at("folder")).value(),
                                           request.at("allow_outside"))),
          jpeg_(value_of(kJpegDecodings, request.at("jpeg").get<std::string>()).value()),
          threads_(tbb::global_control::max_allowed_parallelism, request.at("threads").get<std::size_t>()),
          decodes_ahead_(may_be_cuda(request.at("device"))),
          is_alone_(request.at("images").get<std::size_t>() > 1 || request.at("threads").get<std::size_t>() == 1),
          turns_(request.at("turns").get<std::ptrdiff_t>()) {
        detail::mark_temporary_files(request.at("mark"));
        viewer::set_file_reading({});  // this process is the one that a damaged file may end
        applied_ = std::async(std::launch::async, [this, device = request.at("device").get<std::string>()] {
                       return std::make_shared<const AppliedPipeline>(viewer::device_named(device), pipeline_, jpeg_);
                   }).share();
    }

    // Answers requests until the other end of the socket is closed. Each of several threads that call this computes one
    // image at a time: the system gives each packet to one of them.
    void serve() {
        std::optional<AppliedPipeline::Lane> lane;
        // In this arena, loops are not divided at all. The maximum of TBB limits threads, but not the parts of a loop.
        tbb::task_arena one_thread(1);
        for (std::string packet; receive(socket_, packet);) {
            const Json request = Json::parse(packet, nullptr, false);
            if (!request.is_object() || !request.contains("id")) return;
            Json answer;
            const auto compute = [&] { answer = answer_to(request, lane); };
            if (is_alone_) {
                one_thread.execute(compute);
            } else {
                compute();
            }
            answer["id"] = request["id"];
            if (!send(socket_, text_of(answer))) return;
        }
    }

private:
    Json answer_to(const Json& request, std::optional<AppliedPipeline::Lane>& lane) {
        Phase phase = Phase::reading;
        try {
            std::vector<fs::path> outputs;
            for (const Json& output : request.at("outputs")) outputs.push_back(path_in(output).value());
            const InputImage image = open(path_in(request.at("input")).value());
            const AppliedPipeline* applied = nullptr;
            try {
                applied = applied_.get().get();
                if (!lane) lane = applied->lane();
            } catch (const std::exception& error) {
                return {{"no_device", viewer::error_text(error)}};
            }
            Json done = Json::array();
            for (const fs::path& file : applied->apply(image, outputs, *lane, turns_, phase))
                done.push_back(json_of(file));
            return {{"done", std::move(done)}};
        } catch (const std::exception& error) {
            return failure(error, phase);
        }
    }

    InputImage open(const fs::path& file) {
        const CodingTurn turn(turns_);
        InputImage image(file, pipeline_, jpeg_);
        const bool has_device = applied_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        if (decodes_ahead_ && !has_device && jpeg_ != JpegDecoding::gpu) image.decode();
        return image;
    }

    const int socket_;
    const verify::Pipeline pipeline_;
    const JpegDecoding jpeg_;
    const tbb::global_control threads_;
    const bool decodes_ahead_;  // before the device is ready, which needs memory for a copy of the image
    const bool is_alone_;       // a thread decodes and encodes without the help of others
    CodingTurns turns_;
    std::shared_future<std::shared_ptr<const AppliedPipeline>> applied_;
};

}  // namespace

bool may_be_cuda(const std::string& device) {
    return device.starts_with("cuda") || (device.empty() && detail::may_have_cuda_device());
}

void end_with(int socket) {
    std::thread([socket] {
        pollfd end{socket, POLLRDHUP, 0};
        while (::poll(&end, 1, -1) < 0) {
        }
        detail::remove_unfinished_files();
        ::_exit(0);
    }).detach();
}

int run_worker(int socket) {
    end_with(socket);
    reuse_memory();
    Worker* worker = nullptr;  // never destroyed: its threads run until the process ends
    std::size_t images = 1;    // at the same time
    for (std::string packet; worker == nullptr && receive(socket, packet);) {
        try {
            const Json request = Json::parse(packet);
            images = request.at("images");
            worker = new Worker(socket, request);
            packet = text_of({{"ready", true}});
        } catch (const std::exception& error) {
            packet = text_of(failure(error, Phase::reading));
        }
        if (!send(socket, packet)) break;
    }
    if (worker != nullptr) {
        for (std::size_t i = 1; i < images; ++i) std::thread([worker] { worker->serve(); }).detach();
        worker->serve();
    }
    detail::remove_unfinished_files();
    ::_exit(0);
}

}  // namespace texton::batch
