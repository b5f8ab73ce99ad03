#!/usr/bin/env python3
"""What PyTorch and CuPy take for the images of cuda_kernel_bench.cpp, in milliseconds, as JSON: {"name": ms, ...}.

A library that is not installed is named under "missing". Times are medians of rounds of several calls between two events.
"""
import json
import statistics
import sys

ROUNDS, CALLS = 9, 5


def timed(torch, action):
    action()
    torch.cuda.synchronize()
    times = []
    for _ in range(ROUNDS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(CALLS):
            action()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / CALLS)
    return statistics.median(times)


def torch_times(torch):
    functional = torch.nn.functional
    side = 8192
    times = {}
    with torch.no_grad():
        image = torch.rand(1, 4, side, side, device="cuda")
        theta = torch.tensor([[[0.96, -0.17, 0.05], [0.17, 0.96, -0.04]]], device="cuda")
        grid = functional.affine_grid(theta, (1, 4, side, side), align_corners=False)
        for layout in (torch.contiguous_format, torch.channels_last):
            laid = image.contiguous(memory_format=layout)
            took = timed(torch, lambda: functional.grid_sample(laid, grid, mode="bilinear", align_corners=False))
            times["warp rgba32_float"] = min(took, times.get("warp rgba32_float", took))

            def pooled():
                level = laid
                while level.shape[-1] > 1:
                    level = functional.avg_pool2d(level, 2)

            took = timed(torch, pooled)
            times["mips rgba32_float"] = min(took, times.get("mips rgba32_float", took))
            took = timed(torch, lambda: functional.interpolate(laid, scale_factor=0.5, mode="bilinear", antialias=True))
            times["half rgba32_float"] = min(took, times.get("half rgba32_float", took))
            across = torch.full((4, 1, 1, 17), 1 / 17, device="cuda")
            down = across.transpose(2, 3).contiguous()

            def convolved():
                once = functional.conv2d(laid, across, padding=(0, 8), groups=4)
                functional.conv2d(once, down, padding=(8, 0), groups=4)

            took = timed(torch, convolved)
            times["gaussian rgba32_float"] = min(took, times.get("gaussian rgba32_float", took))
    return times


def cupy_times(torch, cupy):
    from cupyx.scipy import ndimage

    image = cupy.random.rand(8192, 8192, dtype=cupy.float32)
    matrix = cupy.asarray([[0.96, -0.17], [0.17, 0.96]], dtype=cupy.float32)
    return {
        "warp r32_float": timed(torch, lambda: ndimage.affine_transform(image, matrix, order=1)),
        "gaussian r32_float": timed(torch, lambda: ndimage.gaussian_filter(image, 8 / 3, truncate=3.0)),
    }


def main():
    times = {"missing": []}
    try:
        import torch
    except ImportError:
        times["missing"] = ["PyTorch", "CuPy"]
        print(json.dumps(times))
        return
    times.update(torch_times(torch))
    torch.cuda.empty_cache()
    try:
        import cupy
    except ImportError:
        times["missing"].append("CuPy")
    else:
        # On PyTorch's stream, so that its events time both.
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            times.update(cupy_times(torch, cupy))
    print(json.dumps(times))


if __name__ == "__main__":
    sys.exit(main())
