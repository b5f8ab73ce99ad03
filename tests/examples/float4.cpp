#include <texton/float4.h>

#include <iostream>

#include <texton/float3.h>

// What functors compute with. All devices return the same bits.
void float4_example() {
    const texton::Float4 red{1, 0, 0, 1}, glass{0, 0.5f, 0, 0.5f};
    const texton::Float4 over = red * (1 - glass.w) + glass;  // colors are multiplied by alpha
    std::cout << over.x << ' ' << over.y << ' ' << over.z << ' ' << over.w << '\n';
    const texton::Float4 bright = saturate(fma(over, 4, texton::Float4::all(-1)));
    std::cout << bright.x << ' ' << bright.y << ' ' << bright.z << ' ' << bright.w << '\n';

    const texton::Float3 normal = normalize(cross(texton::Float3{2, 0, 0}, texton::Float3{0, 3, 0}));
    const texton::Float4 shaded = with_alpha(rgb_of(red) * dot(normal, texton::Float3{0, 0.6f, 0.8f}), 1);
    std::cout << shaded.x << ' ' << shaded.y << ' ' << shaded.z << ' ' << shaded.w << '\n';
}

// Prints:
// 0.5 0.5 0 1
// 1 1 0 1
// 0.8 0 0 1
