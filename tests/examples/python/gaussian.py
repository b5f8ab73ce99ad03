#!/usr/bin/env python3
"""Filters an image of another library with Texton, on the device that has the image, and returns an image of that library.

    gaussian.py MODULE numpy|torch|cupy    MODULE is the shared library of gaussian.cpp
"""
import ctypes
import importlib
import sys

module = ctypes.CDLL(sys.argv[1])
module.gaussian.argtypes = [ctypes.c_void_p, ctypes.c_float]
module.gaussian.restype = ctypes.c_void_p
module.gaussian_failure.restype = ctypes.c_char_p
python = ctypes.pythonapi
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

# Capsules do not copy their names, so these objects must exist as long as the capsules.
TENSOR, USED_TENSOR = b"dltensor", b"used_dltensor"
K_DL_CUDA = 2


class Result:
    """A tensor of Texton, for the from_dlpack() of a library, which takes it."""

    def __init__(self, tensor, device):
        self.tensor, self.device = tensor, device

    def __dlpack__(self, **_):
        return python.PyCapsule_New(self.tensor, TENSOR, None)

    def __dlpack_device__(self):
        return self.device


def gaussian(image, sigma):
    device = image.__dlpack_device__()
    # 1 is the legacy default stream of CUDA. The library makes it wait for the work that computes the image.
    capsule = image.__dlpack__(stream=1) if device[0] == K_DL_CUDA else image.__dlpack__()
    tensor = python.PyCapsule_GetPointer(capsule, TENSOR)
    python.PyCapsule_SetName(capsule, USED_TENSOR)  # the module owns the tensor
    result = module.gaussian(tensor, sigma)
    if not result:
        raise RuntimeError(module.gaussian_failure().decode())
    return Result(result, device)


def main():
    name = sys.argv[2]
    library = importlib.import_module(name)
    devices = {"numpy": [{}], "torch": [{"device": "cpu"}, {"device": "cuda"}], "cupy": [{}]}
    for options in devices[name]:
        image = library.zeros((64, 96, 4), dtype=library.float32, **options)
        image[:, 48:] = 1  # a vertical edge
        blurred = library.from_dlpack(gaussian(image, 2.0))
        row = " ".join(f"{float(blurred[32, x, 0]):.4f}" for x in range(45, 51))
        print(f"{name} {options.get('device', '')} {tuple(blurred.shape)}: {row}")
        assert row == "0.1028 0.2239 0.4002 0.5998 0.7761 0.8972", row
        try:
            gaussian(library.zeros((8, 8, 3), dtype=library.float32, **options), 2.0)
            raise AssertionError("no format has three channels")
        except RuntimeError as error:
            print(error)


main()
