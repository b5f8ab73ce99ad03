#pragma once
// Attributes of managed memory per page. The device owns the memory itself.
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <texton/location.h>
#include <texton/managed.h>

namespace texton::detail {

/// The attributes of one block of managed memory. Thread-safe. They do not affect accesses.
class CpuManaged {
public:
    static constexpr std::size_t kPage = std::size_t{64} << 10;  ///< bytes that share their attributes
    static constexpr int kMaxDevices = 31;                       ///< CPU devices have indices below this

    CpuManaged(std::size_t bytes, Attach attach) : pages_((bytes + kPage - 1) / kPage), attach_(attach) {}

    // Offsets and counts are in bytes.
    void advise(std::size_t offset, std::size_t count, Advice advice, const Location& location);
    void prefetched(std::size_t offset, std::size_t count, const Location& location);
    void attach(Attach attach);
    RangeAttributes attributes(std::size_t offset, std::size_t count) const;

private:
    struct Page {
        bool read_mostly = false;
        std::uint32_t accessed_by = 0;  // one bit per device; bit kMaxDevices is the host
        Location preferred;             // kind none if not advised
        Location prefetched;
        bool operator==(const Page&) const = default;
    };
    template <class Change>
    void change(std::size_t offset, std::size_t count, const Change& change);

    mutable std::mutex mutex_;
    std::vector<Page> pages_;
    Attach attach_;
};

/// The managed memory of all CPU devices, because each device may be asked about the memory of the others. Thread-safe.
class CpuManagedBlocks {
public:
    struct Part {
        std::shared_ptr<CpuManaged> block;
        std::size_t offset = 0;
    };
    static CpuManagedBlocks& instance();  ///< never destroyed

    void add(const std::byte* address, std::size_t bytes, Attach attach);
    void remove(const std::byte* address) noexcept;
    /// Throws Error{not_registered} if the range is not inside a managed block.
    Part find(const std::byte* address, std::size_t bytes) const;

private:
    struct Entry {
        std::size_t bytes = 0;
        std::shared_ptr<CpuManaged> block{};
    };
    mutable std::mutex mutex_;
    std::map<const std::byte*, Entry> blocks_;
};

}  // namespace texton::detail
