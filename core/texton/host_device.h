#pragma once

/// Marks a function that both the host and CUDA kernels can call.
#if defined(__CUDACC__)
#define TEXTON_HD __host__ __device__
#else
#define TEXTON_HD
#endif
