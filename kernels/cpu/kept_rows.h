#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/line_vector.h"

namespace texton::detail {

/// Cache of rows of a tile that several rows of pixels need, found by a key. The least recently used row is replaced.
template <class Key, class Value>
class KeptRows {
public:
    KeptRows(std::size_t rows, std::size_t values) : rows_(rows), values_(values) {}

    /// Returns the row of a key. Calls make(Value*) to fill the row if it is not in the cache.
    template <class Make>
    const Value* row(const Key& key, const Make& make) {
        auto found = std::ranges::find_if(rows_, [&](const Row& row) { return row.used != 0 && row.key == key; });
        if (found == rows_.end()) {
            found = std::ranges::min_element(rows_, {}, &Row::used);
            found->key = key;
            found->values.resize(values_);
            make(found->values.data());
        }
        found->used = ++time_;
        return found->values.data();
    }

private:
    struct Row {
        Key key{};
        std::size_t used = 0;  // time of the last use; 0: never
        LineVector<Value> values;
    };

    std::vector<Row> rows_;
    std::size_t values_;
    std::size_t time_ = 0;
};

}  // namespace texton::detail
