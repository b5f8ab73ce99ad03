#pragma once
// Decoding of JPEG files on a CUDA device, by the library nvJPEG of the CUDA Toolkit. It is loaded at run time, so that no
// build and no other function needs it.
#include <cstddef>
#include <memory>
#include <span>

#include <texton/array.h>
#include <texton/stream.h>

#include "arrays/turn.h"

namespace texton::detail {

/// Decodes JPEG files to arrays of a device. Thread-safe.
class JpegDecoder {
public:
    virtual ~JpegDecoder() = default;

    /// Decodes a gray file to one channel of 8 bits, or a file with colors to four with alpha 1. The array is an array_2d
    /// with one level, which has the size of the turned image. Returns when the array is complete. Returns false if the
    /// library does not decode this file, or if the size, the channels and the array do not match.
    ///
    /// Values differ from those of other decoders by a few codes, because the library rounds in another way and
    /// interpolates chroma in another way.
    ///
    /// Throws Error{out_of_memory}, and Error{device_failure} if the library fails.
    virtual bool decode(std::span<const std::byte> file, Turn turn, const Array& array, const Stream& stream) = 0;
};

/// Loads the library. Throws Error{unsupported} if the device is no CUDA device, if Texton was built without CUDA, or if
/// the library is missing.
[[nodiscard]] std::unique_ptr<JpegDecoder> make_jpeg_decoder(const Device& device, const char* object);

/// Does this for a CUDA device.
[[nodiscard]] std::unique_ptr<JpegDecoder> make_cuda_jpeg_decoder(const Device& device, const char* object);

}  // namespace texton::detail
