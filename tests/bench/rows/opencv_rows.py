#!/usr/bin/env python3
"""Measures kernels of the CPU device beside OpenCV's functions, row by row.

A process of texton-row-server and OpenCV take turns: both run a row once in each round. The ratio of a row is the median over
the rounds of OpenCV's time divided by Texton's, so that below 1 Texton is slower. A row is held if its ratio is 1 or more, or
0.95 or more where both sides reach 0.9 of the speed of a copy of as many bytes.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

FORMATS = {"rgba8_unorm": ("uint8", 4), "rgba32_float": ("float32", 4), "r8_unorm": ("uint8", 1), "r32_float": ("float32", 1),
           "rg8_unorm": ("uint8", 2), "rg32_float": ("float32", 2), "r16_unorm": ("uint16", 1), "rgba16_unorm": ("uint16", 4)}
SCALES = {"eighth": 0.125, "quarter": 0.25, "third": 1 / 3, "half": 0.5, "0.7": 0.7, "1.5": 1.5, "double": 2}
ROWS = ["copy", "warp_affine", "warp_functor", "warp_perspective", "remap", "color_matrix", "swizzle", "median_3", "median_5",
        "bilateral"] + [f"gaussian_{radius}" for radius in (1, 2, 4, 8)] + [
        f"{kind}_{scale}" for kind in ("nearest", "linear", "cubic", "lanczos", "area") for scale in SCALES]
NAMED = ["remap", "warp_perspective", "cubic_half", "cubic_1.5", "lanczos_1.5", "area_half", "linear_half", "linear_1.5",
         "gaussian_1", "gaussian_2", "gaussian_8", "median_3", "median_5", "bilateral", "color_matrix", "swizzle", "warp_affine"]


def image_of(np, kind, channels, side, smooth):
    count = side * side * channels
    noise = np.random.default_rng(5).integers(0, 16 if smooth else 256, count)
    codes = (np.arange(count) // 997 + noise) & 255 if smooth else noise
    values = {"uint8": codes, "uint16": codes * 257, "float32": codes / 255}[kind]
    return values.astype(kind).reshape((side, side) if channels == 1 else (side, side, channels))


def opencv_rows(cv2, np, image):
    """Returns the functions of the rows. Each returns nothing and writes an image that it allocated before."""
    side = image.shape[0]
    channels = 1 if image.ndim == 2 else image.shape[2]
    edge = cv2.BORDER_REPLICATE
    whole = np.empty_like(image)
    inverse = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    affine = np.float32([[0.96, -0.17, side * 0.05], [0.17, 0.96, side * -0.04]])
    perspective = np.float32([[0.96, -0.17, 400], [0.17, 0.96, -300], [-1e-5, -1e-5, 1]])
    matrix = np.float32([[0.8, 0.07, 0.07, 0.07], [0.07, 0.8, 0.07, 0.07], [0.07, 0.07, 0.8, 0.07], [0, 0, 0, 1]])
    range_sigma = 25.5 if image.dtype == np.uint8 else 0.1
    rows = {
        "copy": lambda: np.copyto(whole, image),
        "warp_affine": lambda: cv2.warpAffine(image, affine, (side, side), whole, inverse, borderMode=edge),
        "warp_perspective": lambda: cv2.warpPerspective(image, perspective, (side, side), whole, inverse, borderMode=edge),
        "median_3": lambda: cv2.medianBlur(image, 3, whole),
        "median_5": lambda: cv2.medianBlur(image, 5, whole),
        "bilateral": lambda: cv2.bilateralFilter(image, 9, range_sigma, 2),
    }
    rows["warp_functor"] = rows["warp_affine"]
    if channels == 4:
        rows["color_matrix"] = lambda: cv2.transform(image, matrix, whole)
        rows["swizzle"] = lambda: cv2.cvtColor(image, cv2.COLOR_BGRA2RGBA, whole)
    for radius in (1, 2, 4, 8):
        size, sigma = (2 * radius + 1, 2 * radius + 1), radius / 3 + 0.3
        rows[f"gaussian_{radius}"] = lambda size=size, sigma=sigma: cv2.GaussianBlur(image, size, sigma, whole, borderType=edge)
    kinds = {"nearest": cv2.INTER_NEAREST, "linear": cv2.INTER_LINEAR, "cubic": cv2.INTER_CUBIC,
             "lanczos": cv2.INTER_LANCZOS4, "area": cv2.INTER_AREA}

    def resized(kind, scale):
        to = int(side * scale)
        target = np.empty((to, to) + image.shape[2:], image.dtype)
        return lambda: cv2.resize(image, (to, to), target, interpolation=kind)

    for name, kind in kinds.items():
        for scale, factor in SCALES.items():
            rows[f"{name}_{scale}"] = lambda kind=kind, factor=factor: resized(kind, factor)  # made when it is needed

    y, x = np.mgrid[0:side, 0:side].astype(np.float32)
    map_x = (0.96 * x - 0.17 * y + side * 0.05 - 0.5).astype(np.float32)
    map_y = (0.17 * x + 0.96 * y - side * 0.04 - 0.5).astype(np.float32)
    rows["remap"] = lambda: cv2.remap(image, map_x, map_y, cv2.INTER_LINEAR, whole, borderMode=edge)
    return rows


class Server:
    def __init__(self, program, threads):
        command = [program]
        if threads == 1:
            command = ["taskset", "-c", str(min(os.sched_getaffinity(0))), program]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, request):
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def measure(cv2, np, server, options):
    results = []
    for side in options.sides:
        rounds = 5 if side > 4096 else 11
        for format_name in options.formats:
            kind, channels = FORMATS[format_name]
            for data in options.data:
                image = image_of(np, kind, channels, side, data == "smooth")
                peers = opencv_rows(cv2, np, image)
                for row in options.rows:
                    if row not in peers:
                        continue
                    peer = peers[row]
                    if "_" in row and row.split("_", 1)[0] in ("nearest", "linear", "cubic", "lanczos", "area"):
                        peer = peer()
                    try:
                        peer()
                    except cv2.error:
                        continue  # OpenCV has no such function for this format
                    if server.ask(f"prepare {row} {format_name} {side} {data}") != "ready":
                        continue
                    times = []
                    for _ in range(rounds):
                        ours = float(server.ask("run"))
                        begin = time.perf_counter()
                        peer()
                        times.append((ours, time.perf_counter() - begin))
                    ratio = statistics.median(theirs / ours for ours, theirs in times)
                    texton, opencv = (statistics.median(side_of) * 1000 for side_of in zip(*times))
                    results.append({"row": row, "format": format_name, "data": data, "side": side, "ratio": ratio,
                                    "texton": texton, "opencv": opencv})
                    print(f"{row:18} {format_name:13} {data:7} {side:5}  texton {texton:9.3f} ms  opencv {opencv:9.3f} ms  "
                          f"ratio {ratio:5.2f}", flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", default="texton-row-server", help="the program (default: search PATH)")
    parser.add_argument("--threads", type=int, default=1, help="1, or 0 for all")
    parser.add_argument("--sides", type=int, nargs="+", default=[512, 2048])
    parser.add_argument("--formats", nargs="+", default=["rgba8_unorm", "rgba32_float", "r8_unorm"], choices=FORMATS)
    parser.add_argument("--data", nargs="+", default=["smooth", "noise"], choices=["smooth", "noise"])
    parser.add_argument("--rows", nargs="+", default=NAMED, help=f"of {', '.join(ROWS)}")
    parser.add_argument("--out", help="write the measurements to this file, as JSON")
    options = parser.parse_args()
    import cv2
    import numpy as np

    if options.threads == 1:
        cv2.setNumThreads(1)
    server = Server(options.server, options.threads)
    print(f"OpenCV {cv2.__version__}, {'one thread' if options.threads == 1 else 'all threads'}", flush=True)
    results = measure(cv2, np, server, options)
    behind = [each for each in results if each["ratio"] < 1]
    print(f"{len(results)} rows, {len(behind)} below 1")
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({"opencv": cv2.__version__, "threads": options.threads, "rows": results}, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
