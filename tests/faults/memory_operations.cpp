// Memory of every kind: allocation, copies and fills in it.
#include <unistd.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/managed.h>
#include <texton/physical.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/pool.h>
#include <texton/registered.h>
#include <texton/shared_texels.h>
#include <texton/symbol.h>

#include "tests/faults/operations.h"
#include "tests/support/pages.h"
#include "tests/support/symbols.h"

namespace texton::test {
namespace {

constexpr std::size_t kBytes = 4096;

// Fills the view with and without a stream, and returns its texels.
Bytes used(const View& view, const Device& device) {
    fill(view, std::uint8_t{7});
    const Stream stream(device);
    fill(view.region({{1, 0, 0}, {view.extent().width - 2, view.extent().height, view.extent().depth}}),
         std::uint8_t{9}, stream);
    return texels_of(view, stream);
}

Bytes use_linear(const Device& device) {
    const Linear memory(device, kBytes);
    Bytes result = used(memory.view(), memory.device());
    append(result, used(Linear(device, Format::rgba8_unorm, {8, 8}).view(), device));
    return result;
}

Bytes use_async(const Device& device) {
    const Stream stream(device);
    Linear memory = Linear::async(kBytes, stream);
    fill(memory.view(), std::uint32_t{0x01020304}, stream);
    Bytes result = texels_of(memory.view(), stream);
    memory.free(stream);
    stream.synchronize();
    return result;
}

Bytes use_pitched(const Device& device) {
    const Pitched2D flat(device, Format::rgba8_unorm, {13, 7});
    const Pitched3D deep(device, Format::r16_uint, {13, 7, 3});
    Bytes result = used(flat.view(), device);
    append(result, used(deep.view(), device));
    return result;
}

Bytes use_pinned(const Device& device) {
    const Pinned memory(device, kBytes, {.portable = true, .mapped = true});
    (void)memory.options();
    (void)memory.device_pointer();
    (void)device_pointer(device, memory.data() + 5);
    Bytes result = used(memory.view(), device);
    append(result, memory.read());
    return result;
}

Prepared use_registered(const Device& device) {
    const auto pages = std::make_shared<Pages>(2);
    return {[device, pages] {
        const Registered memory(device, pages->data(), pages->size(), {.mapped = true});
        (void)memory.device_pointer();
        return used(memory.view(), device);
    }};
}

Bytes use_managed(const Device& device) {
    const Managed memory(device, 1 << 16);
    const Stream stream(device);
    const Location here{LocationKind::device, device.index(), device.kind()};
    memory.advise(Advice::set_read_mostly);
    memory.advise(Advice::set_preferred_location, here);
    memory.advise(Advice::set_accessed_by, here, {0, 4096});
    memory.prefetch(here, stream);
    memory.attach(stream, Attach::single);
    stream.synchronize();
    memory.attach(stream, Attach::global);
    stream.synchronize();
    (void)memory.read_mostly();
    (void)memory.preferred_location();
    (void)memory.accessed_by();
    (void)memory.last_prefetch();
    (void)memory.attributes();
    return used(memory.view(), device);
}

Bytes use_pool(const Device& device) {
    const Pool pool(device);
    const Stream stream(device);
    const Location here{LocationKind::device, device.index(), device.kind()};
    pool.set_release_threshold(1 << 20);
    pool.set_reuse({.opportunistic = false});
    const AccessGrant grants[] = {{here, Access::read_write}};
    pool.set_access(grants);
    const Linear first = pool.allocate(kBytes, stream);
    Linear second = pool.allocate(3 * kBytes, stream);
    fill(second.view(), std::uint8_t{3}, stream);
    copy(first.view(), second.view().region({{}, {kBytes}}), stream);
    second.free(stream);
    Bytes result = texels_of(first.view(), stream);
    (void)pool.usage();
    pool.reset_used_high();
    pool.reset_reserved_high();
    (void)pool.release_threshold();
    (void)pool.reuse();
    (void)pool.access(here);
    pool.trim();
    pool.make_current();
    const Linear current = Linear::async(kBytes, stream);
    Pool::default_of(device).make_current();
    (void)Pool::current(device);
    return result;
}

Bytes use_pool_of_host(const Device& device) {
    const Pool pool(device, {.location = Location::host(), .type = PoolType::pinned});
    const AccessGrant grant{Location::device(device), Access::read_write};
    pool.set_access({&grant, 1});
    const Stream stream(device);
    const Linear memory = pool.allocate(kBytes, stream);
    fill(memory.view(), std::uint8_t{3}, stream);
    return texels_of(memory.view(), stream);
}

// A descriptor that is closed at the end.
struct Received {
    ~Received() {
        const Aside own;
        close(handle.file_descriptor);
    }
    ShareableHandle handle;
};

Bytes share_pool(const Device& device) {
    const Pool pool(device, {.handle = HandleType::file_descriptor, .max_bytes = std::size_t{32} << 20});
    const Stream stream(device);
    const Linear memory = pool.allocate(kBytes, stream);
    fill(memory.view(), std::uint8_t{5}, stream);
    stream.synchronize();
    const PointerExport pointer = pool.export_pointer(memory);
    const Received exported{pool.export_handle()};
    const Pool imported = Pool::import(device, exported.handle);
    const Linear theirs = imported.import_pointer(pointer, kBytes);
    return texels_of(theirs.view());
}

Bytes use_physical(const Device& device) {
    const std::size_t unit = Physical::granularity(device);
    const PhysicalInfo shared{.handle = HandleType::file_descriptor};
    const Physical first(device, unit, shared);
    AddressRange range(device, 3 * unit);
    range.map(0, first);
    range.map(2 * unit, Physical(device, unit));
    range.set_access();
    fill(range.view(Format::r8_uint, {unit}), std::uint8_t{4});
    fill(range.view(Format::r8_uint, {64}, 2 * unit), std::uint8_t{6});
    const Received exported{first.export_handle()};
    const Physical again = Physical::import(device, exported.handle, unit);
    AddressRange other(device, unit);
    other.map(0, again);
    other.set_access();
    Bytes result = texels_of(other.view(Format::r8_uint, {kBytes}));
    append(result, texels_of(range.view(Format::r8_uint, {64}, 2 * unit)));
    range.unmap(2 * unit);
    return result;
}

Bytes share_texels(const Device& device) {
    const TexelLayout layout = texture_layout(device, Format::r8_unorm, {48, 3});
    const std::size_t unit = Physical::granularity(device);
    AddressRange range(device, unit);
    range.map(0, Physical(device, unit, {.handle = HandleType::file_descriptor}));
    range.set_access();
    const View texels = texel_view(range.view(Format::r8_uint, {unit}), layout);
    fill(texels, std::uint8_t{7});
    const ExportedTexels exported = export_texels(texels);
    const Received received{exported.handle};
    return texels_of(import_texels(device, exported.texels, received.handle));
}

Bytes use_symbol(const Device& device) {
    const auto symbol = symbol_of(device, 0);
    return used(symbol.view(), device);
}

int registered_variable[16];

Bytes use_cpu_symbol(const Device& device) {
    const CpuSymbol registration(registered_variable);
    const Symbol<int[16]> symbol(device, registered_variable);
    return used(symbol.view(4, 32), device);
}

Bytes use_borrowed(const Device& device) {
    const Linear memory(device, kBytes);
    const View view = borrowed_view(device, memory.data(), Format::rgba8_unorm, {16, 16}, 128);
    return used(view, device);
}

Bytes use_device(const Device& device) {
    (void)Device::list();
    (void)Device::best();
    (void)Device::why_no_cuda();
    (void)device.name();
    (void)device.properties();
    (void)device.memory();
    for (const Device& peer : Device::list()) {
        if (peer == device || peer.kind() != device.kind() || !device.can_access(peer)) continue;
        device.enable_access(peer);
        device.disable_access(peer);
    }
    device.synchronize();
    return {};
}

}  // namespace

std::vector<Operation> memory_operations() {
    return {
        {"Linear", {"linear", "fill", "copy", "view"}, with_device(use_linear)},
        {"LinearAsync", {"linear"}, with_device(use_async)},
        {"Pitched", {"pitched"}, with_device(use_pitched)},
        {"Pinned", {"pinned"}, with_device(use_pinned)},
        {"Registered", {"registered"}, use_registered},
        {"Managed", {"managed"}, with_device(use_managed)},
        {"Pool", {"pool"}, with_device(use_pool)},
        {"PoolOfHost", {"pool"}, with_device(use_pool_of_host)},
        {"SharedPool", {"pool"}, with_device(share_pool), true},  // CUDA imports pools of other processes only
        {"Physical", {"physical"}, with_device(use_physical)},
        {"SharedTexels", {"shared_texels"}, with_device(share_texels)},
        {"Symbol", {"symbol"}, with_device(use_symbol)},
        {"CpuSymbol", {"symbol"}, with_device(use_cpu_symbol), true},
        {"BorrowedView", {"view"}, with_device(use_borrowed)},
        {"Device", {"device"}, with_device(use_device)},
    };
}

}  // namespace texton::test
