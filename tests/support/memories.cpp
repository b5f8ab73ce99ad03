#include "tests/support/memories.h"

#include <texton/linear.h>
#include <texton/managed.h>
#include <texton/physical.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/registered.h>

#include "tests/support/pages.h"
#include "tests/support/symbols.h"

namespace texton::test {
namespace {

constexpr std::size_t kMargin = 192;  // bytes before and after the texels if the memory has one row

// Layout of texels with gaps: a margin, rows that are three texels longer and slices that are two rows longer than
// needed.
struct Spread {
    Layout layout;
    std::size_t bytes;
};

Spread spread(Format format, Extent extent) {
    const std::size_t texel = info(format).bytes;
    const std::size_t pitch = row_bytes(format, extent.width) + (extent.height > 1 || extent.depth > 1 ? 3 * texel : 0);
    const std::size_t rows = row_count(format, extent.height);
    const std::size_t slice_pitch = pitch * (rows + (extent.depth > 1 ? 2 : 0));
    return {{kMargin, pitch, slice_pitch}, kMargin * 2 + slice_pitch * extent.depth};
}

// Returns a view of the texels with the pitches of `layout`, for an owner that creates packed views only: a region of a
// packed view of whole rows.
View spread_view(const std::function<View(Format, Extent)>& packed, Format format, Extent extent) {
    const std::size_t texel = info(format).bytes;
    const Spread at = spread(format, extent);
    const std::size_t side = block_side(format);
    const std::size_t wide = at.layout.pitch / texel * side;
    const std::size_t tall = at.layout.slice_pitch / at.layout.pitch * side;
    return packed(format, {wide, tall, extent.depth}).region({{}, extent});
}

Memory host_memory(const std::string& name, std::shared_ptr<void> owner, std::byte* data, const Spread& at,
                   Format format, Extent extent) {
    const View texels =
        host_view(static_cast<void*>(data + at.layout.offset), format, extent, at.layout.pitch, at.layout.slice_pitch);
    return {name, std::move(owner), texels, host_view(static_cast<void*>(data), Format::r8_uint, {at.bytes}),
            at.layout};
}

// For owners with view() for all bytes and view(format, extent) for packed texels from the start.
template <class Owner>
Memory packed_memory(const std::string& name, std::shared_ptr<Owner> owner, Format format, Extent extent) {
    Layout layout = spread(format, extent).layout;
    layout.offset = 0;
    const View texels = spread_view([&](Format f, Extent e) { return owner->view(f, e); }, format, extent);
    const View raw = owner->view();
    return {name, std::move(owner), texels, raw, layout};
}

template <class Owner>
Memory pitched_memory(const std::string& name, std::shared_ptr<Owner> owner) {
    const View texels = owner->view();
    const std::size_t bytes = texels.slice_pitch() * texels.extent().depth;
    const View raw = borrowed_view(owner->device(), owner->data(), Format::r8_uint, {bytes});
    const Layout layout{0, texels.pitch(), texels.slice_pitch()};
    return {name, std::move(owner), texels, raw, layout};
}

struct MappedOwner {
    Physical memory;
    AddressRange range;
};

Memory mapped_memory(const Device& device, Format format, Extent extent) {
    const std::size_t unit = Physical::granularity(device);
    const std::size_t bytes = (spread(format, extent).bytes + unit - 1) / unit * unit;
    auto owner = std::make_shared<MappedOwner>();
    owner->memory = Physical(device, bytes);
    owner->range = AddressRange(device, bytes);
    owner->range.map(0, owner->memory);
    owner->range.set_access();
    Layout layout = spread(format, extent).layout;
    const View texels =
        spread_view([&](Format f, Extent e) { return owner->range.view(f, e, layout.offset); }, format, extent);
    const View raw = owner->range.view(Format::r8_uint, {spread(format, extent).bytes});
    return {"mapped", owner, texels, raw, layout};
}

Memory symbol_memory(const Device& device, int which, Extent extent) {
    const auto symbol = symbol_of(device, which);
    return {"symbol",
            nullptr,
            symbol.view(kMargin, extent.width),
            symbol.view(0, kMargin * 2 + extent.width),
            {kMargin, extent.width, extent.width}};
}

std::vector<MemoryMaker> device_memories(const Device& device, Format format, Extent extent,
                                         const std::string& prefix) {
    const std::size_t bytes = spread(format, extent).bytes;
    std::vector<MemoryMaker> all;
    const auto add = [&](const std::string& name, std::function<Memory(const std::string&, int)> make) {
        all.push_back({prefix + name, !prefix.empty(), [=, full = prefix + name, foreign = !prefix.empty()](int which) {
                           Memory memory = make(full, which);
                           memory.foreign = foreign;
                           return memory;
                       }});
    };
    add("linear", [=](const std::string& name, int) {
        return packed_memory(name, std::make_shared<Linear>(device, bytes), format, extent);
    });
    if (extent.depth == 1) {
        add("pitched2d", [=](const std::string& name, int) {
            return pitched_memory(name, std::make_shared<Pitched2D>(device, format, extent));
        });
    }
    add("pitched3d", [=](const std::string& name, int) {
        return pitched_memory(name, std::make_shared<Pitched3D>(device, format, extent));
    });
    return all;
}

}  // namespace

Layout Memory::layout_of(const Region& region) const {
    const std::size_t side = block_side(texels.format());
    const std::size_t x = region.offset.x / side * info(texels.format()).bytes;
    return {layout.offset + x + region.offset.y / side * layout.pitch + region.offset.z * layout.slice_pitch,
            layout.pitch, layout.slice_pitch};
}

std::vector<MemoryMaker> memories(const Device& device, std::optional<Device> peer, Format format, Extent extent) {
    const Spread at = spread(format, extent);
    std::vector<MemoryMaker> all;
    all.push_back({"host", false, [=](int) {
                       auto owner = std::make_shared<Bytes>(at.bytes);
                       std::byte* data = owner->data();
                       return host_memory("host", std::move(owner), data, at, format, extent);
                   }});
    all.push_back({"pinned", false, [=](int) {
                       return packed_memory("pinned", std::make_shared<Pinned>(device, at.bytes), format, extent);
                   }});
    all.push_back({"registered", false, [=](int) {
                       struct Owner {
                           explicit Owner(const Device& device, std::size_t bytes)
                               : pages(bytes / kPage + 1), registered(device, pages.all()) {}
                           Pages pages;
                           Registered registered;
                       };
                       auto owner = std::make_shared<Owner>(device, at.bytes);
                       Memory memory = packed_memory(
                           "registered", std::shared_ptr<Registered>(owner, &owner->registered), format, extent);
                       return memory;
                   }});
    if (device.properties().managed_memory) {
        all.push_back({"managed", false, [=](int) {
                           return packed_memory("managed", std::make_shared<Managed>(device, at.bytes), format, extent);
                       }});
    }
    all.push_back({"pool", false, [=](int) {
                       const Stream stream(device);
                       auto owner = std::make_shared<Linear>(Linear::async(at.bytes, stream));
                       stream.synchronize();
                       return packed_memory("pool", std::move(owner), format, extent);
                   }});
    for (MemoryMaker& maker : device_memories(device, format, extent, "")) all.push_back(std::move(maker));
    if (device.properties().virtual_memory) {
        all.push_back({"mapped", false, [=](int) { return mapped_memory(device, format, extent); }});
    }
    if (format == Format::r8_uint && extent.height == 1 && extent.depth == 1) {
        all.push_back({"symbol", false, [=](int which) { return symbol_memory(device, which, extent); }});
    }
    if (peer) {
        for (MemoryMaker& maker : device_memories(*peer, format, extent, "peer ")) all.push_back(std::move(maker));
    }
    if (device.kind() == DeviceKind::cuda) {
        for (MemoryMaker& maker : device_memories(Device::cpu(), format, extent, "cpu "))
            all.push_back(std::move(maker));
    }
    return all;
}

}  // namespace texton::test
