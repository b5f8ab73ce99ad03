#include "viewer/verify/review_notes.h"

#include <fmt/format.h>

#include <texton/error.h>

#include "core/new_file.h"
#include "viewer/model/json_file.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& problem) {
    throw Error({.code = ErrorCode::io,
                 .object = "texton::verify",
                 .problem = fmt::format("{} {}", path.string(), problem),
                 .remedy = "Correct or remove the file; it contains the notes of a review."});
}

}  // namespace

fs::path notes_path(const fs::path& suite) { return fs::path(suite).replace_extension(".review.json"); }

RejectedCases read_notes(const fs::path& path) {
    std::error_code failed;
    if (!fs::exists(path, failed) && !failed) return {};
    std::string problem;
    const std::optional<std::string> text = read_json_text(path, problem);
    if (!text) refuse(path, problem);
    const std::optional<Json> value = parse_json(*text, problem);
    if (!value) refuse(path, problem);
    const std::string where = path.filename().string();
    JsonObject object(*value, where);
    const Json& rejected = object.at("rejected");
    if (!rejected.is_array()) object.refuse("rejected", "is " + json_text(rejected), "Give a list of objects.");
    object.refuse_others();
    RejectedCases out;
    for (std::size_t i = 0; i < rejected.size(); ++i) {
        JsonObject each(rejected[i], fmt::format("{}, 'rejected', {}", where, i + 1));
        const std::optional<std::string> name = each.text("case");
        if (!name) each.refuse("case", "is missing", "Give the name of a case.");
        out[*name] = {each.text("note").value_or(""), each.text("message").value_or("")};
        each.refuse_others();
    }
    return out;
}

void write_notes(const fs::path& path, const RejectedCases& rejected) {
    if (rejected.empty()) {
        std::error_code failed;
        fs::remove(path, failed);
        if (failed) refuse(path, "cannot be removed: " + failed.message());
        return;
    }
    Json list = Json::array();
    for (const auto& [name, each] : rejected)
        list.push_back({{"case", name}, {"note", each.note}, {"message", each.message}});
    const Json notes{{"rejected", std::move(list)}};
    detail::write_file("texton::verify::write_notes", path,
                       notes.dump(4, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace texton::verify
