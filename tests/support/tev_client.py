#!/usr/bin/env python3
"""A client of tev's protocol: sends a packet of each type and version.

usage: tev_client.py PORT SCENARIO [NAME]
"""
import socket
import struct
import sys


def text(value):
    return value.encode() + b"\0"


def packet(kind, body):
    return struct.pack("<IB", 5 + len(body), kind) + body


def open_image(path, focus=True):
    return packet(0, struct.pack("<B", focus) + text(path))


def open_image_2(path, channels="", focus=True):
    return packet(7, struct.pack("<B", focus) + text(path) + text(channels))


def reload_image(name, focus=False):
    return packet(1, struct.pack("<B", focus) + text(name))


def close_image(name):
    return packet(2, text(name))


def create_image(name, width, height, channels, focus=True):
    body = struct.pack("<B", focus) + text(name) + struct.pack("<iii", width, height, len(channels))
    return packet(4, body + b"".join(map(text, channels)))


def update_image(name, channel, x, y, width, height, values, focus=False):
    body = struct.pack("<B", focus) + text(name) + text(channel) + struct.pack("<iiii", x, y, width, height)
    return packet(3, body + struct.pack(f"<{len(values)}f", *values))


def update_image_2(name, channels, x, y, width, height, values, focus=False):
    body = struct.pack("<B", focus) + text(name) + struct.pack("<i", len(channels)) + b"".join(map(text, channels))
    return packet(5, body + struct.pack("<iiii", x, y, width, height) + struct.pack(f"<{len(values)}f", *values))


def update_image_3(name, channels, x, y, width, height, offsets, strides, values, focus=False):
    body = struct.pack("<B", focus) + text(name) + struct.pack("<i", len(channels)) + b"".join(map(text, channels))
    body += struct.pack("<iiii", x, y, width, height)
    body += struct.pack(f"<{len(channels)}q", *offsets) + struct.pack(f"<{len(channels)}q", *strides)
    return packet(6, body + struct.pack(f"<{len(values)}f", *values))


def vector_graphics(name, commands, append=False, focus=False):
    body = struct.pack("<B", focus) + text(name) + struct.pack("<Bi", append, len(commands))
    for verb, *numbers in commands:
        strings = [text(each) for each in numbers if isinstance(each, str)]
        floats = [each for each in numbers if not isinstance(each, str)]
        body += struct.pack(f"<B{len(floats)}f", verb, *floats) + b"".join(strings)
    return packet(8, body)


def interleaved(name, frame, width, height):
    values = [float(frame)] * (width * height * 3)
    return update_image_3(name, ["R", "G", "B"], 0, 0, width, height, [0, 1, 2], [3, 3, 3], values)


SCENARIOS = {
    "open": lambda: [open_image_2(sys.argv[3])],
    "close": lambda: [close_image(sys.argv[3])],
    "images": lambda: [
        create_image("colors", 4, 3, ["R", "G", "B"]),
        # texel i of three interleaved channels
        update_image_3("colors", ["R", "G", "B"], 0, 0, 4, 3, [0, 1, 2], [3, 3, 3], [float(i) for i in range(36)]),
        # two channels one after the other, in a part of the image
        update_image_2("colors", ["B", "R"], 1, 1, 2, 1, [100.0, 101.0, 200.0, 201.0]),
        update_image("colors", "G", 3, 2, 1, 1, [300.0]),
        create_image("layers", 2, 1, ["a.Y", "b.Y"], False),
        update_image("layers", "b.Y", 0, 0, 2, 1, [5.0, 6.0]),
    ],
    "requests": lambda: [
        open_image("a.exr:R,G", False),
        open_image_2("b:2.exr", "RGB"),
        reload_image("a.exr", True),
        create_image("kept", 1, 1, ["Y"], False),
        close_image("gone"),
    ],
    "graphics": lambda: [
        create_image("drawn", 8, 8, ["R", "G", "B"]),
        vector_graphics("drawn", [(6,), (18, 2.0, 2.0, 4.0, 4.0), (2, 1.0, 0.0, 0.0, 1.0), (3,)]),
        vector_graphics("drawn", [(21, 2.0, 3.0, "label"), (20, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)], True),
    ],
    "wrong type": lambda: [packet(9, b"\0\0")],
    "too few values": lambda: [
        create_image("short", 4, 4, ["R"]),
        update_image("short", "R", 0, 0, 4, 4, [1.0] * 15),
    ],
    "outside": lambda: [
        create_image("small", 2, 2, ["R"]),
        update_image("small", "R", 1, 1, 2, 2, [1.0] * 4),
    ],
    "too large": lambda: [create_image("huge", 2**31 - 1, 2**31 - 1, ["R"])],
    "too long": lambda: [struct.pack("<IB", 0xFFFFFFFF, 4)],
    "half": lambda: [create_image("half", 2, 2, ["R"])[:-3]],
    "unknown image": lambda: [update_image("nobody", "R", 0, 0, 1, 1, [1.0]), create_image("after", 1, 1, ["R"])],
}


def main():
    port, scenario = int(sys.argv[1]), sys.argv[2]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        try:
            connection.sendall(b"".join(SCENARIOS[scenario]()))
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)  # returns when the server has read everything and closes
        except OSError:
            pass  # it closes in the middle of a wrong packet


if __name__ == "__main__":
    main()
