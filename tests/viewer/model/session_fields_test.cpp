// Checks that files and comparisons cover every field of a session. The fields are found by visiting them, so new
// fields are tested too.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "viewer/model/session.h"
#include "viewer/model/session_fields.h"

namespace texton::viewer {
namespace {

// Visits the leaves of a session: fields without subfields, elements of arrays, and empty lists and optionals. Changes
// one leaf, all of them, or none.
class Change {
public:
    static constexpr int kAll = -1;
    static constexpr int kNone = -2;

    explicit Change(int selected) : selected_(selected) {}

    int leaves() const { return leaves_; }               ///< number of leaves visited
    const std::string& changed() const { return key_; }  ///< key of the last leaf that was changed

    template <class Value, class... Rule>
    void operator()(const char* key, Value& value, const Rule&... rule) {
        if constexpr (Part<Value>) {
            visit_fields(value, *this);
        } else if (is_selected(key)) {
            const Value before = value;
            change(value, rule...);
            EXPECT_NE(value, before) << key;
        }
    }
    template <class Value, class... Rule>
    void operator()(const char* key, std::optional<Value>& value, const Rule&... rule) {
        if (value) {
            (*this)(key, *value, rule...);
        } else if (selected_ == kAll) {
            (*this)(key, value.emplace(), rule...);
        } else if (is_selected(key)) {
            value.emplace();
        }
    }
    template <class Value, std::size_t count, class... Rule>
    void operator()(const char* key, Value (&values)[count], const Rule&... rule) {
        for (Value& value : values) (*this)(key, value, rule...);
    }
    template <class Value, std::size_t count, class... Rule>
    void operator()(const char* key, std::array<Value, count>& values, const Rule&... rule) {
        for (Value& value : values) (*this)(key, value, rule...);
    }
    template <Part Value>
    void operator()(const char* key, std::vector<Value>& values, ListOf) {
        if (values.empty() && is_selected(key)) {
            // Three elements, so that indices into the list can be changed twice.
            Change all(kAll);
            values.resize(3);
            for (Value& value : values) visit_fields(value, all);
        } else {
            for (Value& value : values) visit_fields(value, *this);
        }
    }
    template <class Fields>
    void object(const char*, const Fields& fields) {
        fields(*this);
    }

private:
    bool is_selected(const char* key) {
        const bool selected = selected_ == kAll || selected_ == leaves_;
        if (selected) key_ = key;
        ++leaves_;
        return selected;
    }

    static void change(bool& value) { value = !value; }
    static void change(std::string& value) { value += "x"; }
    static void change(std::string& value, TextUpTo) { change(value); }
    static void change(std::filesystem::path& value) { value = "/folder" + value.string(); }
    static void change(Position& value) { value.x += 1; }
    static void change(std::map<std::string, ParameterValue>& value) { value[std::to_string(value.size())] = 1.5; }
    template <class Value>
    static void change(Value& value) {
        if constexpr (std::is_enum_v<Value>) {
            value = static_cast<Value>(static_cast<int>(value) + 1);
        } else {
            value = static_cast<Value>(value + 1);
        }
    }
    template <class Value>
    static void change(std::vector<Value>& values, ListOf) {
        if (values.empty()) values.resize(2);
        for (Value& value : values) change(value);
    }
    template <class Value>
    static void change(Value& value, Within<Value>) {
        change(value);
    }
    template <class Value, std::size_t count>
    static void change(Value& value, const Names<Value, count>& names) {
        std::size_t index = 0;
        while (names[index].value != value) ++index;
        value = names[(index + 1) % count].value;
    }
    template <std::size_t count>
    static void change(int& value, const std::array<int, count>& choices) {
        std::size_t index = 0;
        while (choices[index] != value) ++index;
        value = choices[(index + 1) % count];
    }

    int selected_;
    int leaves_ = 0;
    std::string key_;
};

int leaves(Session session) {
    Change none(Change::kNone);
    visit_fields(session, none);
    return none.leaves();
}

Session with_every_field_changed() {
    Session session;
    Change all(Change::kAll);
    visit_fields(session, all);
    return session;
}

Session with_plain_images() {
    Session session;
    session.images = std::vector<Source>(3, {.paths = {"/a.png"}, .options = {}});
    return session;
}

TEST(SessionFieldsTest, EveryFieldIsWrittenAndReadBack) {
    const Session session = with_every_field_changed();
    EXPECT_EQ(session_of(to_json(session), "test"), session);
}

TEST(SessionFieldsTest, ChangeOfOneFieldIsWrittenReadAndComparedUnequal) {
    for (const Session& session : {with_plain_images(), with_every_field_changed()}) {
        ASSERT_EQ(session_of(to_json(session), "test"), session);
        for (int leaf = 0; leaf < leaves(session); ++leaf) {
            Session other = session;
            Change one(leaf);
            visit_fields(other, one);
            EXPECT_NE(other, session) << one.changed();
            EXPECT_EQ(session_of(to_json(other), "test"), other) << one.changed();
        }
    }
}

}  // namespace
}  // namespace texton::viewer
