#include <texton/tile_pool.h>

#include <iostream>

void tile_pool_example() {
    const texton::TilePool pool(texton::Device::best(), {.budget = 8 << 20, .chunk_bytes = 2 << 20});
    texton::Tiles tiles = pool.allocate(40);  // 40 tiles of 64 KiB, for a SparseArray or a DeferredArray
    std::cout << tiles.bytes() << " bytes in " << pool.usage().chunks << " chunks\n";
    tiles = {};  // returns them to the pool, which keeps its chunks for later tiles
    std::cout << pool.usage().used << " of " << pool.usage().held << " tiles are used\n";
    pool.trim();
    std::cout << pool.usage().held << " tiles are left\n";
}

// Prints:
// 2621440 bytes in 1 chunks
// 0 of 64 tiles are used
// 0 tiles are left
