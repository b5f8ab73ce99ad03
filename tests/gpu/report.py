#!/usr/bin/env python3
"""Prints the results of tests/gpu/run as a table and writes RECORD.md. Exit status 1 if a test failed, a test was skipped for an
unknown reason, or a CUDA call is missing."""
import argparse
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Reasons for which a test may be skipped on a machine with a GPU. `one` is true if there is only one GPU.
KNOWN_SKIPS = [
    (re.compile("needs a second device"), lambda one: one),
    (re.compile("the test runs on the CUDA device"), lambda one: True),
    (re.compile("runs on the CPU device$"), lambda one: True),
    (re.compile("root may write every file"), lambda one: True),
    # tests of functions on vectors, with an instruction set for which there are none
    (re.compile("^(texels are decoded one by one|the functors run|there are no fused multiply-adds)$"), lambda one: True),
    (re.compile("was not found$"), lambda one: True),  # a program that was not copied to this machine, or a Python library
]
CHAPTERS = {"memory": "memory management", "pools": "stream-ordered allocator", "driver": "physical memory, sparse and planar arrays"}
SIZES = {"memory": 60, "pools": 17, "driver": 13}


class Calls:
    """The list of CUDA functions and the functions that were called."""

    def __init__(self, listed, recorded, one_gpu):
        rows = [line.split(None, 2) for line in listed.read_text().splitlines() if line and not line.startswith("#")]
        self.chapter = {row[0]: row[1] for row in rows}
        marks = {row[0]: row[2].strip() if len(row) > 2 else "" for row in rows}
        for chapter, size in SIZES.items():
            found = sum(1 for name in self.chapter if self.chapter[name] == chapter)
            if found != size or len(rows) != len(self.chapter):
                sys.exit(f"{listed}: {found} functions of {CHAPTERS[chapter]} are listed, but there are {size}")
        called = set(recorded.read_text().split()) if recorded.exists() else set()
        self.called, self.excused, self.missing = [], [], []
        for name, mark in marks.items():
            if name in called or (mark.startswith("is ") and mark[3:] in called):
                self.called.append(name)
            elif mark == "peer" and one_gpu:
                self.excused.append(name)
            else:
                self.missing.append(name)

    def count(self, *chapters):
        called = sum(1 for name in self.called if self.chapter[name] in chapters)
        return f"{called} of {sum(SIZES[chapter] for chapter in chapters)}"


class Tests:
    """Results from the XML files of GoogleTest and of `texton verify`."""

    def __init__(self):
        self.passed, self.failed, self.skipped, self.properties = 0, [], [], {}

    def add(self, program, path, status):
        if not path.exists():
            self.failed.append((f"{program}: ended with status {status} without a result file", ""))
            return
        passed, failed = self.passed, len(self.failed)
        for case in xml.parse(path).getroot().iter("testcase"):
            if case.get("status") == "notrun":
                continue  # disabled, or filtered out
            name = f"{case.get('classname')}.{case.get('name')}"
            for entry in case.iter("property"):
                self.properties[entry.get("name")] = entry.get("value")
            skip = case.find("skipped")
            failure = next((entry for entry in case if entry.tag in ("failure", "error")), None)
            if failure is not None:
                text = " ".join((failure.get("message") or "").split()).replace(f"{ROOT}/", "")
                self.failed.append((name, text[:400]))
            elif skip is not None:
                self.skipped.append((name, reason(skip)))
            else:
                self.passed += 1
        if status != 0 and len(self.failed) == failed:
            self.failed.append((f"{program}: every test passed, but the program ended with status {status}", ""))
        if self.passed == passed and len(self.failed) == failed:
            self.failed.append((f"{program}: no test passed", ""))

    def unexpected(self, one_gpu):
        def known(text):
            return any(pattern.search(text) and allowed(one_gpu) for pattern, allowed in KNOWN_SKIPS)

        return [(name, text) for name, text in self.skipped if not known(text)]


def reason(element):
    """Returns the last line that is not empty. The first lines contain a file name and "Skipped"."""
    text = element.get("message") or element.text or ""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else ""


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]


