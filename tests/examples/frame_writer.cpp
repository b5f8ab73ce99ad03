#include <texton/frame_writer.h>

#include <iostream>

#include <texton/fill.h>

void frame_writer_example() {
    const texton::PlanarArray frame(texton::Device::best(), texton::Format::nv12, {64, 36});
    texton::fill(frame.plane(1).view(), 128);  // gray
    texton::FrameWriter clip("clip.y4m", {{.name = "y4m:frame_rate", .value = "25:1"}});
    for (int i = 0; i < 10; ++i) {
        texton::fill(frame.plane(0).view(), 20 * i);
        clip.write(texton::image_of(frame));
    }
    clip.complete();  // until here, clip.y4m does not exist

    const texton::ImageFile last = texton::open_image("clip.y4m", {.frame = 9});
    std::vector<std::byte> luma(64 * 36);
    last.plane(0).read({}, luma);
    std::cout << last.metadata().frames << " frames, luma of the last one: " << std::to_integer<int>(luma[0]) << '\n';
}

// Prints:
// 10 frames, luma of the last one: 180
