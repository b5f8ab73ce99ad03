#include <texton/error.h>

namespace texton {
namespace {

std::string compose(const ErrorParts& parts) {
    std::string text = parts.object + ": " + parts.problem + ".";
    if (!parts.remedy.empty()) text += " " + parts.remedy;
    if (!parts.call.empty()) {
        text += " [" + parts.call;
        if (!parts.cuda_name.empty()) text += ": " + parts.cuda_name;
        text += "]";
    }
    return text;
}

}  // namespace

std::string_view name(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::bad_argument: return "bad_argument";
        case ErrorCode::out_of_bounds: return "out_of_bounds";
        case ErrorCode::overflow: return "overflow";
        case ErrorCode::overlap: return "overlap";
        case ErrorCode::released: return "released";
        case ErrorCode::wrong_device: return "wrong_device";
        case ErrorCode::wrong_location: return "wrong_location";
        case ErrorCode::not_mapped: return "not_mapped";
        case ErrorCode::not_registered: return "not_registered";
        case ErrorCode::out_of_memory: return "out_of_memory";
        case ErrorCode::unsupported: return "unsupported";
        case ErrorCode::not_permitted: return "not_permitted";
        case ErrorCode::capturing: return "capturing";
        case ErrorCode::device_failure: return "device_failure";
        case ErrorCode::device_lost: return "device_lost";
        case ErrorCode::io: return "io";
    }
    return "unknown";
}

Error::Error(ErrorParts parts) : std::runtime_error(compose(parts)), parts_(std::move(parts)) {}

}  // namespace texton
