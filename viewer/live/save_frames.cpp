#include "viewer/live/save_frames.h"

#include <condition_variable>
#include <iostream>
#include <map>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/image_save.h>

#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr std::string_view kName = "{name}", kFrame = "{frame}";

// Returns the pattern with each `{key}` replaced by the result of `value`.
template <class Value>
std::string replaced(const std::string& pattern, const Value& value) {
    std::string text;
    for (std::size_t at = 0; at < pattern.size();) {
        const std::size_t begin = std::min(pattern.find('{', at), pattern.size());
        text.append(pattern, at, begin - at);
        if (begin == pattern.size()) break;
        const std::size_t end = std::min(pattern.find('}', begin), pattern.size() - 1);
        text += value(std::string_view(pattern).substr(begin, end + 1 - begin));
        at = end + 1;
    }
    return text;
}

bool is_kept(unsigned char c, bool is_first) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || c == '-' || c == '_' || c == ' ' || c >= 0x80 || (c == '.' && !is_first);
}

std::string file_name_of(const std::string& name) {
    std::string text;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_kept(byte, text.empty())) {
            text += c;
        } else {
            text += fmt::format("%{:02X}", byte);
        }
    }
    return text;
}

}  // namespace

SavePattern::SavePattern(const std::string& pattern) : pattern_(pattern) {
    const auto refuse = [&](const std::string& problem) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton-view",
                     .problem = problem,
                     .remedy = "Use a path such as out/{name}.{frame}.exr."});
    };
    if (pattern.empty()) refuse("the path of --save is empty");
    const std::string sample = replaced(pattern, [&](std::string_view key) {
        if (key != kName && key != kFrame) refuse(fmt::format("--save {} contains '{}'", pattern, key));
        return std::string("x");
    });
    const std::filesystem::path file = std::filesystem::path(sample).filename();
    if (file.empty() || file.extension().empty() || !pattern.ends_with(file.extension().string()))
        refuse(fmt::format("--save {} has no extension, which selects the kind of file", pattern));
}

std::filesystem::path SavePattern::path_of(const std::string& name, std::uint64_t frame) const {
    return replaced(pattern_,
                    [&](std::string_view key) { return key == kName ? file_name_of(name) : std::to_string(frame); });
}

SavedFrames save_frames(const LiveServer::Options& options, const SavePattern& pattern,
                        std::optional<std::size_t> frames, std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool has_changed = true;
    LiveServer server(options, [&] {
        const std::lock_guard lock(mutex);
        has_changed = true;
        changed.notify_one();
    });
    if (!server.problems().empty()) {
        throw Error({.code = ErrorCode::io,
                     .object = "texton-view",
                     .problem = fmt::format("programs cannot connect ({})", server.problems().front()),
                     .remedy = "Choose another address, or close the program that uses this one."});
    }
    if (server.port() != 0) std::cout << "listening on port " << server.port() << std::endl;
    std::map<std::string, std::uint64_t> seen;  // versions
    std::map<std::string, std::uint64_t> last;  // numbers of saved frames
    std::set<std::string> failed;               // names of images with a message
    SavedFrames result;
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock(mutex);
            if (!changed.wait(lock, stop, [&] { return has_changed; })) break;
            has_changed = false;
        }
        for (const LiveImage& image : server.images()) {
            if (stop.stop_requested() || (frames && result.saved >= *frames)) break;
            const auto known = seen.find(image.name);
            if (known != seen.end() && known->second == image.version) continue;
            seen[image.name] = image.version;
            const std::shared_ptr<const LiveFrame> frame = server.frame(image.name);
            if (!frame || last[image.name] == frame->number) continue;
            last[image.name] = frame->number;
            const std::filesystem::path path = pattern.path_of(image.name, frame->number);
            try {
                if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
                save(path, host_view(static_cast<const void*>(frame->texels.data()), frame->format, frame->extent),
                     {.waits_for_disk = false});
                ++result.saved;
                std::cout << path.string() << std::endl;
            } catch (const std::exception& error) {
                ++result.failed;
                // Usually each frame of an image fails, so one message is enough.
                if (failed.insert(image.name).second) std::cerr << "texton-view: " << error_text(error) << std::endl;
            }
        }
        for (const std::string& message : server.take_messages()) std::cerr << "texton-view: " << message << std::endl;
        for (const LiveRequest& each : server.take_requests())
            if (each.kind == LiveRequest::Kind::close) server.close(each.name);
        if (frames && result.saved >= *frames) break;
    }
    return result;
}

}  // namespace texton::viewer
