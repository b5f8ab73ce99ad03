// Sizes of sparse and deferred arrays, compared with the values of an H200.
#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/cpu/array.h"

namespace texton::detail {
namespace {

using F = Format;
using K = ArrayKind;

struct Tail {
    int first;
    std::size_t kib;
    bool operator==(const Tail&) const = default;
};

// Values returned by cuArrayGetSparseProperties and cuMipmappedArrayGetSparseProperties.
struct Sparse {
    Format format;
    ArrayKind kind;
    Extent extent;
    std::size_t layers;
    int single_tail;        // the single mip tail flag
    std::size_t plain_kib;  // size of the tail of an array without levels
    Tail two;               // with 2, 3 and all levels
    Tail three;
    Tail all;
};
// clang-format off
constexpr Sparse kSparse[] = {
    {F::r8_uint, K::array_2d, {1024, 1024}, 1, 0, 0, {2, 0}, {3, 0}, {3, 64}},
    {F::r8_uint, K::array_2d, {3000, 1700}, 1, 0, 0, {2, 0}, {3, 0}, {3, 192}},
    {F::r8_uint, K::array_2d, {5000, 300}, 1, 0, 0, {1, 640}, {1, 832}, {1, 896}},
    {F::r8_uint, K::array_2d, {100, 100}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::r8_uint, K::array_2d, {300, 5000}, 1, 0, 0, {1, 512}, {1, 640}, {1, 768}},
    {F::r8_uint, K::array_2d, {256, 256}, 1, 0, 0, {1, 64}, {1, 64}, {1, 64}},
    {F::r8_uint, K::array_2d, {255, 255}, 1, 1, 64, {0, 128}, {0, 128}, {0, 128}},
    {F::r8_uint, K::array_2d, {4096, 4096}, 1, 0, 0, {2, 0}, {3, 0}, {5, 64}},
    {F::r8_uint, K::array_2d, {128, 4096}, 1, 1, 512, {0, 640}, {0, 704}, {0, 832}},
    {F::r8_uint, K::array_2d, {64, 64}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::r8_uint, K::array_2d, {640, 480}, 1, 0, 0, {1, 128}, {1, 128}, {1, 128}},
    {F::r8_uint, K::layered_2d, {1024, 1024}, 3, 0, 0, {2, 0}, {3, 0}, {3, 64}},
    {F::r8_uint, K::layered_2d, {300, 200}, 2, 1, 192, {0, 256}, {0, 256}, {0, 256}},
    {F::r8_uint, K::layered_2d, {100, 100}, 4, 1, 64, {0, 128}, {0, 128}, {0, 128}},
    {F::r8_uint, K::array_3d, {256, 256, 256}, 1, 0, 0, {2, 0}, {3, 0}, {3, 128}},
    {F::r8_uint, K::array_3d, {200, 100, 50}, 1, 0, 0, {1, 256}, {1, 320}, {1, 320}},
    {F::r8_uint, K::array_3d, {64, 64, 64}, 1, 0, 0, {1, 64}, {1, 128}, {1, 128}},
    {F::r8_uint, K::array_3d, {512, 128, 32}, 1, 0, 0, {1, 256}, {1, 320}, {1, 320}},
    {F::r8_uint, K::array_3d, {33, 17, 9}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::r16_uint, K::array_2d, {1024, 1024}, 1, 0, 0, {2, 0}, {3, 0}, {3, 64}},
    {F::r16_uint, K::array_2d, {3000, 1700}, 1, 0, 0, {2, 0}, {3, 0}, {4, 128}},
    {F::r16_uint, K::array_2d, {5000, 300}, 1, 0, 0, {2, 0}, {2, 320}, {2, 448}},
    {F::r16_uint, K::array_2d, {100, 100}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::r16_uint, K::array_2d, {300, 5000}, 1, 0, 0, {1, 832}, {1, 1088}, {1, 1216}},
    {F::r16_uint, K::array_2d, {256, 256}, 1, 0, 0, {1, 64}, {1, 64}, {1, 64}},
    {F::r16_uint, K::array_2d, {255, 255}, 1, 1, 128, {0, 192}, {0, 192}, {0, 192}},
    {F::r16_uint, K::array_2d, {4096, 4096}, 1, 0, 0, {2, 0}, {3, 0}, {5, 64}},
    {F::r16_uint, K::array_2d, {128, 4096}, 1, 1, 1024, {0, 1280}, {0, 1344}, {0, 1472}},
    {F::r16_uint, K::array_2d, {64, 64}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::r16_uint, K::array_2d, {640, 480}, 1, 0, 0, {2, 0}, {2, 64}, {2, 64}},
    {F::r16_uint, K::layered_2d, {1024, 1024}, 3, 0, 0, {2, 0}, {3, 0}, {3, 64}},
    {F::r16_uint, K::layered_2d, {300, 200}, 2, 0, 0, {1, 64}, {1, 64}, {1, 64}},
    {F::r16_uint, K::layered_2d, {100, 100}, 4, 1, 128, {0, 192}, {0, 192}, {0, 192}},
    {F::r16_uint, K::array_3d, {256, 256, 256}, 1, 0, 0, {2, 0}, {3, 0}, {4, 64}},
    {F::r16_uint, K::array_3d, {200, 100, 50}, 1, 0, 0, {1, 512}, {1, 576}, {1, 640}},
    {F::r16_uint, K::array_3d, {64, 64, 64}, 1, 0, 0, {2, 0}, {2, 64}, {2, 64}},
    {F::r16_uint, K::array_3d, {512, 128, 32}, 1, 0, 0, {1, 512}, {1, 576}, {1, 640}},
    {F::r16_uint, K::array_3d, {33, 17, 9}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::r32_uint, K::array_2d, {1024, 1024}, 1, 0, 0, {2, 0}, {3, 0}, {4, 64}},
    {F::r32_uint, K::array_2d, {3000, 1700}, 1, 0, 0, {2, 0}, {3, 0}, {4, 192}},
    {F::r32_uint, K::array_2d, {5000, 300}, 1, 0, 0, {2, 0}, {2, 640}, {2, 896}},
    {F::r32_uint, K::array_2d, {100, 100}, 1, 1, 64, {0, 128}, {0, 128}, {0, 128}},
    {F::r32_uint, K::array_2d, {300, 5000}, 1, 0, 0, {2, 0}, {2, 448}, {2, 640}},
    {F::r32_uint, K::array_2d, {256, 256}, 1, 0, 0, {2, 0}, {2, 64}, {2, 64}},
    {F::r32_uint, K::array_2d, {255, 255}, 1, 0, 0, {1, 64}, {1, 128}, {1, 128}},
    {F::r32_uint, K::array_2d, {4096, 4096}, 1, 0, 0, {2, 0}, {3, 0}, {6, 64}},
    {F::r32_uint, K::array_2d, {128, 4096}, 1, 0, 0, {1, 512}, {1, 640}, {1, 768}},
    {F::r32_uint, K::array_2d, {64, 64}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::r32_uint, K::array_2d, {640, 480}, 1, 0, 0, {2, 0}, {2, 128}, {2, 128}},
    {F::r32_uint, K::layered_2d, {1024, 1024}, 3, 0, 0, {2, 0}, {3, 0}, {4, 64}},
    {F::r32_uint, K::layered_2d, {300, 200}, 2, 0, 0, {1, 128}, {1, 128}, {1, 128}},
    {F::r32_uint, K::layered_2d, {100, 100}, 4, 1, 256, {0, 320}, {0, 320}, {0, 320}},
    {F::r32_uint, K::array_3d, {256, 256, 256}, 1, 0, 0, {2, 0}, {3, 0}, {4, 64}},
    {F::r32_uint, K::array_3d, {200, 100, 50}, 1, 0, 0, {2, 0}, {2, 128}, {2, 192}},
    {F::r32_uint, K::array_3d, {64, 64, 64}, 1, 0, 0, {2, 0}, {2, 64}, {2, 64}},
    {F::r32_uint, K::array_3d, {512, 128, 32}, 1, 0, 0, {2, 0}, {2, 128}, {2, 192}},
    {F::r32_uint, K::array_3d, {33, 17, 9}, 1, 1, 128, {0, 128}, {0, 128}, {0, 128}},
    {F::rg32_uint, K::array_2d, {1024, 1024}, 1, 0, 0, {2, 0}, {3, 0}, {4, 64}},
    {F::rg32_uint, K::array_2d, {3000, 1700}, 1, 0, 0, {2, 0}, {3, 0}, {5, 128}},
    {F::rg32_uint, K::array_2d, {5000, 300}, 1, 0, 0, {2, 0}, {3, 0}, {3, 448}},
    {F::rg32_uint, K::array_2d, {100, 100}, 1, 1, 128, {0, 192}, {0, 192}, {0, 192}},
    {F::rg32_uint, K::array_2d, {300, 5000}, 1, 0, 0, {2, 0}, {2, 832}, {2, 1152}},
    {F::rg32_uint, K::array_2d, {256, 256}, 1, 0, 0, {2, 0}, {2, 64}, {2, 64}},
    {F::rg32_uint, K::array_2d, {255, 255}, 1, 0, 0, {1, 128}, {1, 192}, {1, 192}},
    {F::rg32_uint, K::array_2d, {4096, 4096}, 1, 0, 0, {2, 0}, {3, 0}, {6, 64}},
    {F::rg32_uint, K::array_2d, {128, 4096}, 1, 0, 0, {1, 1024}, {1, 1280}, {1, 1408}},
    {F::rg32_uint, K::array_2d, {64, 64}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::rg32_uint, K::array_2d, {640, 480}, 1, 0, 0, {2, 0}, {3, 0}, {3, 64}},
    {F::rg32_uint, K::layered_2d, {1024, 1024}, 3, 0, 0, {2, 0}, {3, 0}, {4, 64}},
    {F::rg32_uint, K::layered_2d, {300, 200}, 2, 0, 0, {2, 0}, {2, 64}, {2, 64}},
    {F::rg32_uint, K::layered_2d, {100, 100}, 4, 1, 448, {0, 576}, {0, 576}, {0, 576}},
    {F::rg32_uint, K::array_3d, {256, 256, 256}, 1, 0, 0, {2, 0}, {3, 0}, {4, 64}},
    {F::rg32_uint, K::array_3d, {200, 100, 50}, 1, 0, 0, {2, 0}, {2, 256}, {2, 320}},
    {F::rg32_uint, K::array_3d, {64, 64, 64}, 1, 0, 0, {2, 0}, {2, 64}, {2, 64}},
    {F::rg32_uint, K::array_3d, {512, 128, 32}, 1, 0, 0, {2, 0}, {2, 256}, {2, 320}},
    {F::rg32_uint, K::array_3d, {33, 17, 9}, 1, 1, 128, {0, 128}, {0, 128}, {0, 128}},
    {F::rgba32_uint, K::array_2d, {1024, 1024}, 1, 0, 0, {2, 0}, {3, 0}, {5, 64}},
    {F::rgba32_uint, K::array_2d, {3000, 1700}, 1, 0, 0, {2, 0}, {3, 0}, {5, 192}},
    {F::rgba32_uint, K::array_2d, {5000, 300}, 1, 0, 0, {2, 0}, {3, 0}, {3, 896}},
    {F::rgba32_uint, K::array_2d, {100, 100}, 1, 0, 0, {1, 64}, {1, 128}, {1, 128}},
    {F::rgba32_uint, K::array_2d, {300, 5000}, 1, 0, 0, {2, 0}, {3, 0}, {3, 576}},
    {F::rgba32_uint, K::array_2d, {256, 256}, 1, 0, 0, {2, 0}, {3, 0}, {3, 64}},
    {F::rgba32_uint, K::array_2d, {255, 255}, 1, 0, 0, {2, 0}, {2, 64}, {2, 128}},
    {F::rgba32_uint, K::array_2d, {4096, 4096}, 1, 0, 0, {2, 0}, {3, 0}, {7, 64}},
    {F::rgba32_uint, K::array_2d, {128, 4096}, 1, 0, 0, {2, 0}, {2, 512}, {2, 704}},
    {F::rgba32_uint, K::array_2d, {64, 64}, 1, 0, 0, {1, 64}, {1, 64}, {1, 64}},
    {F::rgba32_uint, K::array_2d, {640, 480}, 1, 0, 0, {2, 0}, {3, 0}, {3, 128}},
    {F::rgba32_uint, K::layered_2d, {1024, 1024}, 3, 0, 0, {2, 0}, {3, 0}, {5, 64}},
    {F::rgba32_uint, K::layered_2d, {300, 200}, 2, 0, 0, {2, 0}, {2, 128}, {2, 128}},
    {F::rgba32_uint, K::layered_2d, {100, 100}, 4, 0, 0, {1, 64}, {1, 128}, {1, 128}},
    {F::rgba32_uint, K::array_3d, {256, 256, 256}, 1, 0, 0, {2, 0}, {3, 0}, {5, 64}},
    {F::rgba32_uint, K::array_3d, {200, 100, 50}, 1, 0, 0, {2, 0}, {2, 448}, {2, 512}},
    {F::rgba32_uint, K::array_3d, {64, 64, 64}, 1, 0, 0, {2, 0}, {3, 0}, {3, 64}},
    {F::rgba32_uint, K::array_3d, {512, 128, 32}, 1, 0, 0, {2, 0}, {2, 512}, {2, 640}},
    {F::rgba32_uint, K::array_3d, {33, 17, 9}, 1, 1, 256, {0, 256}, {0, 256}, {0, 256}},
    {F::bc1_unorm, K::array_2d, {1024, 1024}, 1, 0, 0, {2, 0}, {2, 64}, {2, 64}},
    {F::bc1_unorm, K::array_2d, {3000, 1700}, 1, 0, 0, {2, 0}, {3, 0}, {3, 128}},
    {F::bc1_unorm, K::array_2d, {5000, 300}, 1, 0, 0, {1, 320}, {1, 448}, {1, 448}},
    {F::bc1_unorm, K::array_2d, {100, 100}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::bc1_unorm, K::array_2d, {300, 5000}, 1, 1, 832, {0, 1024}, {0, 1088}, {0, 1152}},
    {F::bc1_unorm, K::array_2d, {256, 256}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::bc1_unorm, K::array_2d, {255, 255}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::bc1_unorm, K::array_2d, {4096, 4096}, 1, 0, 0, {2, 0}, {3, 0}, {4, 64}},
    {F::bc1_unorm, K::array_2d, {128, 4096}, 1, 1, 256, {0, 320}, {0, 384}, {0, 384}},
    {F::bc1_unorm, K::array_2d, {64, 64}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::bc1_unorm, K::array_2d, {640, 480}, 1, 0, 0, {1, 64}, {1, 64}, {1, 64}},
    {F::bc1_unorm, K::layered_2d, {1024, 1024}, 3, 0, 0, {2, 0}, {2, 64}, {2, 64}},
    {F::bc1_unorm, K::layered_2d, {300, 200}, 2, 1, 128, {0, 128}, {0, 128}, {0, 128}},
    {F::bc1_unorm, K::layered_2d, {100, 100}, 4, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::bc1_unorm, K::array_3d, {256, 256, 256}, 1, 0, 0, {2, 0}, {2, 128}, {2, 192}},
    {F::bc1_unorm, K::array_3d, {200, 100, 50}, 1, 0, 0, {1, 128}, {1, 192}, {1, 192}},
    {F::bc1_unorm, K::array_3d, {64, 64, 64}, 1, 1, 128, {0, 192}, {0, 192}, {0, 192}},
    {F::bc1_unorm, K::array_3d, {512, 128, 32}, 1, 0, 0, {2, 0}, {2, 64}, {2, 64}},
    {F::bc1_unorm, K::array_3d, {33, 17, 9}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::bc3_unorm, K::array_2d, {1024, 1024}, 1, 0, 0, {2, 0}, {3, 0}, {3, 64}},
    {F::bc3_unorm, K::array_2d, {3000, 1700}, 1, 0, 0, {2, 0}, {3, 0}, {3, 192}},
    {F::bc3_unorm, K::array_2d, {5000, 300}, 1, 0, 0, {1, 640}, {1, 832}, {1, 896}},
    {F::bc3_unorm, K::array_2d, {100, 100}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::bc3_unorm, K::array_2d, {300, 5000}, 1, 0, 0, {1, 448}, {1, 512}, {1, 576}},
    {F::bc3_unorm, K::array_2d, {256, 256}, 1, 0, 0, {1, 64}, {1, 64}, {1, 64}},
    {F::bc3_unorm, K::array_2d, {255, 255}, 1, 1, 64, {1, 64}, {1, 64}, {1, 64}},
    {F::bc3_unorm, K::array_2d, {4096, 4096}, 1, 0, 0, {2, 0}, {3, 0}, {5, 64}},
    {F::bc3_unorm, K::array_2d, {128, 4096}, 1, 1, 512, {0, 640}, {0, 704}, {0, 704}},
    {F::bc3_unorm, K::array_2d, {64, 64}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::bc3_unorm, K::array_2d, {640, 480}, 1, 0, 0, {1, 128}, {1, 128}, {1, 128}},
    {F::bc3_unorm, K::layered_2d, {1024, 1024}, 3, 0, 0, {2, 0}, {3, 0}, {3, 64}},
    {F::bc3_unorm, K::layered_2d, {300, 200}, 2, 1, 192, {0, 192}, {0, 256}, {0, 256}},
    {F::bc3_unorm, K::layered_2d, {100, 100}, 4, 1, 64, {0, 128}, {0, 128}, {0, 128}},
    {F::bc3_unorm, K::array_3d, {256, 256, 256}, 1, 0, 0, {2, 0}, {3, 0}, {3, 64}},
    {F::bc3_unorm, K::array_3d, {200, 100, 50}, 1, 0, 0, {1, 256}, {1, 256}, {1, 320}},
    {F::bc3_unorm, K::array_3d, {64, 64, 64}, 1, 0, 0, {1, 64}, {1, 64}, {1, 64}},
    {F::bc3_unorm, K::array_3d, {512, 128, 32}, 1, 0, 0, {2, 0}, {2, 64}, {2, 64}},
    {F::bc3_unorm, K::array_3d, {33, 17, 9}, 1, 1, 64, {0, 64}, {0, 64}, {0, 64}},
    {F::rgba8_uint, K::array_2d, {1024, 1024}, 1, 0, 0, {2, 0}, {3, 0}, {4, 64}},
    {F::rgba8_uint, K::layered_2d, {1024, 1024}, 3, 0, 0, {2, 0}, {3, 0}, {4, 64}},
    {F::rgb10a2_unorm, K::array_2d, {1024, 1024}, 1, 0, 0, {2, 0}, {3, 0}, {4, 64}},
    {F::rgb10a2_unorm, K::layered_2d, {1024, 1024}, 3, 0, 0, {2, 0}, {3, 0}, {4, 64}},
};

// Tails of arrays with the given number of levels. The cases cover where the tail begins, the size of blocks in the
// tail, and the position of layers in a shared tail.
struct SparseTail {
    Format format;
    ArrayKind kind;
    Extent extent;
    std::size_t layers;
    int levels;
    int single_tail;
    Tail tail;
};
constexpr SparseTail kSparseTails[] = {
    {F::r8_uint, K::array_2d, {100, 263}, 1, 3, 1, {0, 128}},
    {F::r8_uint, K::array_2d, {1000, 300}, 1, 3, 0, {1, 192}},
    {F::r32_uint, K::array_2d, {100, 157}, 1, 3, 1, {0, 192}},
    {F::r32_uint, K::array_2d, {100, 269}, 1, 3, 1, {0, 256}},
    {F::bc1_unorm, K::array_2d, {1000, 253}, 1, 1, 1, {0, 128}},
    {F::bc1_unorm, K::array_2d, {1000, 253}, 1, 3, 1, {1, 64}},
    {F::bc1_unorm, K::array_2d, {1000, 254}, 1, 1, 1, {0, 128}},
    {F::bc1_unorm, K::array_2d, {1000, 254}, 1, 3, 1, {1, 64}},
    {F::bc1_unorm, K::array_2d, {1000, 255}, 1, 1, 1, {0, 128}},
    {F::bc1_unorm, K::array_2d, {1000, 255}, 1, 3, 1, {1, 64}},
    {F::r8_uint, K::layered_2d, {100, 282}, 3, 3, 1, {0, 256}},
    {F::r8_uint, K::layered_2d, {283, 283}, 4, 4, 0, {1, 128}},
    {F::r8_uint, K::layered_2d, {300, 200}, 5, 4, 1, {0, 640}},
    {F::r8_uint, K::layered_2d, {466, 1048}, 5, 5, 0, {1, 320}},
    {F::r8_uint, K::layered_2d, {474, 66}, 3, 7, 1, {0, 256}},
    {F::r16_uint, K::layered_2d, {7, 98}, 6, 7, 1, {0, 192}},
    {F::r16_uint, K::layered_2d, {1000, 600}, 3, 4, 0, {2, 192}},
    {F::r32_uint, K::layered_2d, {100, 130}, 3, 3, 1, {0, 512}},
    {F::r32_uint, K::layered_2d, {100, 131}, 3, 3, 1, {0, 512}},
    {F::r32_uint, K::layered_2d, {100, 166}, 3, 3, 1, {0, 512}},
    {F::r32_uint, K::layered_2d, {100, 278}, 3, 3, 1, {0, 768}},
    {F::rg32_uint, K::layered_2d, {2, 94}, 3, 7, 1, {0, 128}},
    {F::rgba32_uint, K::layered_2d, {2, 82}, 5, 2, 1, {0, 64}},
    {F::rgba32_uint, K::layered_2d, {55, 70}, 3, 3, 1, {0, 448}},
    {F::bc1_unorm, K::layered_2d, {100, 217}, 3, 3, 1, {0, 128}},
    {F::bc1_unorm, K::layered_2d, {265, 136}, 5, 1, 1, {0, 192}},
    {F::bc1_unorm, K::layered_2d, {265, 136}, 5, 2, 1, {0, 256}},
    {F::bc1_unorm, K::layered_2d, {265, 136}, 5, 6, 1, {0, 320}},
    {F::r8_uint, K::array_3d, {42, 19, 17}, 1, 2, 1, {0, 64}},
    {F::r8_uint, K::array_3d, {100, 243, 20}, 1, 3, 1, {0, 1152}},
    {F::r8_uint, K::array_3d, {200, 100, 400}, 1, 9, 0, {2, 384}},
    {F::r16_uint, K::array_3d, {42, 19, 28}, 1, 2, 1, {0, 128}},
    {F::r16_uint, K::array_3d, {64, 64, 600}, 1, 10, 0, {2, 320}},
    {F::r16_uint, K::array_3d, {200, 100, 400}, 1, 9, 0, {2, 640}},
    {F::r32_uint, K::array_3d, {300, 9, 36}, 1, 2, 1, {0, 1088}},
    {F::rg32_uint, K::array_3d, {3, 130, 80}, 1, 8, 1, {0, 1024}},
    {F::rgba32_uint, K::array_3d, {4, 109, 79}, 1, 7, 1, {0, 832}},
    {F::rgba32_uint, K::array_3d, {5, 79, 82}, 1, 7, 1, {0, 1152}},
    {F::bc1_unorm, K::array_3d, {100, 202, 20}, 1, 3, 1, {0, 576}},
    {F::bc1_unorm, K::array_3d, {100, 247, 20}, 1, 1, 1, {0, 512}},
    {F::bc1_unorm, K::array_3d, {200, 100, 14}, 1, 2, 1, {0, 256}},
    {F::bc1_unorm, K::array_3d, {1255, 2452, 61}, 1, 6, 0, {2, 1856}},
    {F::bc3_unorm, K::array_3d, {64, 64, 14}, 1, 7, 1, {0, 128}},
};

struct Deferred {
    Format format;
    ArrayKind kind;
    Extent extent;
    std::size_t layers;
    int levels;
    std::size_t tiles;
};
constexpr Deferred kDeferred[] = {
    {F::nv12, K::array_2d, {256, 128}, 1, 1, 2},
    {F::r8_uint, K::array_1d, {64}, 1, 1, 1},
    {F::r8_uint, K::array_1d, {65536}, 1, 1, 8},
    {F::r8_uint, K::array_1d, {131072}, 1, 1, 16},
    {F::r32_uint, K::array_1d, {1000}, 1, 1, 1},
    {F::rgba32_uint, K::array_1d, {32768}, 1, 1, 64},
    {F::rgba32_uint, K::array_1d, {131072}, 1, 1, 256},
    {F::r32_uint, K::layered_1d, {1024}, 4, 1, 2},
    {F::r32_uint, K::layered_1d, {32768}, 100, 1, 1600},
    {F::r32_uint, K::layered_1d, {20000}, 7, 1, 69},
    {F::r8_uint, K::array_2d, {256, 256}, 1, 1, 1},
    {F::r8_uint, K::array_2d, {257, 256}, 1, 1, 2},
    {F::r8_uint, K::array_2d, {256, 257}, 1, 1, 2},
    {F::r32_uint, K::array_2d, {128, 128}, 1, 1, 1},
    {F::r32_uint, K::array_2d, {129, 129}, 1, 1, 3},
    {F::r32_uint, K::array_2d, {1000, 1000}, 1, 1, 63},
    {F::r32_uint, K::array_2d, {1024, 1024}, 1, 1, 64},
    {F::r32_uint, K::array_2d, {1025, 1025}, 1, 1, 74},
    {F::r32_uint, K::array_2d, {3000, 1700}, 1, 1, 329},
    {F::r32_uint, K::array_2d, {5000, 300}, 1, 1, 118},
    {F::r32_uint, K::array_2d, {300, 5000}, 1, 1, 95},
    {F::rgba32_uint, K::array_2d, {3000, 1700}, 1, 1, 1313},
    {F::r16_uint, K::array_2d, {3000, 1700}, 1, 1, 165},
    {F::r8_uint, K::array_2d, {3000, 1700}, 1, 1, 83},
    {F::rg32_uint, K::array_2d, {3000, 1700}, 1, 1, 657},
    {F::bc1_unorm, K::array_2d, {3000, 1700}, 1, 1, 47},
    {F::bc3_unorm, K::array_2d, {3001, 1701}, 1, 1, 94},
    {F::r32_uint, K::array_2d, {10000, 16}, 1, 1, 10},
    {F::r32_uint, K::array_2d, {16, 10000}, 1, 1, 10},
    {F::r32_uint, K::array_2d, {4096, 8}, 1, 1, 2},
    {F::r32_uint, K::array_2d, {4096, 16}, 1, 1, 4},
    {F::r32_uint, K::array_2d, {4096, 64}, 1, 1, 16},
    {F::r32_uint, K::array_2d, {4096, 100}, 1, 1, 32},
    {F::r32_uint, K::array_2d, {1000, 1000}, 1, 1, 63},
    {F::r32_uint, K::array_2d, {1000, 1000}, 1, 1, 63},
    {F::r32_uint, K::layered_2d, {100, 100}, 5, 1, 5},
    {F::r32_uint, K::layered_2d, {300, 200}, 5, 1, 24},
    {F::r32_uint, K::layered_2d, {1024, 1024}, 3, 1, 192},
    {F::r8_uint, K::layered_2d, {100, 100}, 5, 1, 2},
    {F::r8_uint, K::layered_2d, {40, 20}, 100, 1, 4},
    {F::r32_uint, K::cubemap, {256, 256}, 1, 1, 24},
    {F::r32_uint, K::cubemap, {100, 100}, 1, 1, 6},
    {F::r32_uint, K::cubemap_layered, {100, 100}, 2, 1, 11},
    {F::r32_uint, K::array_3d, {40, 50, 20}, 1, 1, 6},
    {F::r32_uint, K::array_3d, {256, 256, 256}, 1, 1, 1024},
    {F::r32_uint, K::array_3d, {200, 100, 50}, 1, 1, 85},
    {F::r8_uint, K::array_3d, {200, 100, 50}, 1, 1, 26},
    {F::rgba32_uint, K::array_3d, {200, 100, 50}, 1, 1, 325},
    {F::r32_uint, K::array_3d, {33, 33, 17}, 1, 1, 4},
    {F::r32_uint, K::array_1d, {1024}, 1, 11, 2},
    {F::r32_uint, K::array_2d, {1024, 1024}, 1, 11, 86},
    {F::r32_uint, K::array_2d, {1024, 1024}, 1, 1, 64},
    {F::r32_uint, K::array_2d, {1024, 1024}, 1, 2, 80},
    {F::r32_uint, K::array_2d, {1024, 1024}, 1, 3, 84},
    {F::r32_uint, K::array_2d, {1024, 1024}, 1, 5, 86},
    {F::r32_uint, K::array_2d, {3000, 1700}, 1, 12, 443},
    {F::r32_uint, K::array_2d, {3000, 1700}, 1, 3, 435},
    {F::r8_uint, K::array_2d, {3000, 1700}, 1, 12, 112},
    {F::bc1_unorm, K::array_2d, {3000, 1700}, 1, 12, 63},
    {F::r32_uint, K::layered_2d, {300, 200}, 5, 9, 33},
    {F::r32_uint, K::cubemap, {256, 256}, 1, 9, 33},
    {F::r32_uint, K::cubemap_layered, {128, 128}, 2, 8, 17},
    {F::r32_uint, K::array_3d, {256, 256, 256}, 1, 9, 1171},
    {F::r32_uint, K::array_3d, {200, 100, 50}, 1, 8, 100},
    {F::r32_uint, K::array_3d, {200, 100, 50}, 1, 3, 99},
    {F::r32_uint, K::array_2d, {100, 100}, 1, 7, 2},
    {F::r32_uint, K::layered_1d, {64}, 3, 7, 1},
    // Positions of layers, height and depth of blocks, and planes.
    {F::nv12, K::array_2d, {1398, 1682}, 1, 1, 59},
    {F::nv12, K::array_2d, {1810, 38}, 1, 1, 3},
    {F::nv12, K::array_2d, {3568, 20}, 1, 1, 4},
    {F::p010, K::array_2d, {616, 148}, 1, 1, 8},
    {F::p010, K::array_2d, {1292, 26}, 1, 1, 4},
    {F::p016, K::array_2d, {1498, 2}, 1, 1, 4},
    {F::p016, K::array_2d, {1040, 18}, 1, 1, 4},
    {F::p016, K::array_2d, {3180, 2}, 1, 1, 8},
    {F::nv16, K::array_2d, {2, 2}, 1, 1, 2},
    {F::nv16, K::array_2d, {3126, 14}, 1, 1, 4},
    {F::r32_uint, K::array_2d, {100, 182}, 1, 3, 3},
    {F::r32_uint, K::array_2d, {100, 285}, 1, 3, 4},
    {F::r8_uint, K::layered_2d, {2, 80}, 3, 7, 1},
    {F::r16_uint, K::layered_2d, {2, 43}, 6, 6, 2},
    {F::r32_uint, K::layered_2d, {136, 102}, 5, 2, 8},
    {F::r32_uint, K::layered_2d, {136, 102}, 5, 8, 9},
    {F::r32_uint, K::layered_2d, {136, 102}, 7, 2, 11},
    {F::r32_uint, K::layered_2d, {136, 102}, 7, 8, 12},
    {F::r32_uint, K::layered_2d, {1000, 600}, 3, 7, 171},
    {F::bc1_unorm, K::layered_2d, {20, 187}, 6, 8, 2},
    {F::bc1_unorm, K::layered_2d, {100, 282}, 3, 3, 3},
    {F::bc1_unorm, K::layered_2d, {100, 294}, 3, 3, 3},
    {F::bc3_unorm, K::layered_2d, {12, 153}, 6, 8, 2},
    {F::bc3_unorm, K::layered_2d, {136, 102}, 6, 1, 2},
    {F::r8_uint, K::array_3d, {100, 181, 20}, 1, 3, 14},
    {F::r8_uint, K::array_3d, {190, 70, 9}, 1, 3, 4},
    {F::r8_uint, K::array_3d, {200, 100, 38}, 1, 8, 24},
    {F::r16_uint, K::array_3d, {200, 100, 35}, 1, 1, 35},
    {F::r16_uint, K::array_3d, {200, 100, 38}, 1, 2, 42},
    {F::r32_uint, K::array_3d, {64, 64, 1000}, 1, 1, 252},
    {F::r32_uint, K::array_3d, {100, 225, 20}, 1, 1, 51},
    {F::r32_uint, K::array_3d, {200, 100, 600}, 1, 2, 920},
    {F::rg32_uint, K::array_3d, {64, 64, 1000}, 1, 2, 568},
    {F::rg32_uint, K::array_3d, {300, 9, 19}, 1, 2, 22},
    {F::rgba32_uint, K::array_3d, {5, 79, 82}, 1, 7, 18},
    {F::rgba32_uint, K::array_3d, {42, 19, 600}, 1, 2, 186},
    {F::bc1_unorm, K::array_3d, {42, 19, 16}, 1, 1, 1},
    {F::bc1_unorm, K::array_3d, {42, 19, 17}, 1, 1, 1},
    {F::bc1_unorm, K::array_3d, {42, 19, 33}, 1, 1, 1},
    {F::bc1_unorm, K::array_3d, {42, 19, 300}, 1, 2, 6},
    {F::bc1_unorm, K::array_3d, {42, 19, 300}, 1, 9, 8},
    {F::bc1_unorm, K::array_3d, {42, 19, 1000}, 1, 1, 16},
    {F::r8_uint, K::cubemap, {42, 42}, 1, 6, 1},
    {F::r8_uint, K::cubemap, {214, 214}, 1, 3, 9},
    {F::r8_uint, K::cubemap, {235, 235}, 1, 3, 9},
    {F::rgba32_uint, K::cubemap, {67, 67}, 1, 6, 17},
    {F::rgba32_uint, K::cubemap, {91, 91}, 1, 3, 24},
    {F::bc3_unorm, K::cubemap, {94, 94}, 1, 6, 2},
    {F::bc3_unorm, K::cubemap, {283, 283}, 1, 2, 18},
    {F::bc3_unorm, K::cubemap, {405, 405}, 1, 3, 27},
    {F::r8_uint, K::cubemap_layered, {44, 44}, 4, 6, 5},
    {F::r8_uint, K::cubemap_layered, {265, 265}, 5, 5, 90},
    {F::r8_uint, K::cubemap_layered, {283, 283}, 4, 5, 72},
    {F::r16_uint, K::cubemap_layered, {42, 42}, 5, 6, 7},
    {F::r16_uint, K::cubemap_layered, {56, 56}, 4, 2, 5},
    {F::r16_uint, K::cubemap_layered, {75, 75}, 5, 7, 19},
    {F::r16_uint, K::cubemap_layered, {136, 136}, 6, 8, 68},
    {F::r32_uint, K::cubemap_layered, {42, 42}, 5, 5, 9},
    {F::r32_uint, K::cubemap_layered, {75, 75}, 1, 2, 5},
    {F::r32_uint, K::cubemap_layered, {116, 116}, 3, 3, 25},
    {F::r32_uint, K::cubemap_layered, {265, 265}, 5, 1, 192},
    {F::rg32_uint, K::cubemap_layered, {283, 283}, 4, 2, 432},
    {F::rg32_uint, K::cubemap_layered, {283, 283}, 4, 6, 471},
    {F::rgba32_uint, K::cubemap_layered, {31, 31}, 3, 3, 7},
    {F::rgba32_uint, K::cubemap_layered, {76, 76}, 3, 3, 58},
    {F::rgba32_uint, K::cubemap_layered, {79, 79}, 5, 3, 100},
    {F::rgba32_uint, K::cubemap_layered, {86, 86}, 5, 5, 113},
    {F::rgba32_uint, K::cubemap_layered, {145, 145}, 3, 3, 219},
    {F::rgba32_uint, K::cubemap_layered, {286, 286}, 3, 3, 689},
    {F::rgba32_uint, K::cubemap_layered, {367, 367}, 4, 1, 828},
    {F::bc1_unorm, K::cubemap_layered, {58, 58}, 3, 6, 2},
    {F::bc1_unorm, K::cubemap_layered, {300, 300}, 4, 2, 39},
    {F::bc1_unorm, K::cubemap_layered, {300, 300}, 8, 2, 78},
    {F::bc1_unorm, K::cubemap_layered, {373, 373}, 6, 8, 77},
    {F::bc3_unorm, K::cubemap_layered, {136, 136}, 3, 8, 15},
    {F::bc3_unorm, K::cubemap_layered, {265, 265}, 5, 2, 83},
    {F::bc3_unorm, K::cubemap_layered, {265, 265}, 5, 8, 90},
    {F::bc3_unorm, K::cubemap_layered, {1000, 1000}, 3, 7, 381},
};
// clang-format on

std::string describe(const ArrayInfo& info) {
    return fmt::format("{} {} {}, {} layers, {} levels", name(info.kind), name(info.format), to_string(info.extent),
                       info.layers, info.levels);
}

// Returns a random kind and format with dimensions below `side`.
ArrayInfo random_info(std::mt19937& random, std::size_t side) {
    const auto from_1_to = [&](std::size_t last) { return 1 + random() % last; };
    const auto rows = formats();
    ArrayInfo info{
        .format = rows[random() % rows.size()].format, .extent = {}, .kind = static_cast<ArrayKind>(random() % 7)};
    if (plane_count(info.format) > 1) info.kind = ArrayKind::array_2d;
    info.extent.width = from_1_to(random() % 4 == 0 ? 16 : side);
    if (!is_flat(info.kind)) info.extent.height = is_cube(info.kind) ? info.extent.width : from_1_to(side);
    if (info.kind == ArrayKind::array_3d) info.extent.depth = from_1_to(side / 4);
    if (is_layered(info.kind)) info.layers = from_1_to(5);
    if (plane_count(info.format) == 1) {
        info.levels = static_cast<int>(from_1_to(static_cast<std::size_t>(full_levels(info))));
    }
    return info;
}

void expect_sparse(const ArrayInfo& info, bool single_tail, Tail measured) {
    const SparseProperties sizes = sparse_sizes(info);
    EXPECT_EQ(sizes.tile, tile_extent(info.format, info.kind == K::array_3d ? 3 : 2)) << describe(info);
    EXPECT_EQ(sizes.first_tail_level, measured.first) << describe(info);
    EXPECT_EQ(sizes.tail_bytes, measured.kib << 10) << describe(info);
    EXPECT_EQ(sizes.tail_per_layer, !single_tail) << describe(info);
}

TEST(CpuArraySizesTest, SparseTileAndTailSizesMatchAnH200) {
    for (const Sparse& row : kSparse) {
        ArrayInfo info{.format = row.format, .extent = row.extent, .kind = row.kind, .layers = row.layers};
        const auto check = [&](int levels, Tail measured) {
            info.levels = levels;
            expect_sparse(info, row.single_tail != 0, measured);
        };
        check(1, {row.plain_kib == 0 ? 1 : 0, row.plain_kib});
        check(2, row.two);
        check(3, row.three);
        check(full_levels(info), row.all);
    }
    for (const SparseTail& row : kSparseTails) {
        expect_sparse(
            {.format = row.format, .extent = row.extent, .kind = row.kind, .layers = row.layers, .levels = row.levels},
            row.single_tail != 0, row.tail);
    }
}

TEST(CpuArraySizesTest, DeferredArraysNeedAsMuchMemoryAsOnAnH200) {
    for (const Deferred& row : kDeferred) {
        const ArrayInfo info{
            .format = row.format, .extent = row.extent, .kind = row.kind, .layers = row.layers, .levels = row.levels};
        const MemoryRequirements sizes = deferred_sizes(info);
        EXPECT_EQ(sizes.bytes, row.tiles * kTileBytes) << describe(info);
        EXPECT_EQ(sizes.alignment, kTileBytes) << describe(info);
    }
}

TEST(CpuArraySizesTest, TexelsOfDeferredArraysFitIntoTheRequiredMemory) {
    std::mt19937 random(11);
    for (int i = 0; i < 20000; ++i) {
        const ArrayInfo info = random_info(random, 400);
        const auto array = make_cpu_array(info, ArrayBacking::deferred);
        ASSERT_LE(array->bytes, deferred_sizes(info).bytes) << describe(info);
        std::size_t end = 0;
        for (std::size_t part = 0; part < array->parts.size(); ++part) {
            const CpuLevel& level = array->parts[part];
            ASSERT_GE(array->offsets[part], end) << describe(info);
            end = array->offsets[part] + level.slice_pitch * level.extent.depth;
            ASSERT_EQ(level.slice_pitch * level.extent.depth,
                      packed_bytes(part_format(info, static_cast<int>(part)), level.extent));
        }
        ASSERT_LE(end, array->bytes) << describe(info);
    }
}

TEST(CpuArraySizesTest, TexelsOfSparseTailsFitIntoTheTail) {
    std::mt19937 random(12);
    int tails = 0;
    for (int i = 0; i < 20000; ++i) {
        ArrayInfo info = random_info(random, 700);
        if (plane_count(info.format) > 1) continue;
        if (info.kind != K::array_3d && info.kind != K::layered_2d) info.kind = K::array_2d;
        const SparseProperties sizes = sparse_sizes(info);
        const auto array = make_cpu_array(info, ArrayBacking::sparse);
        std::size_t end = 0;
        for (std::size_t part = static_cast<std::size_t>(sizes.first_tail_level); part < array->parts.size(); ++part) {
            const CpuLevel& level = array->parts[part];
            ASSERT_GE(level.tail_offset, end) << describe(info);
            const bool own = level.tail_pages != 0;  // true if the layer has its own tail
            end = level.tail_offset +
                  packed_bytes(info.format, {level.extent.width, level.extent.height, own ? 1 : level.extent.depth});
            ASSERT_EQ(own, sizes.tail_per_layer && info.kind != K::array_3d) << describe(info);
            ++tails;
        }
        ASSERT_LE(end, sizes.tail_bytes) << describe(info);
    }
    EXPECT_GT(tails, 10000);
}

}  // namespace
}  // namespace texton::detail
