#include "kernels/cuda/tiled_filters.h"

namespace texton::filters {

bool enqueue_in_strips(const char*, const Stream&, const View&, const Texture&, const Separable&, const Sharpen*) {
    return false;
}
bool enqueue_in_tiles(const char*, const Stream&, const View&, const Texture&, const Bilateral&) { return false; }
bool enqueue_in_tiles(const char*, const Stream&, const View&, const Texture&, const Median<3>&) { return false; }
bool enqueue_in_tiles(const char*, const Stream&, const View&, const Texture&, const Median<5>&) { return false; }

}  // namespace texton::filters
