#include "tests/support/wrong_uses.h"

#include <limits>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/managed.h>
#include <texton/physical.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/pool.h>
#include <texton/registered.h>
#include <texton/symbol.h>

#include "tests/support/pages.h"
#include "tests/support/symbols.h"
#include "tests/support/texels.h"

// Each row creates the objects that it needs, does one wrong thing and destroys the objects. Memory that remains
// allocated is a leak.

namespace texton::test {
namespace {

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kHuge = std::size_t{1} << 46;  // more than any device has
constexpr auto kBad = ErrorCode::bad_argument;
constexpr auto kOutside = ErrorCode::out_of_bounds;
constexpr auto kOverflow = ErrorCode::overflow;
constexpr auto kReleased = ErrorCode::released;
constexpr auto kUnknown = ErrorCode::not_registered;
constexpr auto kDenied = ErrorCode::not_permitted;
constexpr auto kFull = ErrorCode::out_of_memory;
constexpr auto kPlace = ErrorCode::wrong_location;

Location other_kind(const Device& device) {
    return {LocationKind::device, 0, device.kind() == DeviceKind::cpu ? DeviceKind::cuda : DeviceKind::cpu};
}

std::size_t unit(const Device& device) { return Physical::granularity(device); }

// Returns an object in its moved-from state.
template <class Owner>
Owner moved_from(Owner owner) {
    const Owner taken = std::move(owner);
    return owner;  // use after move is the purpose
}

using D = const Device&;

std::vector<WrongUse> null_and_zero() {
    return {
        {"LinearZeroBytes", kBad, "texton::Linear", [](D d) { Linear m(d, 0); }},
        {"LinearZeroSide", kBad, "texton::Linear",
         [](D d) {
             Linear m(d, Format::r8_uint, {0, 4});
         }},
        {"LinearAsyncZeroBytes", kBad, "texton::Linear", [](D d) { (void)Linear::async(0, Stream(d)); }},
        {"Pitched2DZeroWidth", kBad, "texton::Pitched2D",
         [](D d) {
             Pitched2D m(d, Format::r8_uint, {0, 4});
         }},
        {"Pitched2DZeroHeight", kBad, "texton::Pitched2D",
         [](D d) {
             Pitched2D m(d, Format::r8_uint, {4, 0});
         }},
        {"Pitched2DDepth", kBad, "texton::Pitched2D",
         [](D d) {
             Pitched2D m(d, Format::r8_uint, {4, 4, 3});
         }},
        {"Pitched2DPlanar", kBad, "texton::Pitched2D",
         [](D d) {
             Pitched2D m(d, Format::nv12, {4, 4});
         }},
        {"Pitched3DZeroDepth", kBad, "texton::Pitched3D",
         [](D d) {
             Pitched3D m(d, Format::r8_uint, {4, 4, 0});
         }},
        {"PinnedZeroBytes", kBad, "texton::Pinned", [](D d) { Pinned m(d, 0); }},
        {"RegisteredNull", kBad, "texton::Registered", [](D d) { Registered m(d, nullptr, kPage); }},
        {"RegisteredZeroBytes", kBad, "texton::Registered",
         [](D d) { Registered m(d, static_cast<void*>(Pages(1).data()), 0); }},
        {"ManagedZeroBytes", kBad, "texton::Managed", [](D d) { Managed m(d, 0); }},
        {"ManagedSingle", kBad, "texton::Managed", [](D d) { Managed m(d, 64, Attach::single); }},
        {"PoolAllocateZeroBytes", kBad, "texton::Pool", [](D d) { (void)Pool(d).allocate(0, Stream(d)); }},
        {"PhysicalZeroBytes", kBad, "texton::Physical", [](D d) { Physical m(d, 0); }},
        {"AddressRangeZeroBytes", kBad, "texton::AddressRange", [](D d) { AddressRange m(d, 0); }},
        {"ArrayZeroSide", kBad, "texton::Array",
         [](D d) {
             Array m(d, {Format::r8_uint, {4, 0}});
         }},
        {"BorrowedNull", kBad, "texton::borrowed_view",
         [](D d) { (void)borrowed_view(d, nullptr, Format::r8_uint, {4}); }},
        {"HostViewNull", kBad, "texton::host_view",
         [](D) { (void)host_view(static_cast<void*>(nullptr), Format::r8_uint, {4}); }},
        {"CopyOfNothing", kBad, "texton::copy", [](D d) { copy(Linear(d, 4).view(), View()); }},
        {"CopyIntoNothing", kBad, "texton::copy", [](D d) { copy(View(), Linear(d, 4).view()); }},
        {"FillOfNothing", kBad, "texton::fill", [](D) { fill(View(), std::uint8_t{1}); }},
        {"StreamRunsNothing", kBad, "texton::Stream", [](D d) { Stream(d).run({}); }},
        {"GraphOfNothing", kBad, "texton::Graph", [](D d) { (void)Graph::capture(Stream(d), {}); }},
        {"SymbolZeroBytes", kBad, "texton::Symbol", [](D d) { (void)symbol_of(d, 0).view(4, 0); }},
    };
}

std::vector<WrongUse> sizes() {
    return {
        {"LinearOverflow", kOverflow, "texton::",
         [](D d) {
             Linear m(d, Format::r8_uint, {std::size_t{1} << 32, std::size_t{1} << 32});
         }},
        {"LinearViewOverflow", kOverflow, "texton::",
         [](D d) {
             (void)Linear(d, 64).view(Format::r8_uint, {kMax, 2});
         }},
        {"Pitched2DRowTooLong", kOverflow, "texton::Pitched2D",
         [](D d) {
             Pitched2D m(d, Format::r8_uint, {std::size_t{1} << 31, 1});
         }},
        {"Pitched2DOverflow", kOverflow, "texton::Pitched2D",
         [](D d) {
             Pitched2D m(d, Format::r8_uint, {4096, kMax / 8});
         }},
        {"Pitched3DOverflow", kOverflow, "texton::Pitched3D",
         [](D d) {
             Pitched3D m(d, Format::r8_uint, {4096, std::size_t{1} << 30, std::size_t{1} << 30});
         }},
        {"ArrayTooWide", kOverflow, "texton::Array",
         [](D d) {
             Array m(d, {Format::r8_uint, {d.limits().texture_2d[0] + 1, 4}});
         }},
        {"HostViewPitchTooSmall", kBad, "texton::host_view",
         [](D) {
             (void)host_view(static_cast<void*>(Bytes(64).data()), Format::r32_uint, {4, 4}, 15);
         }},
        {"HostViewSlicePitchNoMultiple", kBad, "texton::host_view",
         [](D) {
             (void)host_view(static_cast<void*>(Bytes(64).data()), Format::r8_uint, {4, 2, 2}, 4, 9);
         }},
        {"BorrowedPitchTooSmall", kBad, "texton::borrowed_view",
         [](D d) {
             (void)borrowed_view(d, Linear(d, 64).data(), Format::r32_uint, {4, 4}, 15);
         }},
        {"BorrowedSlicePitchNoMultiple", kBad, "texton::borrowed_view",
         [](D d) {
             (void)borrowed_view(d, Linear(d, 64).data(), Format::r8_uint, {4, 2, 2}, 4, 9);
         }},
        {"LinearViewOutside", kOutside, "texton::Linear", [](D d) { (void)Linear(d, 64).view(Format::r8_uint, {65}); }},
        {"PinnedViewOutside", kOutside, "texton::Pinned", [](D d) { (void)Pinned(d, 64).view(Format::r8_uint, {65}); }},
        {"ManagedViewOutside", kOutside, "texton::Managed",
         [](D d) { (void)Managed(d, 64).view(Format::r8_uint, {65}); }},
        {"RegionOutside", kOutside, "texton::View",
         [](D d) {
             (void)Pitched2D(d, Format::r8_uint, {8, 8}).view().region({{1, 0}, {8, 8}});
         }},
        {"RegionWrapsAround", kOutside, "texton::View",
         [](D d) {
             (void)Pitched2D(d, Format::r8_uint, {8, 8}).view().region({{kMax, 0}, {2, 1}});
         }},
        {"RegionEmpty", kOutside, "texton::View",
         [](D d) {
             (void)Pitched2D(d, Format::r8_uint, {8, 8}).view().region({{1, 1}, {0, 1}});
         }},
        {"RegionThroughBlocks", kBad, "texton::View",
         [](D d) {
             (void)Pitched2D(d, Format::bc1_unorm, {8, 8}).view().region({{2, 0}, {4, 4}});
         }},
        {"SymbolPastItsEnd", kOutside, "texton::Symbol", [](D d) { (void)symbol_of(d, 0).view(kSymbolBytes - 1, 2); }},
        {"SymbolOffsetWrapsAround", kOutside, "texton::Symbol", [](D d) { (void)symbol_of(d, 0).view(kMax, 2); }},
        {"ManagedRangeOutside", kOutside, "texton::Managed",
         [](D d) {
             Managed(d, 64).advise(Advice::set_read_mostly, Location::none(), {60, 5});
         }},
        {"ManagedRangeWrapsAround", kOutside, "texton::Managed",
         [](D d) {
             (void)Managed(d, 64).attributes({kMax, 2});
         }},
        {"PhysicalNoMultiple", kBad, "texton::Physical", [](D d) { Physical m(d, unit(d) + 1); }},
        {"AddressRangeNoMultiple", kBad, "texton::AddressRange", [](D d) { AddressRange m(d, unit(d) + 1); }},
        {"MapNoMultiple", kBad, "texton::AddressRange",
         [](D d) { AddressRange(d, unit(d) * 2).map(4096, Physical(d, unit(d))); }},
        {"MapOutside", kOutside, "texton::AddressRange",
         [](D d) { AddressRange(d, unit(d)).map(unit(d), Physical(d, unit(d))); }},
        {"MapTwice", ErrorCode::overlap, "texton::AddressRange",
         [](D d) {
             AddressRange range(d, unit(d));
             range.map(0, Physical(d, unit(d)));
             range.map(0, Physical(d, unit(d)));
         }},
        {"UnmapOfNothing", kBad, "texton::AddressRange", [](D d) { AddressRange(d, unit(d)).unmap(0); }},
        {"CopyOfDifferentExtents", kBad, "texton::copy",
         [](D d) {
             copy(Linear(d, 64).view(Format::r8_uint, {8, 8}), Linear(d, 64).view(Format::r8_uint, {8, 7}));
         }},
        {"CopyOfDifferentTexels", kBad, "texton::copy",
         [](D d) { copy(Linear(d, 64).view(Format::r8_uint, {8}), Linear(d, 64).view(Format::r16_uint, {8})); }},
        {"CopyOntoItself", ErrorCode::overlap, "texton::copy",
         [](D d) {
             const Linear m(d, 64);
             copy(m.view().region({{1}, {32}}), m.view().region({{0}, {32}}));
         }},
        {"FillRowNoWholePattern", kBad, "texton::fill", [](D d) { fill(Linear(d, 63).view(), std::uint16_t{1}); }},
        {"FillBesideThePattern", kBad, "texton::fill",
         [](D d) {
             fill(Linear(d, 64).view().region({{2}, {8}}), std::uint32_t{1});
         }},
    };
}

std::vector<WrongUse> released() {
    return {
        {"LinearMovedFrom", kReleased, "texton::Linear", [](D d) { (void)moved_from(Linear(d, 64)).view(); }},
        {"Pitched2DMovedFrom", kReleased, "texton::Pitched2D",
         [](D d) {
             (void)moved_from(Pitched2D(d, Format::r8_uint, {4, 4})).view();
         }},
        {"Pitched3DMovedFrom", kReleased, "texton::Pitched3D",
         [](D d) {
             (void)moved_from(Pitched3D(d, Format::r8_uint, {4, 4, 4})).view();
         }},
        {"PinnedMovedFrom", kReleased, "texton::Pinned", [](D d) { (void)moved_from(Pinned(d, 64)).read(); }},
        {"RegisteredMovedFrom", kReleased, "texton::Registered",
         [](D d) {
             const Pages pages(1);
             (void)moved_from(Registered(d, pages.all())).view();
         }},
        {"ManagedMovedFrom", kReleased, "texton::Managed", [](D d) { (void)moved_from(Managed(d, 64)).view(); }},
        {"AddressRangeMovedFrom", kReleased, "texton::AddressRange",
         [](D d) { moved_from(AddressRange(d, unit(d))).set_access(); }},
        {"ArrayMovedFrom", kReleased, "texton::Array",
         [](D d) {
             (void)moved_from(Array(d, {Format::r8_uint, {4, 4}})).view();
         }},
        {"PhysicalNeverMade", kReleased, "texton::Physical", [](D d) { AddressRange(d, unit(d)).map(0, Physical()); }},
        {"FreedTwice", kReleased, "texton::Linear",
         [](D d) {
             const Stream stream(d);
             Linear m = Linear::async(64, stream);
             m.free(stream);
             m.free(stream);
         }},
        {"CopyOfWhatWasFreed", kReleased, "texton::copy",
         [](D d) {
             const Stream stream(d);
             Linear m = Linear::async(64, stream);
             const View view = m.view();
             m.free(stream);
             copy(Linear(d, 64).view(), view);
         }},
        {"FillOfWhatWasFreed", kReleased, "texton::fill",
         [](D d) {
             const Stream stream(d);
             Linear m = Linear::async(64, stream);
             const View view = m.view();
             m.free(stream);
             fill(view, std::uint8_t{1}, stream);
         }},
        {"FillOfWhatWasUnmapped", kReleased, "texton::fill",
         [](D d) {
             AddressRange range(d, unit(d));
             range.map(0, Physical(d, unit(d)));
             range.set_access();
             const View view = range.view(Format::r8_uint, {64});
             range.unmap(0);
             fill(view, std::uint8_t{1});
         }},
    };
}

std::vector<WrongUse> unknown_and_denied() {
    return {
        {"SymbolThatIsNone", kUnknown, "texton::Symbol",
         [](D d) {
             static int ordinary = 0;
             Symbol<int> symbol(d, ordinary);
         }},
        {"BorrowedHostMemory", kUnknown, "texton::borrowed_view",
         [](D d) { (void)borrowed_view(d, Bytes(4096).data(), Format::r8_uint, {4096}); }},
        {"DevicePointerOfOrdinaryMemory", kUnknown, "texton::device_pointer",
         [](D d) { (void)device_pointer(d, Bytes(64).data()); }},
        {"CopyOfPartlyRegisteredMemory", kUnknown, "texton::copy",
         [](D d) {
             const Pages pages(2);
             const Registered half(d, static_cast<void*>(pages.data()), kPage);
             copy(Linear(d, 2 * kPage).view(), pages.view(0, 2 * kPage));
         }},
        {"FillOfPartlyRegisteredMemory", kUnknown, "texton::fill",
         [](D d) {
             const Pages pages(2);
             const Registered half(d, static_cast<void*>(pages.data() + kPage), kPage);
             fill(pages.view(0, 2 * kPage), std::uint8_t{1});
         }},
        {"RegisteredTwice", kBad, "texton::Registered",
         [](D d) {
             const Pages pages(2);
             const Registered once(d, static_cast<void*>(pages.data()), kPage);
             const Registered twice(d, pages.all());
         }},
        {"ReadOfWriteCombinedMemory", kDenied, "texton::Pinned",
         [](D d) { (void)Pinned(d, 64, {.write_combined = true}).read(); }},
        {"HostCopyOfWriteCombinedMemory", kDenied, "texton::copy",
         [](D d) {
             Bytes host(64);
             copy(host_view(std::span(host)), Pinned(d, 64, {.write_combined = true}).view());
         }},
        {"FreeOfPlainMemoryOnAStream", kDenied, "texton::Linear", [](D d) { Linear(d, 64).free(Stream(d)); }},
        {"ExportOfAPlainPool", kDenied, "texton::Pool", [](D d) { (void)Pool(d).export_handle(); }},
        {"ExportOfTheDefaultPool", kDenied, "texton::Pool", [](D d) { (void)Pool::default_of(d).export_handle(); }},
        {"ExportOfAPointerOfAPlainPool", kDenied, "texton::Pool",
         [](D d) {
             const Pool pool(d);
             (void)pool.export_pointer(pool.allocate(64, Stream(d)));
         }},
        {"ExportOfAPointerOfNoPool", kBad, "texton::Pool",
         [](D d) { (void)Pool(d, {.handle = HandleType::file_descriptor}).export_pointer(Linear(d, 64)); }},
        {"ImportOfAPointerIntoAnOwnPool", kDenied, "texton::Pool", [](D d) { (void)Pool(d).import_pointer({}, 64); }},
        {"ImportOfNoHandle", kBad, "texton::Pool", [](D d) { (void)Pool::import(d, {}); }},
        {"ImportOfNoDescriptor", kBad, "texton::Pool",
         [](D d) {
             (void)Pool::import(d, {HandleType::file_descriptor, -1});
         }},
        {"ImportOfAClosedDescriptor", kBad, "texton::Pool",
         [](D d) {
             (void)Pool::import(d, {HandleType::file_descriptor, 1'000'000});
         }},
        {"ImportOfPhysicalFromAClosedDescriptor", kBad, "texton::Physical",
         [](D d) {
             (void)Physical::import(d, {HandleType::file_descriptor, 1'000'000}, unit(d));
         }},
        {"ExportOfPlainPhysicalMemory", kDenied, "texton::Physical",
         [](D d) { (void)Physical(d, unit(d)).export_handle(); }},
        {"MapOfATilePool", kDenied, "texton::AddressRange",
         [](D d) { AddressRange(d, unit(d)).map(0, Physical(d, unit(d), {.tile_pool = true})); }},
        {"ViewOfWhatIsNotMapped", kDenied, "texton::AddressRange",
         [](D d) { (void)AddressRange(d, unit(d)).view(Format::r8_uint, {64}); }},
        {"ViewWithoutAccess", kDenied, "texton::AddressRange",
         [](D d) {
             AddressRange range(d, unit(d));
             range.map(0, Physical(d, unit(d)));
             (void)range.view(Format::r8_uint, {64});
         }},
        {"PoolLocksItselfOut", kBad, "texton::Pool",
         [](D d) {
             const AccessGrant none{Location::device(d), Access::none};
             Pool(d).set_access({&none, 1});
         }},
        {"TimeOfNeverRecordedEvents", kBad, "texton::Event", [](D d) { (void)Event(d).milliseconds_since(Event(d)); }},
        {"TimeOfEventsWithoutTiming", kBad, "texton::Event",
         [](D d) {
             const Stream stream(d);
             const Event begin(d, EventTiming::off);
             begin.record(stream);
             begin.synchronize();
             (void)begin.milliseconds_since(begin);
         }},
    };
}

std::vector<WrongUse> locations() {
    return {
        {"PoolOfAnotherDevice", kPlace, "texton::Pool", [](D d) { Pool p(d, {.location = other_kind(d)}); }},
        {"PoolAtTheNearestNode", kPlace, "texton::Pool",
         [](D d) { Pool p(d, {.location = Location::host_numa_current()}); }},
        {"DefaultPoolAtNoLocation", kPlace, "texton::Pool", [](D d) { (void)Pool::default_of(d, Location::none()); }},
        {"SharedHostPool", kBad, "texton::Pool",
         [](D d) { Pool p(d, {.location = Location::host(), .handle = HandleType::file_descriptor}); }},
        {"SharedManagedPool", kBad, "texton::Pool",
         [](D d) { Pool p(d, {.type = PoolType::managed, .handle = HandleType::file_descriptor}); }},
        {"ManagedPoolWithALargestSize", kBad, "texton::Pool",
         [](D d) { Pool p(d, {.type = PoolType::managed, .max_bytes = kMiB}); }},
        {"PoolAccessOfTheHost", kPlace, "texton::Pool", [](D d) { (void)Pool(d).access(Location::host()); }},
        {"PhysicalOnTheHost", kPlace, "texton::Physical",
         [](D d) { Physical m(d, unit(d), {.location = Location::host()}); }},
        {"PhysicalOfAnotherDevice", kPlace, "texton::Physical",
         [](D d) { Physical m(d, unit(d), {.location = other_kind(d)}); }},
        {"TilePoolOnTheHost", kPlace, "texton::Physical",
         [](D d) { Physical m(d, unit(d), {.location = Location::host_numa(0), .tile_pool = true}); }},
        {"MappedAccessOfTheHost", kPlace, "texton::AddressRange",
         [](D d) {
             const AccessGrant grant{Location::host(), Access::read_write};
             AddressRange(d, unit(d)).set_access({&grant, 1});
         }},
        {"PrefetchToNoLocation", kPlace, "texton::Managed",
         [](D d) { Managed(d, 64).prefetch(Location::none(), Stream(d)); }},
        {"PrefetchToAnotherKindOfDevice", kPlace, "texton::Managed",
         [](D d) { Managed(d, 64).prefetch(other_kind(d), Stream(d)); }},
        {"PreferredNowhere", kPlace, "texton::Managed",
         [](D d) { Managed(d, 64).advise(Advice::set_preferred_location); }},
        {"AccessedByANode", kPlace, "texton::Managed",
         [](D d) { Managed(d, 64).advise(Advice::set_accessed_by, Location::host_numa(0)); }},
        {"AccessToItself", ErrorCode::wrong_device, "texton::Device", [](D d) { d.enable_access(d); }},
        {"CaptureOfTheDefaultStream", ErrorCode::capturing, "texton::Graph",
         [](D d) { (void)Graph::capture(Stream::default_of(d), [] {}); }},
        {"AllocationWhileRecording", ErrorCode::capturing, "texton::Linear",
         [](D d) { (void)Graph::capture(Stream(d), [&] { Linear m(d, 64); }); }},
        {"WaitingWhileRecording", ErrorCode::capturing, "texton::Stream",
         [](D d) {
             const Stream stream(d);
             (void)Graph::capture(stream, [&] { stream.synchronize(); });
         }},
        {"CopyWithoutAStreamWhileRecording", ErrorCode::capturing, "texton::copy",
         [](D d) {
             const Linear a(d, 64);
             const Linear b(d, 64);
             (void)Graph::capture(Stream(d), [&] { copy(a.view(), b.view()); });
         }},
        {"StreamThatIsNotJoined", ErrorCode::capturing, "texton::Graph",
         [](D d) {
             const Stream stream(d);
             const Stream side(d);
             const Event event(d, EventTiming::off);
             const Linear m(d, 64);
             (void)Graph::capture(stream, [&] {
                 event.record(stream);
                 side.wait(event);
                 fill(m.view(), std::uint8_t{1}, side);
             });
         }},
    };
}

std::vector<WrongUse> too_much() {
    return {
        {"LinearOutOfMemory", kFull, "texton::Linear", [](D d) { Linear m(d, kHuge); }, true},
        {"LinearAsyncOutOfMemory", kFull, "texton::Linear", [](D d) { (void)Linear::async(kHuge, Stream(d)); }, true},
        {"Pitched2DOutOfMemory", kFull, "texton::Pitched2D",
         [](D d) {
             Pitched2D m(d, Format::r8_uint, {kMiB, kHuge / kMiB});
         },
         true},
        {"Pitched3DOutOfMemory", kFull, "texton::Pitched3D",
         [](D d) {
             Pitched3D m(d, Format::r8_uint, {kMiB, 1024, kHuge / kMiB / 1024});
         },
         true},
        {"ManagedOutOfMemory", kFull, "texton::Managed", [](D d) { Managed m(d, kHuge); }, true},
        {"PoolOutOfMemory", kFull, "texton::Pool", [](D d) { (void)Pool(d).allocate(kHuge, Stream(d)); }, true},
        {"PhysicalOutOfMemory", kFull, "texton::Physical", [](D d) { Physical m(d, kHuge); }, true},
    };
}

}  // namespace

const std::vector<WrongUse>& wrong_uses() {
    static const std::vector<WrongUse> all = [] {
        std::vector<WrongUse> joined;
        for (auto& part : {null_and_zero(), sizes(), released(), unknown_and_denied(), locations(), too_much(),
                           wrong_uses_of_arrays(), wrong_uses_of_textures(), wrong_uses_of_mappings()}) {
            joined.insert(joined.end(), part.begin(), part.end());
        }
        return joined;
    }();
    return all;
}

}  // namespace texton::test
