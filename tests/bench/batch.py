#!/usr/bin/env python3
"""Measures `texton batch` beside other programs that resize many photographs.

Each program reads JPEG files of 4000 x 3000 and writes them as JPEG files of 1000 x 750, on the same number of processors. The
programs run in turn, several times, and the table has the best time of each: seconds of the clock, seconds of processor
time, and the largest amount of memory that all processes had together (their proportional set size, so that shared pages
count once). The ratio compares with `texton batch`: above 1, Texton takes less.

needs: texton and texton-photo-files (build them with -DTEXTON_BENCH=ON); libvips-tools and imagemagick to compare with
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of texton")
    parser.add_argument("--bench", type=pathlib.Path, required=True, help="folder of texton-photo-files")
    parser.add_argument("--count", type=int, default=24, help="number of photographs (default: 24)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once (default: all processors)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program (default: 3)")
    options = parser.parse_args()
    texton = options.bin.resolve() / "texton"
    with tempfile.TemporaryDirectory() as work_name:
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
        print(f"{'program':16} {'seconds':>8} {'ratio':>6} {'processor':>10} {'ratio':>6} {'MiB':>6} {'ratio':>6}")
        for name, result in best.items():
            print(f"{name:16} {result[0]:8.2f} {result[0] / base[0]:6.2f} {result[1]:10.2f} "
                  f"{result[1] / base[1]:6.2f} {result[2]:6.0f} {result[2] / base[2]:6.2f}")
        for name in programs:
            if name not in best:
                print(f"{name}: not installed")


main()