def grouped(pairs):
    """Groups (name, reason) pairs by reason, with the number and the names of the tests."""
    by_reason = {}
    for name, text in pairs:
        by_reason.setdefault(text, []).append(name)
    return [f"- {len(names)} times *{text}*: {', '.join(names)}" for text, names in sorted(by_reason.items())]


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calls", type=pathlib.Path, required=True, help="list of CUDA functions")
    options.add_argument("--work", type=pathlib.Path, required=True, help="folder of PROGRAM.xml, calls.txt and bench.json")
    options.add_argument("--ran", action="append", required=True, metavar="PROGRAM=STATUS", help="exit status of a suite")
    options.add_argument("--commit", default="unknown")
    options.add_argument("--out", type=pathlib.Path, required=True, help="path of RECORD.md")
    given = options.parse_args()

    tests = Tests()
    for ran in given.ran:
        program, status = ran.split("=")
        tests.add(program, given.work / f"{program}.xml", int(status))
    gpus = int(tests.properties.get("cuda_devices", 0))
    calls = Calls(given.calls, given.work / "calls.txt", gpus == 1)
    unexpected = tests.unexpected(gpus == 1)
    driver = given.work / "driver.txt"
    release = driver.read_text().splitlines()[0].strip() if driver.exists() and driver.stat().st_size else "unknown"
    bench = json.loads((given.work / "bench.json").read_text()) if (given.work / "bench.json").exists() else None

    def property_of(name):
        return tests.properties.get(name, "unknown")

    summary = [
        ("device", f"{gpus} x {property_of('cuda_device')}, compute capability {property_of('cuda_compute')}"),
        ("driver", f"{release}, CUDA {property_of('cuda_driver')}"),
        ("toolkit", f"CUDA runtime {property_of('cuda_runtime')}"),
        ("commit", given.commit),
        ("tests", f"{tests.passed} passed, {len(tests.failed)} failed, {len(tests.skipped)} skipped"),
        ("CUDA calls", f"runtime {calls.count('memory', 'pools')}, driver {calls.count('driver')}"),
    ]
    if bench:
        judged = [row for row in bench["results"] if row["verdict"] != "-"]
        reached = sum(1 for row in judged if row["verdict"] == "ok")
        summary.append(("benchmarks", f"{reached} of {len(judged)} targets reached"))
    else:
        summary.append(("benchmarks", "not run"))

    lines = ["# Last results on a GPU", "", "Written by `tests/gpu/run`.", ""]
    lines += table(("what", "value"), summary)
    lines += ["", "## Tests", ""]
    if tests.failed:
        lines += ["Failed:", ""] + [f"- {name} {text}".rstrip() for name, text in tests.failed] + [""]
    if unexpected:
        lines += ["Skipped for an unknown reason, which counts as failed:", ""] + grouped(unexpected) + [""]
    expected = [pair for pair in tests.skipped if pair not in unexpected]
    if expected:
        lines += ["Skipped as expected on this machine:", ""] + grouped(expected) + [""]
    if not tests.skipped and not tests.failed:
        lines += ["All tests passed, none was skipped.", ""]
    lines += ["## CUDA calls", ""]
    lines += table(("chapter", "called successfully"), [(CHAPTERS[c], calls.count(c)) for c in CHAPTERS]) + [""]
    groups = (
        ("Missing", calls.missing),
        ("Not called, because they need two GPUs", calls.excused),
    )
    for title, names in groups:
        if names:
            lines += [f"{title}: {', '.join(f'`{name}`' for name in names)}.", ""]
    lines += ["## Benchmarks", ""]
    if bench:
        rows = [
            (row["name"], f"{row['ours']:.2f} {row['unit']}", f"{row['peer']:.2f} {row['unit']}", f"{row['ratio']:.3f}",
             row["target"], row["verdict"])
            for row in bench["results"]
        ]
        lines += ["Compared with the plain CUDA call, or with the peer in the name, in the same run.", ""]
        lines += table(("what", "Texton", "peer", "ratio", "target", ""), rows)
        lines += [""] + [f"- {note}" for note in bench["notes"]] if bench["notes"] else []
    else:
        lines += ["Not run."]
    for title, name in (("compute-sanitizer", "sanitizer.md"), ("Bottlenecks of the kernels", "bounds.md")):
        lines += ["", f"## {title}", "", pathlib.Path(__file__).with_name(name).read_text().rstrip()]
    given.out.write_text("\n".join(lines).rstrip() + "\n")

    width = max(len(name) for name, _ in summary)
    for name, text in summary:
        print(f"{name:{width}}  {text}")
    for name, text in tests.failed:
        print(f"FAILED   {name} {text}")
    for name, text in unexpected:
        print(f"SKIPPED  {name}: {text}")
    for name in calls.missing:
        print(f"MISSING  {name}")
    for row in bench["results"] if bench else []:
        if row["verdict"] == "MISS":
            print(f"SLOW     {row['name']}: {row['ratio']:.3f}, target {row['target']}")
    print(f"written to {given.out}")
    return 1 if tests.failed or unexpected or calls.missing else 0


if __name__ == "__main__":
    sys.exit(main())
