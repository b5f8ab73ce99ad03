#!/usr/bin/env python3
"""Measures `texton batch` beside other programs that resize many photographs, and with many small images.

Each program reads JPEG files of 4000 x 3000 and writes them as JPEG files of 1000 x 750, on the same number of processors. The
programs run in turn, several times, and the table has the best time of each: seconds of the clock, seconds of processor
time, and the largest amount of memory that all processes had together (their proportional set size, so that shared pages
count once). The ratio compares with `texton batch`: above 1, Texton takes less.

--small N measures N PNG files of 64 x 64 instead, whose exposure is changed, beside a program that only decodes and encodes
them (texton-recode-files). A quarter of the files is measured as well, so that the time of an image does not contain the
start of the processes.

needs: texton, texton-photo-files and texton-recode-files (build them with -DTEXTON_BENCH=ON); libvips-tools and imagemagick to compare with
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time


def processes_of(group):
    """Returns the ids of all processes of a session."""
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            fields = pathlib.Path(entry.path, "stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[3]) == group:
            found.append(int(entry.name))
    return found


def memory_of(process):
    """Returns the proportional set size in KiB, or 0 if the process has ended."""
    try:
        for line in pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def measure(command, folder):
    """Runs a shell command. Returns seconds of the clock, seconds of processor time, and the peak memory in MiB."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    running = subprocess.Popen(command, shell=True, start_new_session=True, stdout=subprocess.DEVNULL)
    peak = 0
    ended = threading.Event()

    def watch():
        nonlocal peak
        while not ended.wait(0.05):
            peak = max(peak, sum(memory_of(each) for each in processes_of(running.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    status = running.wait()
    seconds = time.monotonic() - begin
    ended.set()
    watcher.join()
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    if status != 0:
        sys.exit(f"tests/bench/batch.py: this command failed: {command}")
    return seconds, now.ru_utime - used.ru_utime + now.ru_stime - used.ru_stime, peak / 1024


def measure_small(options):
    """Prints what an image costs in a batch of small images, beside decoding and encoding it."""
    texton = options.bin.resolve() / "texton"
    with tempfile.TemporaryDirectory(dir=options.folder) as work_name:
        work = pathlib.Path(work_name)
        images, part, pipeline = work / "images", work / "part", work / "pipeline.json"
        subprocess.run([options.bench.resolve() / "texton-photo-files", images, str(options.small), "64", "64", "png"],
                       check=True)
        part.mkdir()
        for image in sorted(images.iterdir())[: options.small // 4]:
            os.link(image, part / image.name)
        pipeline.write_text('{"steps": [{"kernel": "exposure", "parameters": {}}]}')
        programs = {
            "texton batch": f"{texton} batch {pipeline} IN -o 'OUT/{{stem}}.png' --device cpu --workers {options.jobs}",
            "decode, encode": f"{options.bench.resolve() / 'texton-recode-files'} IN OUT {options.jobs}",
        }
        best = {}
        for turn in range(options.rounds):
            for name, command in programs.items():
                for folder in (images, part):
                    # Nothing is deleted until the end: ext4 avoids inodes that were deleted recently, which takes long.
                    out = work / f"{name.split()[0]}-{folder.name}-{turn}"
                    result = measure(command.replace("IN", str(folder)).replace("OUT", str(out)), out)[:2]
                    files = len(list(out.glob("*.png")))
                    if files != len(list(folder.iterdir())):
                        sys.exit(f"tests/bench/batch.py: {name} wrote {files} files")
                    known = best.get((name, folder), result)
                    best[name, folder] = tuple(map(min, known, result))
        more = options.small - options.small // 4
        print(f"{options.small} images of 64 x 64, {options.jobs} processes or threads at once")
        print(f"{'program':16} {'seconds':>8} {'processor':>10} {'ms of an image':>15} {'processor ms':>13}")
        per_image = {}
        for name in programs:
            whole, quarter = best[name, images], best[name, part]
            per_image[name] = [(a - b) * 1000 / more for a, b in zip(whole, quarter)]
            print(f"{name:16} {whole[0]:8.2f} {whole[1]:10.2f} {per_image[name][0]:15.3f} {per_image[name][1]:13.3f}")
        ours, least = per_image.values()
        print(f"an image takes {ours[1] - least[1]:.3f} ms of processor time more, and {ours[0] / least[0]:.2f} times the "
              "time of the clock")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of texton")
    parser.add_argument("--bench", type=pathlib.Path, required=True, help="folder of texton-photo-files")
    parser.add_argument("--count", type=int, default=24, help="number of photographs (default: 24)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once (default: all processors)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program (default: 3)")
    parser.add_argument("--small", type=int, metavar="N", help="measure N images of 64 x 64 instead")
    parser.add_argument("--folder", type=pathlib.Path, help="folder of the files (default: that of temporary files)")
    options = parser.parse_args()
    if options.small:
        measure_small(options)
        return
    texton = options.bin.resolve() / "texton"
    with tempfile.TemporaryDirectory(dir=options.folder) as work_name:
        work = pathlib.Path(work_name)
        photos, out = work / "photos", work / "out"
        subprocess.run([options.bench.resolve() / "texton-photo-files", photos, str(options.count)], check=True)
        first = next(photos.iterdir())
        pipeline = work / "small.json"
        subprocess.run([texton, "run", "resample", first, "-o", work / "first.jpg", "--size", "1000x750", "--device",
                        "cpu", "--save-pipeline", pipeline], check=True, stdout=subprocess.DEVNULL)
        jobs = options.jobs
        # xargs gives each process one file, as `vips resize` needs, or a few.
        names = f"ls {photos}/*.jpg | xargs -P {jobs}"
        programs = {
            "texton batch": (texton, f"{texton} batch {pipeline} {photos} -o '{out}/{{stem}}.jpg' --device cpu "
                                     f"--workers {jobs}"),
            "batch --jpeg shrink": (texton, f"{texton} batch {pipeline} {photos} -o '{out}/{{stem}}.jpg' --device cpu "
                                            f"--workers {jobs} --jpeg shrink"),
            "vips resize": ("vips", f"VIPS_CONCURRENCY=1 {names} -I IN sh -c "
                                    f"'vips resize IN {out}/$(basename IN) 0.25'"),
            "mogrify -resize": ("mogrify", f"MAGICK_THREAD_LIMIT=1 {names} -n 4 "
                                           f"mogrify -path {out} -resize 1000x750!"),
            "vipsthumbnail": ("vipsthumbnail", f"VIPS_CONCURRENCY=1 {names} -n 4 "
                                               f"vipsthumbnail --size 1000x750 -o {out}/%s.jpg"),
        }
        best = {}
        for _ in range(options.rounds):
            for name, (program, command) in programs.items():
                if shutil.which(program) is None:
                    continue
                result = measure(command, out)
                files = len(list(out.glob("*.jpg")))
                if files != options.count:
                    sys.exit(f"tests/bench/batch.py: {name} wrote {files} of {options.count} files")
                known = best.get(name, result)
                best[name] = (min(known[0], result[0]), min(known[1], result[1]), max(known[2], result[2]))
        base = best["texton batch"]
        print(f"{options.count} photographs, {jobs} processes at once")
        print(f"{'program':19} {'seconds':>8} {'ratio':>6} {'processor':>10} {'ratio':>6} {'MiB':>6} {'ratio':>6}")
        for name, result in best.items():
            print(f"{name:19} {result[0]:8.2f} {result[0] / base[0]:6.2f} {result[1]:10.2f} "
                  f"{result[1] / base[1]:6.2f} {result[2]:6.0f} {result[2] / base[2]:6.2f}")
        for name in programs:
            if name not in best:
                print(f"{name}: not installed")


main()
