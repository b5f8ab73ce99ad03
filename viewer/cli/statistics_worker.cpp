#include "viewer/cli/statistics_worker.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <CLI/CLI.hpp>

#include <texton/error.h>
#include <texton/image_file.h>

#include "arrays/files/input_file.h"
#include "viewer/batch/packets.h"
#include "viewer/batch/path_json.h"
#include "viewer/cli/image_options.h"
#include "viewer/cli/progress.h"
#include "viewer/cli/strip_worker.h"
#include "viewer/model/document.h"
#include "viewer/model/file_reading.h"
#include "viewer/model/image_statistics.h"
#include "viewer/model/reading_options.h"

namespace texton::cli {
namespace {

using verify::Json;

constexpr std::size_t kCountsOfPacket = 4096;  // have at most 14 digits each

ImageOptions image_options_of(const Json& command) {
    CLI::App app("", "texton stats");
    ImageOptionText image;
    image.add_to(app);
    add_progress_options(app);
    viewer::add_reading_options(app);
    app.allow_extras();
    app.set_help_flag();
    std::vector<std::string> words;
    for (const Json& word : command) words.push_back(batch::path_in(word).value().string());
    std::ranges::reverse(words);
    app.parse(words);
    return image.options();
}

std::string digits_of(const TotalStatistics& statistics) {
    static_assert(std::is_trivially_copyable_v<TotalStatistics>);
    const auto bytes = std::as_bytes(std::span(&statistics, 1));
    std::string digits;
    digits.reserve(2 * bytes.size());
    for (const std::byte byte : bytes) fmt::format_to(std::back_inserter(digits), "{:02x}", std::to_integer<int>(byte));
    return digits;
}

class StatisticsWorker {
public:
    StatisticsWorker(int socket, const Json& request)
        : socket_(socket),
          threads_(tbb::global_control::max_allowed_parallelism, request.at("threads").get<std::size_t>()),
          options_(image_options_of(request.at("command"))),
          device_(viewer::device_named(request.at("device").get<std::string>())),
          stream_(device_) {}

    void serve() {
        send({{"ready", true}});
        for (std::string packet; batch::receive(socket_, packet);) {
            const Json request = Json::parse(packet);
            const Json& task = request.at("task");
            try {
                count(request, task);
                send({{"task", task}, {"done", true}});
            } catch (const Error& error) {
                Json answer = failure_json(error);
                answer["task"] = task;
                send(answer);
            }
        }
    }

private:
    void send(const Json& answer) { (void)batch::send(socket_, packet_text(answer)); }

    void count(const Json& request, const Json& task) {
        open(request);
        const verify::StatisticsParts parts(*image_, request.at("memory"), request.at("rows"));
        const TextureParts visited = [&](const std::function<void(const Texture&)>& visit) {
            parts.visit(device_, request.at("parts").at(0), request.at("parts").at(1), visit);
        };
        if (request.contains("range")) {
            const auto bound = [&](std::size_t i) {
                return std::bit_cast<float>(request.at("range").at(i).get<std::uint32_t>());
            };
            TotalStatistics total;
            verify::add_statistics(stream_, visited, {bound(0), bound(1)}, total);
            return send({{"task", task}, {"statistics", digits_of(total)}});
        }
        detail::KeyHalf half{.lower = request.at("lower"), .upper = {}};
        for (std::size_t c = 0; c < 4; ++c) half.upper[c] = request.at("upper").at(c);
        const auto totals = std::make_unique<detail::KeyTotals>();
        totals->add(stream_, visited, half);
        for (int c = 0; c < 4; ++c) {
            for (std::size_t first = 0; first < detail::KeyTotals::kHalves; first += kCountsOfPacket) {
                const std::span<const std::uint64_t> counts(totals->of[c] + first, kCountsOfPacket);
                if (std::ranges::any_of(counts, [](std::uint64_t value) { return value != 0; }))
                    send({{"task", task}, {"channel", c}, {"first", first}, {"counts", counts}});
            }
        }
    }

    // Opens the image or the plane of the request, which stays open for further requests.
    void open(const Json& request) {
        const std::string path = batch::path_in(request.at("file")).value().string();
        if (request.at("identity") != identity_json(path))
            throw Error({.code = ErrorCode::io,
                         .object = "texton stats",
                         .problem = fmt::format("{} was changed while it was read", path),
                         .remedy = "Run the command again."});
        const std::size_t plane = request.at("plane");
        if (image_ && path == path_ && plane == plane_) return;
        image_.reset();
        const ImageFile file = open_image(path, options_, viewer::file_reading());
        image_ = plane_count(file.info().format) == 1 ? file : file.plane(static_cast<int>(plane));
        path_ = path;
        plane_ = plane;
    }

    const int socket_;
    const tbb::global_control threads_;
    const ImageOptions options_;
    const Device device_;
    const Stream stream_;
    std::optional<ImageFile> image_;
    std::string path_;
    std::size_t plane_ = 0;
};

}  // namespace

void serve_statistics(int socket, const Json& request) { StatisticsWorker(socket, request).serve(); }

Json identity_json(const std::string& path) {
    const detail::FileIdentity file = detail::identity_of(path);
    return {file.bytes, file.seconds, file.nanoseconds};
}

TotalStatistics statistics_in(const std::string& digits) {
    TotalStatistics statistics;
    const auto bytes = std::as_writable_bytes(std::span(&statistics, 1));
    bool is_valid = digits.size() == 2 * bytes.size();
    for (std::size_t i = 0; is_valid && i < bytes.size(); ++i) {
        unsigned byte = 0;
        const char* begin = digits.data() + 2 * i;
        is_valid = std::from_chars(begin, begin + 2, byte, 16).ptr == begin + 2;
        bytes[i] = static_cast<std::byte>(byte);
    }
    if (!is_valid)
        throw Error({.code = ErrorCode::io,
                     .object = "texton stats",
                     .problem = "a worker sent statistics of another version of Texton",
                     .remedy = "Install the same version on all hosts."});
    return statistics;
}

}  // namespace texton::cli
