// Memory that other processes share: file descriptors of pools and physical memory, and exported pointers. The input is
// their bytes.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <texton/physical.h>
#include <texton/pool.h>

#include "tests/fuzz/fuzz.h"

using namespace texton;

namespace {

constexpr std::size_t kPoolBytes = std::size_t{32} << 20;

// A pool that this process shares, and the same pool imported.
struct Shared {
    Device device = Device::cpu();
    Pool pool{device, {.handle = HandleType::file_descriptor, .max_bytes = kPoolBytes}};
    Linear memory{pool.allocate(1000, Stream(device))};
    ShareableHandle handle{pool.export_handle()};
    Pool imported{Pool::import(device, handle)};
    PointerExport pointer{pool.export_pointer(memory)};
};

// Exports with a checksum that matches, as a hostile process can send them.
void correct_sum(PointerExport& pointer) {
    std::uint64_t hash = 14695981039346656037U;
    for (std::size_t i = 0; i + 8 < pointer.bytes.size(); ++i) hash = (hash ^ pointer.bytes[i]) * 1099511628211U;
    std::memcpy(pointer.bytes.data() + pointer.bytes.size() - 8, &hash, 8);
}

void import_pointer(fuzz::Numbers& numbers) {
    static Shared& shared = *new Shared;
    PointerExport pointer = shared.pointer;
    for (std::size_t changes = numbers.below(4); changes > 0; --changes) {
        const std::size_t at = numbers.below(pointer.bytes.size() / 8) * 8;
        const std::int64_t word = numbers.hostile();
        std::memcpy(pointer.bytes.data() + at, &word, sizeof(word));
    }
    if (numbers.below(4) != 3) correct_sum(pointer);
    const auto bytes = numbers.hostile_as<std::size_t>();
    const auto memory = fuzz::accepted([&] { return shared.imported.import_pointer(pointer, bytes); });
    if (!memory) return;
    fuzz::require(memory->bytes() <= kPoolBytes, "an imported allocation fits in the pool");
    // Both ends are in the mapping of the pool.
    volatile const std::byte* texels = memory->data();
    (void)texels[0];
    (void)texels[memory->bytes() - 1];
}

// Creates a sealed file in memory, as exporting processes do, with any contents.
void import_file(fuzz::Numbers& numbers) {
    const bool of_pool = numbers.flag();
    const char* name = numbers.below(8) == 7 ? "other" : of_pool ? "texton-pool" : "texton-memory";
    const int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    fuzz::require(file >= 0, "the system creates a file in memory");
    constexpr std::size_t kUnit = std::size_t{2} << 20;
    const std::size_t units = numbers.below(4);
    const std::size_t extra = numbers.below(4) == 3 ? numbers.hostile_as<std::uint8_t>() : 0;
    fuzz::require(ftruncate(file, static_cast<off_t>(units * kUnit + extra)) == 0, "the file gets its size");
    const auto asked = numbers.hostile_as<std::size_t>();
    std::vector<std::uint8_t> contents(numbers.rest().begin(), numbers.rest().end());
    if (numbers.below(4) != 3 && contents.size() >= 16) {  // the header of a pool of this size
        std::memcpy(contents.data(), "TXNPOOL1", 8);
        const std::uint64_t bytes = (units - 1) * kUnit;
        std::memcpy(contents.data() + 8, &bytes, 8);
    }
    if (units > 0) fuzz::require(pwrite(file, contents.data(), contents.size(), 0) >= 0, "the file is written");
    const int seals = numbers.below(8) == 7 ? F_SEAL_GROW : F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    fuzz::require(fcntl(file, F_ADD_SEALS, seals) == 0, "the file is sealed");
    const ShareableHandle handle{.type = HandleType::file_descriptor, .file_descriptor = file};
    if (of_pool) {
        const auto pool = fuzz::accepted([&] { return Pool::import(Device::cpu(), handle); });
        if (pool) (void)fuzz::accepted([&] { return pool->usage(); });
    } else {
        const auto memory = fuzz::accepted([&] { return Physical::import(Device::cpu(), handle, asked); });
        if (memory) fuzz::require(memory->bytes() <= units * kUnit + extra, "imported memory is in the file");
    }
    close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Numbers numbers({data, size});
    if (numbers.flag()) {
        import_pointer(numbers);
    } else {
        import_file(numbers);
    }
    return 0;
}
