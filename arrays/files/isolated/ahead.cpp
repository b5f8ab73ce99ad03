#include "arrays/files/isolated/ahead.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace texton::detail {
namespace {

constexpr std::size_t kMaxAhead = 8;                         // files of a process, which keeps them open
constexpr std::size_t kMaxLanes = 4;                         // processes
constexpr std::size_t kFilesOfLane = 32;                     // for fewer, starting another process takes too long
constexpr std::uint64_t kMaxKept = std::uint64_t{32} << 20;  // bytes of texels of files that are all opened first

// A process resolves all paths in the same folder.
std::vector<std::filesystem::path> in_one_folder(std::vector<std::filesystem::path> paths) {
    const auto absolute = std::ranges::count_if(paths, &std::filesystem::path::is_absolute);
    if (absolute != 0 && std::cmp_not_equal(absolute, paths.size())) paths.clear();
    return paths;
}

std::size_t lanes_for(std::size_t files) {
    const std::size_t processors = std::max(1u, std::thread::hardware_concurrency());
    return std::clamp(files / kFilesOfLane, std::size_t{1}, std::min(processors, kMaxLanes));
}

}  // namespace

AheadOpener::AheadOpener(std::vector<std::filesystem::path> paths, const SourceKey& source, const ReadOptions& options,
                         bool are_read)
    : paths_(in_one_folder(std::move(paths))),
      source_(source),
      options_(options),
      opens_all_(are_read),
      are_read_(std::make_shared<std::atomic<bool>>(are_read)),
      lanes_(lanes_for(paths_.size())) {}

AheadOpener::~AheadOpener() {
    for (Lane& lane : lanes_) {
        if (lane.process && lane.sent.empty()) keep_reader(std::move(*lane.process));
    }
}

// Returns the next file that a process is asked to open.
std::size_t AheadOpener::next_of(std::size_t lane) const noexcept {
    const std::size_t received = (received_ + lanes_.size() - 1 - lane) / lanes_.size();
    return lane + (received + lanes_[lane].sent.size()) * lanes_.size();
}

void AheadOpener::send(const char* object) {
    // The first files show whether the caller reads texels.
    const std::size_t ahead = opens_all_ ? kMaxAhead : std::min(kMaxAhead, received_ + 1);
    const std::size_t end = std::min(received_ + ahead * lanes_.size(), paths_.size());
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        try {
            std::size_t file = next_of(i);
            while (file < end && ask(object, lanes_[i], file)) file = next_of(i);
            if (file < end) lanes_[i] = {};  // the requests are sent again, to another process
        } catch (...) {
            lanes_[i] = {};                             // its last session may have sent no request
            if (i == received_ % lanes_.size()) throw;  // the others are not needed yet
        }
    }
}

// Sends the request to open a file. Returns false if the process cannot receive it.
bool AheadOpener::ask(const char* object, Lane& lane, std::size_t file) {
    const std::filesystem::path& path = paths_[file];
    if (!lane.process) lane.process = kept_reader(path, nullptr);
    if (!lane.process) lane.process.emplace(connect_reader(object, path));
    lane.sent.push_back(std::make_shared<ReaderSession>(path, options_, are_read_));
    const bool with_texels = *are_read_ && !(opens_all_ && received_bytes_ > kMaxKept);
    return lane.sent.back()->send_ahead(object, source_, with_texels ? kExpectedTexels : 0, *lane.process);
}

std::optional<OpenedAhead> AheadOpener::next(const char* object, const std::filesystem::path& path,
                                             const SourceKey& source) {
    if (received_ == paths_.size() || paths_[received_] != path || source != source_) return std::nullopt;
    Lane& lane = lanes_[received_ % lanes_.size()];
    try {
        send(object);
        ++received_;
        if (lane.sent.empty()) return std::nullopt;
        OpenedAhead opened{lane.sent.front(), std::nullopt};
        lane.sent.pop_front();
        opened.description = opened.session->receive_ahead(object, lane.process);
        if (!opened.description) lane = {};
        if (opened.description) received_bytes_ += opened.description->texels.size();
        return opened;
    } catch (...) {
        lane = {};
        throw;
    }
}

}  // namespace texton::detail
