// Tests of the containers that a streamed texture keeps its tiles in, beside those of the standard library.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "arrays/streaming/tile_map.h"
#include "arrays/streaming/tile_slots.h"

namespace texton::detail {
namespace {

TileNumber any_tile(std::mt19937& random, unsigned count) { return static_cast<TileNumber>(random() % count); }

TEST(TileMapTest, InsertionsRemovalsAndLookupsAreThoseOfAStandardMap) {
    std::mt19937 random(7);
    TileMap<int> map;
    std::map<TileNumber, int> expected;
    for (int step = 0; step < 20000; ++step) {
        const TileNumber tile = any_tile(random, 700) * (random() % 2 == 0 ? 1 : 65536);
        if (random() % 3 == 0) {
            EXPECT_EQ(map.erase(tile), expected.erase(tile) == 1);
        } else {
            const auto [value, inserted] = map.insert(tile, step);
            EXPECT_EQ(inserted, expected.try_emplace(tile, step).second);
            EXPECT_EQ(*value, expected.at(tile));
        }
        const TileNumber other = any_tile(random, 700);
        const int* const found = map.find(other);
        ASSERT_EQ(found != nullptr, expected.contains(other));
        if (found != nullptr) {
            ASSERT_EQ(*found, expected.at(other));
        }
        ASSERT_EQ(map.size(), expected.size());
    }
    std::map<TileNumber, int> all;
    for (const auto& [tile, value] : map) all[tile] = value;
    EXPECT_EQ(all, expected);
    map.erase_if([](TileNumber, int value) { return value % 2 == 0; });
    std::erase_if(expected, [](const auto& entry) { return entry.second % 2 == 0; });
    EXPECT_EQ(map.size(), expected.size());
    for (const auto& [tile, value] : expected) EXPECT_TRUE(map.contains(tile));
    map.clear();
    EXPECT_TRUE(map.empty());
    for (const auto& [tile, value] : expected) EXPECT_FALSE(map.contains(tile));
}

TEST(TileMapTest, AnEmptyMapContainsNothing) {
    TileMap<int> map;
    EXPECT_EQ(map.find(0), nullptr);
    EXPECT_FALSE(map.erase(0));
    map.clear();
    EXPECT_EQ(map.begin(), map.end());
}

TEST(ResidentTilesTest, TilesLoseTheirMemoryInTheOrderOfNeedAndNumber) {
    std::mt19937 random(11);
    ResidentTiles tiles;
    std::map<TileNumber, TileNeed> needs;
    const auto any_need = [&] {
        return TileNeed{random() % 4, static_cast<float>(random() % 2), static_cast<int>(random() % 3)};
    };
    for (int step = 0; step < 3000; ++step) {
        const TileNumber tile = any_tile(random, 300);
        if (!needs.contains(tile)) {
            needs[tile] = any_need();
            tiles.add(tile, {{}, needs[tile]});
        } else if (random() % 2 == 0) {
            needs.erase(tile);
            tiles.remove(tile);
        } else {
            const TileNeed need = any_need();
            needs[tile] = std::max(needs[tile], need);
            EXPECT_TRUE(tiles.raise(tile, need));
        }
        EXPECT_FALSE(tiles.raise(1000, any_need()));
        ASSERT_EQ(tiles.size(), needs.size());
        if (step % 10 != 0) continue;
        std::set<std::pair<TileNeed, TileNumber>> order;
        for (const auto& [number, need] : needs) order.emplace(need, number);
        const TileNeed limit = any_need();
        ResidentTiles::Victims victims(tiles);
        std::size_t skipped = 0;
        for (const auto& [need, number] : order) {
            const std::optional<TileNumber> victim = victims.at(skipped++, limit);
            ASSERT_EQ(victim, need < limit ? std::optional(number) : std::nullopt);
        }
        EXPECT_EQ(victims.at(skipped, {9, 0, 0}), std::nullopt);
        std::vector<TileNumber> least;
        for (const auto& [need, number] : order) {
            if (least.size() < order.size() / 2) least.push_back(number);
        }
        EXPECT_EQ(tiles.least(least.size()), least);
    }
}

}  // namespace
}  // namespace texton::detail
