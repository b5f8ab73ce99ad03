#pragma once
// Texels that two processes use at once without a copy.
#include <cstdint>

#include <texton/location.h>
#include <texton/pool.h>
#include <texton/view.h>

namespace texton {

/// Position of texels in a block of bytes.
struct TexelLayout {
    Format format = Format::r8_uint;  ///< format of the texels
    Extent extent;                    ///< size in texels
    std::size_t offset = 0;           ///< bytes before the first texel
    std::size_t pitch = 0;            ///< bytes from one row to the next; 0: rows are packed
    std::size_t slice_pitch = 0;      ///< bytes from one slice to the next; 0: slices follow each other without a gap
    bool operator==(const TexelLayout&) const = default;  ///< Returns true if all members are equal.
};

/// Returns the layout of an image whose rows a texture of the device can read: the offset is 0, and the pitch is the
/// smallest multiple of limits().texture_pitch_alignment that holds a row. Throws Error{overflow} if a row does not fit
/// in 64 bits.
[[nodiscard]] TexelLayout texture_layout(const Device& device, Format format, Extent extent);
/// Returns how many bytes a block needs to contain the texels, from its first byte to the last texel.
///
/// Throws
/// - Error{bad_argument} if a dimension is 0, the format is planar, the pitch is shorter than a row, or the slice pitch
///   is shorter than a slice or not a multiple of the pitch,
/// - Error{overflow} if the size does not fit in 64 bits.
[[nodiscard]] std::size_t layout_bytes(const TexelLayout& layout);
/// Returns a view of texels in a row of bytes, for example in `linear.view()` or in a view of an AddressRange. Unlike
/// Linear::view(format, extent), the texels can have an offset and a pitch, so a texture can read them as an image. The
/// view keeps the memory alive if `bytes` does.
///
/// Throws
/// - Error{bad_argument} if `bytes` is an array, a symbol, pageable host memory or has several rows,
/// - Error{out_of_bounds} if the texels do not fit,
/// - the errors of layout_bytes().
[[nodiscard]] View texel_view(const View& bytes, const TexelLayout& layout);

/// Kind of memory that is shared.
enum class SharedMemory : std::uint8_t {
    pool,     ///< an allocation of a Pool
    physical  ///< a Physical
};

/// Description of texels that a process shares. Plain bytes, to be sent to the other process together with the handle.
struct SharedTexels {
    SharedMemory memory = SharedMemory::pool;  ///< kind of the memory
    PointerExport pointer;                     ///< the allocation, for SharedMemory::pool
    std::uint64_t bytes = 0;                   ///< size of the memory
    TexelLayout layout;                        ///< position of the texels in the memory
};

/// Result of export_texels().
struct ExportedTexels {
    SharedTexels texels;     ///< what the other process passes to import_texels()
    ShareableHandle handle;  ///< the memory; if it is a file descriptor, the caller must close it
};

/// Shares the texels of a view with other processes. The view can have any offset and pitch. Its memory must be
/// allocated by a Pool that has a handle type, or must be an AddressRange to which one Physical with a handle type is
/// mapped. The processes must order their accesses themselves.
///
/// Throws
/// - Error{not_permitted} for all other memory, because the system has no handle for it: Linear and Pitched2D
///   (cudaMalloc), the current pool, memory without a handle type, arrays, symbols, memory of the host, managed memory,
///   memory of another library, and memory that this process imported from a pool. The message says what to allocate,
/// - Error{bad_argument} for an empty view, and for texels in several Physical objects,
/// - Error{released} if the memory was freed or unmapped.
[[nodiscard]] ExportedTexels export_texels(const ConstView& texels);
/// Returns a view of texels of another process, on this process's device of the same memory. The view keeps the
/// imported memory, which stays whole if the other process ends. A Texture can read it like memory of this process.
///
/// All numbers are checked against each other and against the size of the memory before the view exists. The caller
/// must close a file descriptor, and may do so after this call. For memory of a pool, the view and its copies must be
/// destroyed before the exporting process frees the memory.
///
/// Throws
/// - Error{bad_argument} if the description is invalid, if the handle is not of such memory, or if a Physical has fewer
///   bytes than described,
/// - Error{out_of_bounds} if the texels do not fit into the memory, or if an allocation of a pool has fewer bytes than
///   described,
/// - Error{overflow} if the position of the last texel does not fit in 64 bits,
/// - Error{unsupported} if the device cannot share memory in this way.
[[nodiscard]] View import_texels(const Device& device, const SharedTexels& texels, const ShareableHandle& handle);

}  // namespace texton
