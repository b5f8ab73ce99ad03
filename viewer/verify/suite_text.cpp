// The text is searched for the characters of one value, and these are replaced. A JSON library would drop the comments
// and the layout. The result is parsed and compared with the values that it must have, so an error of the search cannot
// damage a suite.
#include "viewer/verify/suite_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include <texton/error.h>

#include "viewer/model/json_file.h"
#include "viewer/model/old_names.h"

namespace texton::verify {
namespace {

// Part of a text: from a character to before another one.
struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
};

struct Member {
    std::string key;
    std::size_t begin = 0;  // of the key
    Span value;
};

// Finds values in JSON text that is known to be valid.
class JsonSpans {
public:
    explicit JsonSpans(std::string_view text) : text_(text) {}

    // Returns the position after white space and comments.
    std::size_t skipped(std::size_t at) const {
        for (;;) {
            while (at < text_.size() &&
                   std::string_view(" \t\r\n\xEF\xBB\xBF").find(text_[at]) != std::string_view::npos)
                ++at;
            const std::string_view rest = text_.substr(std::min(at, text_.size()));
            if (rest.starts_with("//")) {
                at += std::min(rest.find_first_of("\r\n"), rest.size());
            } else if (rest.starts_with("/*")) {
                at += std::min(rest.find("*/", 2), rest.size() - 2) + 2;
            } else {
                return at;
            }
        }
    }

    std::size_t end_of_value(std::size_t at) const {
        if (text_[at] == '{') return closed(at, members(at));
        if (text_[at] == '[') return closed(at, elements(at));
        if (text_[at] == '"') return end_of_string(at);
        return std::min(text_.find_first_of(",]} \t\r\n/", at), text_.size());
    }

    // Returns the members of the object that begins at a position.
    std::vector<Member> members(std::size_t at) const {
        std::vector<Member> out;
        for (at = skipped(at + 1); text_[at] != '}';) {
            Member member;
            member.begin = at;
            const std::size_t end = end_of_string(at);
            member.key = Json::parse(text_.substr(at, end - at)).get<std::string>();
            at = skipped(skipped(end) + 1);  // the colon
            member.value = {at, end_of_value(at)};
            at = skipped(member.value.end);
            if (text_[at] == ',') at = skipped(at + 1);
            out.push_back(std::move(member));
        }
        return out;
    }

    // Returns the elements of the list that begins at a position.
    std::vector<Span> elements(std::size_t at) const {
        std::vector<Span> out;
        for (at = skipped(at + 1); text_[at] != ']';) {
            out.push_back({at, end_of_value(at)});
            at = skipped(out.back().end);
            if (text_[at] == ',') at = skipped(at + 1);
        }
        return out;
    }

    // Returns the last member with this key or its old name, which is the one that is read.
    static const Member* find(const std::vector<Member>& members, std::string_view key) {
        const std::string_view old = viewer::old_name(key);
        const Member* found = nullptr;
        for (const Member& each : members)
            if (each.key == key || (!old.empty() && each.key == old)) found = &each;
        return found;
    }

private:
    std::size_t end_of_string(std::size_t at) const {
        for (++at; text_[at] != '"'; ++at)
            if (text_[at] == '\\') ++at;
        return at + 1;
    }
    std::size_t closed(std::size_t begin, const std::vector<Member>& members) const {
        return skipped(members.empty() ? begin + 1 : members.back().value.end) + 1;
    }
    std::size_t closed(std::size_t begin, const std::vector<Span>& elements) const {
        return skipped(elements.empty() ? begin + 1 : elements.back().end) + 1;
    }

