#include <texton/shared_texels.h>

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/physical.h>

#include "core/block.h"
#include "core/mapped_memory.h"
#include "core/transfer.h"

namespace texton {
namespace {

constexpr const char* kExport = "texton::export_texels";
constexpr const char* kImport = "texton::import_texels";
constexpr const char* kView = "texton::texel_view";

[[noreturn]] void refuse(const char* object, ErrorCode code, std::string problem, std::string remedy,
                         std::vector<ErrorNumber> numbers = {}) {
    throw Error({.code = code,
                 .object = object,
                 .problem = std::move(problem),
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

std::size_t checked_sum(std::size_t a, std::size_t b, const char* object) {
    if (b > SIZE_MAX - a) {
        refuse(object, ErrorCode::overflow, fmt::format("{} + {} bytes do not fit in 64 bits", a, b),
               "Use a smaller extent, pitch or offset.");
    }
    return a + b;
}

// A checked layout without zeros, and the bytes up to its last texel.
struct Placed {
    TexelLayout layout;
    std::size_t bytes = 0;
};

Placed placed(const TexelLayout& asked, const char* object) {
    const auto& [format, extent, offset, pitch, slice_pitch] = asked;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) {
        refuse(object, ErrorCode::bad_argument, fmt::format("a layout of {} texels was given", to_string(extent)),
               "Every dimension must be at least 1.",
               {{"width", extent.width}, {"height", extent.height}, {"depth", extent.depth}});
    }
    if (info(format).layout == FormatLayout::planar) {
        refuse(object, ErrorCode::bad_argument, fmt::format("{} has two planes of different sizes", name(format)),
               "Use a layout for each plane, with the format of plane_info().");
    }
    Placed out{asked};
    const std::size_t row = row_bytes(format, extent.width);
    if (pitch == 0) out.layout.pitch = row;
    if (out.layout.pitch < row) {
        refuse(object, ErrorCode::bad_argument,
               fmt::format("the pitch of {} bytes is shorter than a row of {}", pitch, row),
               "Use the bytes from one row to the next, or 0 for packed rows.", {{"pitch", pitch}, {"row", row}});
    }
    const std::size_t rows = row_count(format, extent.height);
    const std::size_t slice = checked_product(out.layout.pitch, rows, object, "pitch * height");
    if (slice_pitch == 0 || extent.depth == 1) out.layout.slice_pitch = slice;
    if (out.layout.slice_pitch < slice || out.layout.slice_pitch % out.layout.pitch != 0) {
        refuse(object, ErrorCode::bad_argument,
               fmt::format("the slice pitch of {} bytes does not fit slices of {} bytes with rows {} bytes apart",
                           slice_pitch, slice, out.layout.pitch),
               "Use a multiple of the pitch that is at least pitch * rows, or 0 for slices without a gap.",
               {{"slice_pitch", slice_pitch}, {"pitch", out.layout.pitch}});
    }
    const std::size_t slices = checked_product(out.layout.slice_pitch, extent.depth, object, "slice pitch * depth");
    const std::size_t after_last_row = slices - out.layout.slice_pitch + out.layout.pitch * (rows - 1) + row;
    out.bytes = checked_sum(offset, after_last_row, object);
    return out;
}

Placed placed_in(const TexelLayout& asked, std::size_t bytes, const char* object) {
    Placed out = placed(asked, object);
    if (out.bytes > bytes) {
        refuse(
            object, ErrorCode::out_of_bounds,
            fmt::format("{} texels of {} at offset {} with a pitch of {} need {} bytes, but the memory has {}",
                        to_string(asked.extent), name(asked.format), asked.offset, out.layout.pitch, out.bytes, bytes),
            "Use a smaller extent, pitch or offset, or allocate layout_bytes().",
            {{"offset", asked.offset}, {"pitch", out.layout.pitch}, {"bytes", out.bytes}, {"size", bytes}});
    }
    return out;
}

// --- export ----------------------------------------------------------------------------------------------------------

constexpr const char* kAllocate =
    "Allocate from a Pool with PoolInfo::handle, or map a Physical with PhysicalInfo::handle to an AddressRange, and "
    "give the texels a pitch with texel_view().";

[[noreturn]] void refuse_export(const char* memory) {
    refuse(kExport, ErrorCode::not_permitted, fmt::format("{}, so other processes cannot import it", memory),
           kAllocate);
}

// Returns why memory that neither a Pool allocated nor an AddressRange maps cannot be exported.
const char* why_not(const detail::MemoryLocation& location) {
    switch (location.kind) {
        case MemoryKind::host: return "pageable host memory has no handle";
        case MemoryKind::pinned: return "the memory of a Pinned has no handle";
        case MemoryKind::registered: return "the memory of a Registered has no handle";
        case MemoryKind::managed: return "the memory of a Managed has no handle";
        case MemoryKind::pitched: return "the memory of a Pitched2D or Pitched3D (cudaMalloc) has no handle";
        case MemoryKind::symbol: return "a symbol has no handle";
        case MemoryKind::array: return "an array, also one with memory of a tile pool, has no handle";
        case MemoryKind::linear:
        case MemoryKind::mapped: break;
    }
    if (location.owner == nullptr) return "memory that Texton does not own has no handle";
    if (dynamic_cast<const detail::PlainBlock*>(location.owner.get()) != nullptr)
        return "the memory of a Linear (cudaMalloc) has no handle";
    return "the memory was imported from the pool of another process";
}

std::size_t used_bytes(const detail::MemoryLocation& at) {
    return at.slice_pitch * (at.extent.depth - 1) + at.pitch * (row_count(at.format, at.extent.height) - 1) +
           row_bytes(at.format, at.extent.width);
}

TexelLayout layout_at(const detail::MemoryLocation& at, std::size_t offset) {
    return {at.format, at.extent, offset, at.pitch, at.slice_pitch};
}

ExportedTexels export_pooled(const detail::MemoryLocation& at, const detail::PoolBlock& block) {
    if (block.pool == nullptr)
        refuse_export("the current pool of the device allocated the memory, and it has no handle");
    if (block.pool->info.handle == HandleType::none) refuse_export("the pool was created without a handle type");
    const Pool pool(block.pool);
    ExportedTexels out;
    out.texels.memory = SharedMemory::pool;
    out.texels.bytes = block.bytes;
    out.texels.layout = layout_at(at, static_cast<std::size_t>(at.address - block.address));
    out.handle = pool.export_handle(pool.info().handle);  // CUDA exports pointers of a pool that is exported already
    try {
        out.texels.pointer =
            detail::request(block.backend, kExport, {}, [&] { return block.backend->export_pointer(block.address); });
    } catch (...) {
        if (out.handle.file_descriptor >= 0) ::close(out.handle.file_descriptor);
        throw;
    }
    return out;
}

ExportedTexels export_mapped(const detail::MemoryLocation& at) {
    const auto [physical, offset] = detail::mapped_memory(*at.owner, at.address, used_bytes(at));
    if (physical == nullptr) {
        refuse(kExport, ErrorCode::bad_argument, "the texels are in several Physical objects",
               "Map one Physical that holds all of them.");
    }
    const HandleType type = detail::physical_info(*physical).handle;
    if (type == HandleType::none) refuse_export("the Physical was created without a handle type");
    ExportedTexels out;
    out.texels.memory = SharedMemory::physical;
    out.texels.bytes = physical->bytes;
    out.texels.layout = layout_at(at, offset);
    out.handle = detail::export_physical(*physical, type);
    return out;
}

// --- import ----------------------------------------------------------------------------------------------------------

// The other process may have sent anything. An enumerator that does not exist must not reach the tables.
void check_enumerators(const SharedTexels& texels) {
    const auto format = static_cast<std::size_t>(texels.layout.format);
    if (format >= formats().size()) {
        refuse(kImport, ErrorCode::bad_argument, fmt::format("the description has the unknown format {}", format),
               "Pass SharedTexels as export_texels() of the same version of Texton returned it.", {{"format", format}});
    }
    const auto memory = static_cast<std::size_t>(texels.memory);
    if (memory > static_cast<std::size_t>(SharedMemory::physical)) {
        refuse(kImport, ErrorCode::bad_argument,
               fmt::format("the description has the unknown kind of memory {}", memory),
               "Pass SharedTexels as export_texels() of the same version of Texton returned it.", {{"memory", memory}});
    }
}

View imported_bytes(const Device& device, const SharedTexels& texels, const ShareableHandle& handle) {
    const auto bytes = static_cast<std::size_t>(texels.bytes);
    if (texels.memory == SharedMemory::pool)
        return Pool::import(device, handle).import_pointer(texels.pointer, bytes).view();
    const Physical physical = Physical::import(device, handle, bytes);
    AddressRange range(device, bytes);
    range.map(0, physical);
    range.set_access();
    return range.view(Format::r8_uint, {bytes});
}

}  // namespace

TexelLayout texture_layout(const Device& device, Format format, Extent extent) {
    const std::size_t unit = device.limits().texture_pitch_alignment;
    const std::size_t row = row_bytes(format, extent.width);
    const std::size_t units = checked_sum(row, unit - 1, "texton::texture_layout") / unit;
    return {.format = format, .extent = extent, .pitch = units * unit};
}

std::size_t layout_bytes(const TexelLayout& layout) { return placed(layout, "texton::layout_bytes").bytes; }

View texel_view(const View& bytes, const TexelLayout& layout) {
    detail::MemoryLocation location = bytes.location();
    detail::check_live(location, kView);
    const bool is_row = location.extent.height == 1 && location.extent.depth == 1;
    if (!is_row || location.address == nullptr || location.kind == MemoryKind::symbol ||
        location.kind == MemoryKind::host) {
        refuse(kView, ErrorCode::bad_argument,
               is_row ? fmt::format("a view of memory of kind \"{}\" was given", name(location.kind))
                      : fmt::format("a view of {} texels was given, which is not one row", to_string(location.extent)),
               "Pass a view of one row of memory of a device, for example Linear::view().");
    }
    const Placed out = placed_in(layout, row_bytes(location.format, location.extent.width), kView);
    location.address += layout.offset;
    location.format = layout.format;
    location.extent = layout.extent;
    location.pitch = out.layout.pitch;
    location.slice_pitch = out.layout.slice_pitch;
    return View(std::move(location));
}

ExportedTexels export_texels(const ConstView& texels) try {
    const detail::MemoryLocation& location = texels.location();
    detail::check_live(location, kExport);
    if (location.kind == MemoryKind::mapped) return export_mapped(location);
    if (location.kind == MemoryKind::linear) {
        const auto* pooled = dynamic_cast<const detail::PoolBlock*>(location.owner.get());
        if (pooled != nullptr) return export_pooled(location, *pooled);
    }
    refuse_export(why_not(location));
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kExport);
}

View import_texels(const Device& device, const SharedTexels& texels, const ShareableHandle& handle) try {
    check_enumerators(texels);
    (void)placed_in(texels.layout, static_cast<std::size_t>(texels.bytes), kImport);
    return texel_view(imported_bytes(device, texels, handle), texels.layout);
} catch (const std::bad_alloc&) {
    detail::refuse_host_memory(kImport);
}

}  // namespace texton
