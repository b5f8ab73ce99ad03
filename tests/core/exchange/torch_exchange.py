#!/usr/bin/env python3
"""Exchanges tensors between PyTorch and Texton in both directions, on the CPU and on the GPU. The argument is the library of
tests/support/modules/exchange.cpp. Tensors of DLPack 1.0 are exchanged if this PyTorch has them."""
import ctypes
import inspect
import sys

import torch

texton = ctypes.CDLL(sys.argv[1])
for name in ("exchange_export_floats", "exchange_export_versioned"):
    getattr(texton, name).restype = ctypes.c_void_p
for name in ("exchange_import", "exchange_import_versioned"):
    getattr(texton, name).argtypes = [ctypes.c_void_p]
    getattr(texton, name).restype = ctypes.c_double
texton.exchange_free_bytes.restype = ctypes.c_uint64
python = ctypes.pythonapi
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]

HAS_VERSIONED = "max_version" in inspect.signature(torch.Tensor.__dlpack__).parameters
EXPECTED = torch.arange(60, dtype=torch.float32).reshape(3, 5, 4)


class Exported:
    """An image of Texton, for torch.from_dlpack()."""

    def __init__(self, cuda, versioned):
        self.cuda, self.versioned = cuda, versioned

    def __dlpack__(self, stream=None, max_version=None, dl_device=None, copy=None):
        if self.versioned:
            assert max_version is not None and max_version[0] >= 1, max_version
            return python.PyCapsule_New(texton.exchange_export_versioned(self.cuda, 0), b"dltensor_versioned", None)
        return python.PyCapsule_New(texton.exchange_export_floats(self.cuda), b"dltensor", None)

    def __dlpack_device__(self):
        return (2, 0) if self.cuda else (1, 0)  # kDLCUDA, kDLCPU


def from_texton(cuda, versioned):
    free = texton.exchange_free_bytes(0)
    tensor = torch.from_dlpack(Exported(cuda, versioned))
    assert tensor.is_cuda == bool(cuda) and tensor.shape == (3, 5, 4), tensor
    assert tensor.stride()[0] > 20, "the rows of the image have padding"
    part = tensor[1:, 2:4]
    del tensor
    assert torch.equal(part.cpu(), EXPECTED[1:, 2:4]), part
    del part
    assert texton.exchange_free_bytes(0) == free, "the image is freed with its last part"


def to_texton(device, versioned):
    whole = torch.zeros((6, 9, 4), dtype=torch.float32, device=device)
    part = whole[1:4, 2:7]
    part[...] = EXPECTED.to(device)
    if device == "cuda":
        torch.cuda.synchronize()
    capsule = part.__dlpack__(max_version=(1, 0)) if versioned else part.__dlpack__()
    name = b"dltensor_versioned" if versioned else b"dltensor"
    assert python.PyCapsule_IsValid(capsule, name), capsule
    pointer = python.PyCapsule_GetPointer(capsule, name)
    python.PyCapsule_SetName(capsule, b"used_" + name)
    take = texton.exchange_import_versioned if versioned else texton.exchange_import
    assert take(pointer) == 59 * 60 / 2
    assert torch.equal(part.cpu(), EXPECTED + 1), part
    assert float(whole.sum()) == float(part.sum()), "only the part was written"


for versioned in (False, True) if HAS_VERSIONED else (False,):
    for cuda in (0, 1):
        from_texton(cuda, versioned)
        to_texton("cuda" if cuda else "cpu", versioned)
print(f"PyTorch {torch.__version__}, {'with' if HAS_VERSIONED else 'without'} versioned tensors")
