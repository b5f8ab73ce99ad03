#pragma once
// The versioned tensors of DLPack 1.0 and newer, also with an older dlpack/dlpack.h, which does not declare them.
#include <cstdint>

#include <dlpack/dlpack.h>

#include <texton/dlpack.h>

#ifndef DLPACK_MAJOR_VERSION

/// Version of the DLPack standard that a tensor follows. Another major version has another layout.
struct DLPackVersion {
    std::uint32_t major;  ///< 1
    std::uint32_t minor;  ///< larger numbers add flags and constants alone
};

/// A tensor with its version and flags. The first three members have these positions in every version.
struct DLManagedTensorVersioned {
    DLPackVersion version;                            ///< version of the other members
    void* manager_ctx;                                ///< data of the library that made the tensor
    void (*deleter)(DLManagedTensorVersioned* self);  ///< frees the tensor; can be null
    std::uint64_t flags;                              ///< bits, see below
    DLTensor dl_tensor;                               ///< the texels
};

#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)  ///< The elements must not be written.
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)  ///< The elements are a copy that was made for the consumer.

#endif
