#pragma once
// What is known of a block of managed memory, page by page. The memory itself is the device's.
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <texton/location.h>
#include <texton/managed.h>

namespace texton::detail {

class CpuManaged {
public:
    static constexpr std::size_t kPage = std::size_t{64} << 10;  ///< bytes that share their attributes

    CpuManaged(std::size_t bytes, Attach attach) : pages_((bytes + kPage - 1) / kPage), attach_(attach) {}

    // Offsets and counts in bytes.
    void advise(std::size_t offset, std::size_t count, Advice advice, const Location& location);
    void prefetched(std::size_t offset, std::size_t count, const Location& location);
    void attach(Attach attach);
    RangeAttributes attributes(std::size_t offset, std::size_t count) const;

private:
    struct Page {
        bool read_mostly = false;
        std::uint32_t accessed_by = 0;  // a bit a device, the highest for the host
        Location preferred;             // of kind none: not advised
        Location prefetched;
        bool operator==(const Page&) const = default;
    };
    template <class Change>
    void change(std::size_t offset, std::size_t count, const Change& change);

    mutable std::mutex mutex_;
    std::vector<Page> pages_;
    Attach attach_;
};

/// Managed memory of all CPU devices: any of them may be asked about it.
class CpuManagedBlocks {
public:
    struct Part {
        std::shared_ptr<CpuManaged> block;
        std::size_t offset = 0;
    };
    static CpuManagedBlocks& instance();  ///< never destroyed

    void add(const std::byte* address, std::size_t bytes, Attach attach);
    void remove(const std::byte* address) noexcept;
    /// Error{not_registered} if the range lies in no such memory.
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
