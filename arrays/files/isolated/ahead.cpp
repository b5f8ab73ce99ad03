#include "arrays/files/isolated/ahead.h"

#include <algorithm>
#include <utility>

namespace texton::detail {
namespace {

constexpr std::size_t kMaxAhead = 8;                         // files; the process keeps them open
constexpr std::uint64_t kMaxKept = std::uint64_t{32} << 20;  // bytes of texels of files that are all opened first

// The process resolves all paths in the same folder.
std::vector<std::filesystem::path> in_one_folder(std::vector<std::filesystem::path> paths) {
    const auto absolute = std::ranges::count_if(paths, &std::filesystem::path::is_absolute);
    if (absolute != 0 && std::cmp_not_equal(absolute, paths.size())) paths.clear();
    return paths;
}

}  // namespace

AheadOpener::AheadOpener(std::vector<std::filesystem::path> paths, const SourceKey& source, const ReadOptions& options,
                         bool are_read)
    : paths_(in_one_folder(std::move(paths))),
      source_(source),
      options_(options),
      opens_all_(are_read),
      are_read_(std::make_shared<std::atomic<bool>>(are_read)) {}

AheadOpener::~AheadOpener() {
    if (process_ && sent_.empty()) keep_reader(std::move(*process_));
}

// Gives up the requests that were sent. They are sent again, to another process.
void AheadOpener::abandon() noexcept {
    process_.reset();
    sent_.clear();
}

void AheadOpener::send(const char* object) {
    // The first files show whether the caller reads texels.
    const std::size_t ahead = opens_all_ ? kMaxAhead : std::min(kMaxAhead, received_ + 1);
    const bool with_texels = *are_read_ && !(opens_all_ && received_bytes_ > kMaxKept);
    while (sent_.size() < ahead && received_ + sent_.size() < paths_.size()) {
        const std::filesystem::path& path = paths_[received_ + sent_.size()];
        if (!process_) process_ = kept_reader(path, nullptr);
        if (!process_) process_.emplace(connect_reader(object, path));
        sent_.push_back(std::make_shared<ReaderSession>(path, options_, are_read_));
        const std::uint64_t texels = with_texels ? kExpectedTexels : 0;
        if (!sent_.back()->send_ahead(object, source_, texels, *process_)) return abandon();
    }
}

std::optional<OpenedAhead> AheadOpener::next(const char* object, const std::filesystem::path& path,
                                             const SourceKey& source) {
    if (received_ == paths_.size() || paths_[received_] != path || source != source_) return std::nullopt;
    try {
        send(object);
        ++received_;
        if (sent_.empty()) return std::nullopt;
        OpenedAhead opened{sent_.front(), std::nullopt};
        sent_.pop_front();
        opened.description = opened.session->receive_ahead(object, process_);
        if (!opened.description) abandon();
        if (opened.description) received_bytes_ += opened.description->texels.size();
        return opened;
    } catch (...) {
        abandon();
        throw;
    }
}

}  // namespace texton::detail
