#pragma once

/// Marks a function that kernels may call as well as the host.
#if defined(__CUDACC__)
#define TEXTON_HD __host__ __device__
#else
#define TEXTON_HD
#endif
