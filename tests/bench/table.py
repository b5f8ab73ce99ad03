#!/usr/bin/env python3
"""One table of kernels.json (texton-bench --out) and peers.json (peers.py): times in microseconds, ours beside theirs."""
import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)["results"]
    with open(sys.argv[2], encoding="utf-8") as file:
        peers = json.load(file)
    print(f"{'kernel':<34}{'ours us':>10}{'peer us':>10}{'ratio':>8}{'of the limit':>14}")
    for row in rows:
        _, group, name = row["name"].split("/", 2)
        name = name.rsplit(" (", 1)[0]
        if group == "graph":
            print(f"{name + ', in a graph':<34}{row['ours']:>10.1f}{row['peer']:>10.1f}{row['peer'] / row['ours']:>8.2f}")
            continue
        theirs = peers.get(name)
        beside = f"{theirs * 1000:>10.1f}{theirs * 1000 / row['ours']:>8.2f}" if theirs else f"{'':>18}"
        print(f"{name:<34}{row['ours']:>10.1f}{beside}{row['ratio']:>14.3f}")
    for library in peers["missing"]:
        print(f"{library} is not installed: its times are missing")


if __name__ == "__main__":
    main()
