#include "arrays/files/isolated/ahead.h"

#include <algorithm>
#include <utility>

namespace texton::detail {
namespace {

constexpr std::size_t kMaxAhead = 8;  // files; the process keeps them open

// The process resolves all paths in the same folder.
std::vector<std::filesystem::path> in_one_folder(std::vector<std::filesystem::path> paths) {
    const auto absolute = std::ranges::count_if(paths, &std::filesystem::path::is_absolute);
    if (absolute != 0 && std::cmp_not_equal(absolute, paths.size())) paths.clear();
    return paths;
}

}  // namespace

AheadOpener::AheadOpener(std::vector<std::filesystem::path> paths, const SourceKey& source, const ReadOptions& options)
    : paths_(in_one_folder(std::move(paths))), source_(source), options_(options) {}

AheadOpener::~AheadOpener() {
    if (process_ && sent_.empty()) keep_reader(std::move(*process_));
}

// Gives up the requests that were sent. They are sent again, to another process.
void AheadOpener::abandon() noexcept {
    process_.reset();
    sent_.clear();
}

void AheadOpener::send(const char* object) {
    while (sent_.size() < kMaxAhead && received_ + sent_.size() < paths_.size()) {
        const std::filesystem::path& path = paths_[received_ + sent_.size()];
        if (!process_) process_ = kept_reader(path, nullptr);
        if (!process_) process_.emplace(connect_reader(object, path));
        sent_.push_back(std::make_shared<ReaderSession>(path, options_));
        if (!sent_.back()->send_ahead(object, source_, *process_)) return abandon();
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
        return opened;
    } catch (...) {
        abandon();
        throw;
    }
}

}  // namespace texton::detail