    std::string_view text_;
};

std::string replaced(const std::string& text, const Span& span, const std::string& by) {
    return text.substr(0, span.begin) + by + text.substr(span.end);
}

// Adds a member at the end of an object, on a line of its own if the last member begins a line. A comment after the last
// member stays on its line.
std::string with_member(const std::string& text, const std::vector<Member>& members, const std::string& member) {
    const Member& last = members.back();
    const std::size_t line = text.find_last_of('\n', last.begin);
    const std::size_t first = line == std::string::npos ? 0 : line + 1;
    const std::string indent = text.substr(first, last.begin - first);
    if (line == std::string::npos || indent.find_first_not_of(" \t") != std::string::npos)
        return text.substr(0, last.value.end) + ", " + member + text.substr(last.value.end);
    const std::size_t end_of_line = std::min(text.find('\n', last.value.end), text.size());
    const std::string_view rest = std::string_view(text).substr(last.value.end, end_of_line - last.value.end);
    const std::size_t word = rest.find_first_not_of(" \t\r");
    const bool is_comment = word != std::string_view::npos && rest.substr(word).starts_with("//");
    const std::size_t at = is_comment ? end_of_line : last.value.end;
    return text.substr(0, last.value.end) + "," + text.substr(last.value.end, at - last.value.end) + "\n" + indent +
           member + text.substr(at);
}

bool changes_masks(const Json& matrix) {
    const std::string text = matrix.dump();
    return std::ranges::any_of(std::array{"\"mask", "\"images", "\"pictures"},
                               [&](const char* key) { return text.find(key) != std::string::npos; });
}

[[noreturn]] void refuse(std::string problem, const std::string& mask) {
    throw Error({.code = ErrorCode::unsupported,
                 .object = "texton::verify",
                 .problem = std::move(problem),
                 .remedy = "Insert \"mask\": " + mask + " into the suite."});
}

Json json_of(const std::vector<Region>& rectangles) {
    Json out = Json::array();
    for (const Region& each : rectangles)
        out.push_back({each.offset.x, each.offset.y, each.extent.width, each.extent.height});
    return out;
}

}  // namespace

std::string mask_text(const std::vector<Region>& rectangles) {
    std::string out;
    for (const Region& each : rectangles)
        out += fmt::format("{}[{}, {}, {}, {}]", out.empty() ? "" : ", ", each.offset.x, each.offset.y,
                           each.extent.width, each.extent.height);
    return "[" + out + "]";
}

std::string with_mask(const std::string& text, std::size_t entry, std::optional<std::size_t> pattern,
                      const std::vector<Region>& rectangles) {
    const std::string mask = mask_text(rectangles);
    std::string problem;
    const std::optional<Json> before = parse_json(text, problem);
    if (!before) refuse("the suite " + problem, mask);
    Json expected = *before;
    Json& of_case = expected["cases"][entry];
    const std::string name = of_case["name"].get<std::string>();
    if (of_case.contains("matrix") && changes_masks(of_case["matrix"]))
        refuse(fmt::format("the matrix of case '{}' changes masks or images", name), mask);

    const JsonSpans spans(text);
    const std::vector<Member> suite = spans.members(spans.skipped(0));
    const Span object = spans.elements(JsonSpans::find(suite, "cases")->value.begin)[entry];
    std::vector<Member> members = spans.members(object.begin);
    Json* target = &of_case;
    std::optional<Span> path;  // of a pattern that is only a path
    if (const Member* images = pattern ? JsonSpans::find(members, "images") : nullptr) {
        Json& patterns = of_case[images->key];
        const bool is_list = patterns.is_array();
        Json& chosen = is_list ? patterns[*pattern] : patterns;
        const Span span = is_list ? spans.elements(images->value.begin)[*pattern] : images->value;
        const bool is_single = !is_list || patterns.size() == 1;
        if (chosen.is_object() && (!is_single || chosen.contains("mask"))) {
            target = &chosen;
            members = spans.members(span.begin);
        } else if (!is_single) {
            chosen = Json{{"file", chosen}};
            target = &chosen;
            path = span;
        }
    }
    (*target)["mask"] = json_of(rectangles);
    const Member* old = JsonSpans::find(members, "mask");
    const std::string member = "\"mask\": " + mask;
    std::string out;
    if (path) {
        const std::string file = text.substr(path->begin, path->end - path->begin);
        out = replaced(text, *path, "{\"file\": " + file + ", " + member + "}");
    } else {
        out = old != nullptr ? replaced(text, old->value, mask) : with_member(text, members, member);
    }
    if (parse_json(out, problem) != expected)
        refuse(fmt::format("the mask of case '{}' cannot be inserted without changing other parts of the suite", name),
               mask);
    return out;
}

}  // namespace texton::verify
