#!/usr/bin/env python3
"""Exchanges tensors between NumPy and Texton in both directions. The argument is the library of tests/support/modules/exchange.cpp."""
import ctypes
import sys

import numpy

texton = ctypes.CDLL(sys.argv[1])
texton.exchange_export.restype = ctypes.c_void_p
texton.exchange_import.argtypes = [ctypes.c_void_p]
texton.exchange_import.restype = ctypes.c_double
texton.exchange_free_bytes.restype = ctypes.c_uint64
python = ctypes.pythonapi
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

NEW, USED = b"dltensor", b"used_dltensor"


class Exported:
    """An image of Texton, for numpy.from_dlpack()."""

    def __dlpack__(self, stream=None):
        return python.PyCapsule_New(texton.exchange_export(), NEW, None)

    def __dlpack_device__(self):
        return (1, 0)  # kDLCPU


def from_texton():
    texton.exchange_free_bytes(0)
    first = numpy.from_dlpack(Exported())
    expected = numpy.arange(30, dtype=numpy.uint16).reshape(3, 5, 2)
    assert first.dtype == numpy.uint16 and first.shape == (3, 5, 2), first
    assert first.strides[0] > 20, "the rows of the image have padding"
    assert (first == expected).all(), first
    free = texton.exchange_free_bytes(0)
    second = numpy.from_dlpack(Exported())
    part = second[1:, 2:4]
    del second
    assert texton.exchange_free_bytes(0) < free, "a part keeps the image alive"
    assert (part == expected[1:, 2:4]).all(), part
    del part
    assert texton.exchange_free_bytes(0) == free, "the image is freed with its last part"


def to_texton():
    whole = numpy.zeros((6, 9, 4), dtype=numpy.float32)
    part = whole[1:4, 2:7]
    part[...] = numpy.arange(60, dtype=numpy.float32).reshape(3, 5, 4)
    users = sys.getrefcount(whole)
    capsule = part.__dlpack__()
    pointer = python.PyCapsule_GetPointer(capsule, NEW)
    python.PyCapsule_SetName(capsule, USED)
    assert texton.exchange_import(pointer) == 59 * 60 / 2
    assert (part.ravel() == numpy.arange(1, 61)).all(), part
    assert whole.sum() == part.sum(), "only the part was written"
    del capsule
    assert sys.getrefcount(whole) == users, "the tensor was released"


def refused():
    array = numpy.zeros((3, 5, 3), dtype=numpy.float32)
    capsule = array.__dlpack__()
    assert texton.exchange_import(python.PyCapsule_GetPointer(capsule, NEW)) == -1, "three channels fit no format"
    del capsule  # NumPy still owns the tensor, and releases it


from_texton()
to_texton()
refused()
