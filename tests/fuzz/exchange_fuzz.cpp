// Tensors of DLPack and array interfaces whose pointers are valid or null and whose numbers are hostile. The input is
// these numbers.
#include <texton/array_interface.h>
#include <texton/copy.h>
#include <texton/dlpack.h>

#include <array>

#include <dlpack/dlpack.h>

#include "tests/fuzz/fuzz.h"

using namespace texton;

namespace {

alignas(16) std::array<std::byte, 4096> memory;

// Views of host memory are not checked against its size, because no one but the caller knows it. Accepted views that
// lie in `memory` are read, so that a sanitizer finds a wrong address.
void touch(const ConstView& view) {
    const auto& location = view.location();
    const std::byte* first = location.address;
    if (first < memory.data() || first >= memory.data() + memory.size()) return;
    const auto room = static_cast<std::size_t>(memory.data() + memory.size() - first);
    const Extent& extent = location.extent;
    for (const std::size_t side : {extent.width, extent.height, extent.depth})
        if (side > memory.size()) return;
    if (location.pitch > memory.size() || location.slice_pitch > memory.size()) return;
    const std::size_t bytes = location.slice_pitch * (extent.depth - 1) + location.pitch * (extent.height - 1) +
                              extent.width * info(location.format).bytes;
    if (bytes > room) return;
    std::vector<std::byte> packed(packed_bytes(location.format, extent));
    copy(host_view(packed.data(), location.format, extent), view);
}

std::optional<Format> asked_format(fuzz::Numbers& numbers) {
    if (numbers.flag()) return {};
    return numbers.format();
}

void import_tensor(fuzz::Numbers& numbers) {
    // The axes end at the end of an allocation, where a sanitizer finds accesses beyond them.
    const std::size_t axes = numbers.below(6);
    std::vector<std::int64_t> shape, strides;
    for (std::size_t i = 0; i < axes; ++i) {
        shape.push_back(numbers.hostile());
        strides.push_back(numbers.hostile());
    }
    shape.shrink_to_fit();
    strides.shrink_to_fit();
    static int deleted;
    deleted = 0;
    DLManagedTensor tensor{};
    DLTensor& fields = tensor.dl_tensor;
    fields.data = numbers.below(8) == 7 ? nullptr : memory.data();
    const std::int32_t type = numbers.flag() ? kDLCPU : numbers.hostile_as<std::int32_t>();
    std::memcpy(&fields.device.device_type, &type, sizeof(type));  // can be out of the range of the enumeration
    fields.device.device_id = numbers.below(4) == 3 ? numbers.hostile_as<int>() : 0;
    fields.ndim = static_cast<int>(axes);
    // More axes than Texton accepts are refused before the shape is read.
    if (numbers.below(8) == 7)
        fields.ndim = numbers.flag() ? -numbers.hostile_as<std::uint8_t>() : 5 + numbers.hostile_as<std::uint16_t>();
    fields.dtype = {numbers.take<std::uint8_t>(), numbers.take<std::uint8_t>(), numbers.take<std::uint16_t>()};
    if (numbers.below(4) != 3) {
        fields.dtype.code %= 3;
        fields.dtype.bits = static_cast<std::uint8_t>(8 << fields.dtype.bits % 3);
        fields.dtype.lanes = 1;
    }
    fields.shape = axes > 0 ? shape.data() : nullptr;
    fields.strides = axes > 0 && numbers.flag() ? strides.data() : nullptr;
    fields.byte_offset = numbers.below(4) == 3 ? numbers.hostile_as<std::uint64_t>() : 0;
    if (numbers.below(8) != 7) tensor.deleter = [](DLManagedTensor*) { ++deleted; };
    {
        const auto view = fuzz::accepted([&] { return from_dlpack(&tensor, asked_format(numbers)); });
        fuzz::require(deleted == 0, "the deleter is not called while the tensor is owned");
        if (view) touch(*view);
        const auto copied = view;
        if (!view) return;
    }
    fuzz::require(deleted == (tensor.deleter != nullptr ? 1 : 0), "the deleter is called once");
}

void import_array(fuzz::Numbers& numbers) {
    ArrayInterface array;
    for (std::size_t i = numbers.below(6); i > 0; --i) array.shape.push_back(numbers.hostile());
    if (numbers.flag())
        for (std::size_t i = numbers.below(6); i > 0; --i) array.strides.push_back(numbers.hostile());
    array.data = numbers.below(8) == 7 ? nullptr : memory.data();
    array.read_only = numbers.flag();
    const auto format = asked_format(numbers);
    constexpr const char* kTypes[] = {"|u1", "<u2", "<i4", "<f4", "<f2", "|i1", "=u4"};
    const std::size_t type = numbers.below(8);
    array.typestr = type < 7 ? kTypes[type] : std::string(fuzz::text_of(numbers.rest()));
    const auto view = fuzz::accepted([&] { return const_from_array_interface(Device::cpu(), array, format); });
    if (view) touch(*view);
    const auto writable = fuzz::accepted([&] { return from_array_interface(Device::cpu(), array, format); });
    fuzz::require(writable.has_value() == (view.has_value() && !array.read_only),
                  "read-only arrays have no writable view");
    if (!view) return;
    const auto written = fuzz::accepted([&] { return array_interface(*view); });
    if (!written) return;
    const ConstView again = const_from_array_interface(Device::cpu(), *written, view->location().format);
    fuzz::require(again.location().extent == view->location().extent, "an exported view is imported again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Numbers numbers({data, size});
    if (numbers.flag()) {
        import_tensor(numbers);
    } else {
        import_array(numbers);
    }
    return 0;
}
