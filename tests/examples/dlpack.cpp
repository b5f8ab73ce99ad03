#include <texton/dlpack.h>

#include <iostream>

#include <dlpack/dlpack.h>

#include <texton/dlpack_versioned.h>
#include <texton/pitched.h>

void dlpack_example() {
    const texton::Pitched2D image(texton::Device::best(), texton::Format::rgba32_float, {100, 50});
    DLManagedTensor* const tensor = texton::to_dlpack(image.view());  // for numpy.from_dlpack() and others
    std::cout << "shape";
    for (int axis = 0; axis < tensor->dl_tensor.ndim; ++axis) std::cout << ' ' << tensor->dl_tensor.shape[axis];
    std::cout << ", " << int{tensor->dl_tensor.dtype.bits} << " bits\n";

    const texton::View same = texton::from_dlpack(tensor);  // owns the tensor from now on
    std::cout << to_string(same.extent()) << " of " << name(same.format())
              << (same.data() == image.data() ? " at the same address\n" : "\n");

    // The tensors of DLPack 1.0 say whether the receiver may write.
    const texton::ConstView constant = image.view();
    DLManagedTensorVersioned* const read_only = texton::to_dlpack_versioned(constant);
    std::cout << "version " << read_only->version.major << (read_only->flags & 1 ? ", read-only\n" : "\n");
    read_only->deleter(read_only);
}

// Prints:
// shape 50 100 4, 32 bits
// 100 x 50 of rgba32_float at the same address
// version 1, read-only
