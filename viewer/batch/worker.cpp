#include "viewer/batch/worker.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <tbb/global_control.h>

#include <texton/device.h>
#include <texton/error.h>

#include "core/unfinished_file.h"
#include "viewer/batch/applied_pipeline.h"
#include "viewer/batch/packets.h"
#include "viewer/batch/path_json.h"
#include "viewer/model/document.h"
#include "viewer/model/file_reading.h"
#include "viewer/text/error_text.h"

namespace texton::batch {
namespace {

namespace fs = std::filesystem;
using verify::Json;
using Phase = AppliedPipeline::Phase;

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

// Ends the process when the other end of the socket is closed, also while an image is computed.
void end_with(int socket) {
    std::thread([socket] {
        pollfd end{socket, POLLRDHUP, 0};
        while (::poll(&end, 1, -1) < 0) {
        }
        detail::remove_unfinished_files();
        ::_exit(0);
    }).detach();
}

// What a worker needs for its images.
struct Work {
    std::optional<tbb::global_control> threads;
    std::unique_ptr<AppliedPipeline> pipeline;
};

void prepare(const Json& request, Work& work) {
    detail::mark_temporary_files(request.at("mark"));
    viewer::set_file_reading({});  // this process is the one that a damaged file may end
    work.threads.emplace(tbb::global_control::max_allowed_parallelism, request.at("threads").get<std::size_t>());
    verify::Pipeline pipeline = verify::parse_pipeline(request.at("pipeline"), path_in(request.at("folder")).value(),
                                                       request.at("allow_outside"));
    work.pipeline = std::make_unique<AppliedPipeline>(viewer::device_named(request.at("device")), std::move(pipeline));
}

Json apply(const Json& request, AppliedPipeline& pipeline) {
    std::vector<fs::path> outputs;
    for (const Json& output : request.at("outputs")) outputs.push_back(path_in(output).value());
    Json done = Json::array();
    for (const fs::path& file : pipeline.apply(path_in(request.at("input")).value(), outputs))
        done.push_back(json_of(file));
    return {{"done", std::move(done)}};
}

}  // namespace

int run_worker(int socket) {
    Work work;
    end_with(socket);
    for (std::string packet; receive(socket, packet);) {
        Json answer;
        Phase phase = Phase::reading;
        try {
            const Json request = Json::parse(packet);
            if (work.pipeline == nullptr) {
                prepare(request, work);
                answer = {{"ready", true}};
            } else {
                try {
                    answer = apply(request, *work.pipeline);
                } catch (...) {
                    phase = work.pipeline->phase();
                    throw;
                }
            }
        } catch (const std::exception& error) {
            answer = failure(error, phase);
        }
        if (!send(socket, answer.dump(-1, ' ', false, Json::error_handler_t::replace))) return 1;
    }
    return 0;
}

}  // namespace texton::batch
