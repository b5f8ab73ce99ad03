#include "tests/support/scenes.h"

#include <string>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/linear.h>

namespace texton::test {
std::vector<Sampler> samplers(Filter filter) {
    std::vector<Sampler> all;
    for (const AddressMode mode : {AddressMode::clamp, AddressMode::border})
        all.push_back({.address = {mode, mode}, .filter = filter, .border = {0.25f, 0.5f, 0.75f, 1}});
    for (const AddressMode mode : {AddressMode::wrap, AddressMode::mirror})
        all.push_back({.address = {mode, mode}, .filter = filter, .normalized_coordinates = true});
    return all;
}

Bytes any_bits(Random& random, std::size_t count) {
    Bytes bytes(count);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.bits());
    return bytes;
}

void on_every_scene(Filter filter, const std::function<void(const Scene&)>& check) {
    Random random(7);
    for (const Format format : kFormats) {
        for (const Sampler& sampler : samplers(filter)) {
            for (const bool layered : {false, true}) {
                const bool large = random.below(32) == 0;
                const Extent extent{random.between(1, large ? 1100 : 40), random.between(1, large ? 150 : 20)};
                const ArrayInfo info{.format = format,
                                     .extent = extent,
                                     .kind = layered ? ArrayKind::layered_2d : ArrayKind::array_2d,
                                     .layers = layered ? std::size_t{3} : 1};
                const Array array(Device::cpu(), info);
                const std::size_t bytes = box_bytes(format, level_box(info, 0));
                upload(array.view(), random.coin() ? any_bits(random, bytes) : random_texels(random, format, bytes));
                SCOPED_TRACE(describe(info) + ", address " + std::to_string(static_cast<int>(sampler.address[0])));
                check({Texture(array, sampler), extent, info.layers, format});
            }
        }
    }
}

Bytes made(const View& whole, const View& image, const Make& make) {
    const Stream stream(Device::cpu());
    upload(whole, Bytes(box_bytes(whole.format(), whole.extent()), std::byte{0x5a}));
    make(stream, image);
    stream.synchronize();
    return download(whole);
}

void expect_same(const View& whole, const Extent& extent, const Make& fast, const Make& plain) {
    const View box = whole.region({{1, 1, 0}, extent});
    EXPECT_TRUE(same_bytes(made(whole, box, fast), made(whole, box, plain))) << name(whole.format());
}

void expect_same(const Scene& scene, Extent extent, const Make& fast, const Make& plain) {
    extent.depth = scene.layers;
    const Extent around{extent.width + 3, extent.height + 2, extent.depth};
    for (const Format format : {scene.format, Format::rgba32_float, Format::rg16_uint}) {
        const Linear memory(Device::cpu(), format, around);
        expect_same(memory.view(format, around), extent, fast, plain);
    }
    const Array array(Device::cpu(), {.format = Format::rgba8_unorm,
                                      .extent = {around.width, around.height},
                                      .kind = ArrayKind::layered_2d,
                                      .layers = around.depth});
    expect_same(array.view(), extent, fast, plain);
}

}  // namespace texton::test
