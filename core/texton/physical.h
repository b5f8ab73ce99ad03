#pragma once
#include <memory>
#include <span>

#include <texton/location.h>
#include <texton/view.h>

namespace texton {

namespace detail {
struct NativePhysical;
}

/// How physical memory is made (cuMemCreate).
struct PhysicalInfo {
    Location location = Location::none();  ///< a device or a NUMA node; none: the device it is made on
    HandleType handle = HandleType::none;  ///< how it can be exported
    bool tile_pool = false;                ///< for sparse and deferred arrays alone: cannot be mapped to addresses
    bool operator==(const PhysicalInfo&) const = default;
};

enum class Granularity : std::uint8_t { minimum, recommended };

/// Owns physical memory that has no address yet.
///
/// bytes() is a multiple of granularity(). Copies share it; it ends with the last copy and the last mapping.
class Physical {
public:
    /// The unit in which such memory is made and mapped.
    [[nodiscard]] static std::size_t granularity(const Device& device, const PhysicalInfo& info = {},
                                                 Granularity which = Granularity::minimum);

    Physical() = default;
    /// Error{bad_argument} if `bytes` is 0 or no multiple of the granularity: the message names the next one that is.
    Physical(const Device& device, std::size_t bytes, const PhysicalInfo& info = {});
    /// Memory of another process; `bytes` is what that one made.
    [[nodiscard]] static Physical import(const Device& device, const ShareableHandle& handle, std::size_t bytes);

    /// Error{not_permitted} if it was made without that handle type. The caller closes a file descriptor.
    [[nodiscard]] ShareableHandle export_handle(HandleType type = HandleType::file_descriptor) const;

    std::size_t bytes() const noexcept;
    PhysicalInfo info() const;
    Device device() const;

    /// For Texton's own parts.
    const std::shared_ptr<detail::Block>& block() const noexcept { return block_; }
    detail::NativePhysical* handle() const;

private:
    std::shared_ptr<detail::Block> block_;
};

/// Owns a range of device addresses into which physical memory is mapped. Move-only.
///
/// Views of it hold while what they cover stays mapped: unmap() makes older ones Error{released}.
class AddressRange {
public:
    AddressRange() = default;
    /// `bytes` must be a multiple of the granularity of what will be mapped.
    AddressRange(const Device& device, std::size_t bytes, std::size_t alignment = 0);

    /// Maps all of `memory` at `offset`. Error{overlap} if something is mapped there, Error{bad_argument} for an offset that
    /// is no multiple of the granularity. Nobody may touch it before set_access().
    void map(std::size_t offset, const Physical& memory);
    /// `offset` must be where a map() began.
    void unmap(std::size_t offset);
    /// For the whole of what is mapped.
    void set_access(std::span<const AccessGrant> grants) const;
    /// Reading and writing for the device itself.
    void set_access() const;

    std::byte* data() const noexcept;
    std::size_t bytes() const noexcept;
    Device device() const;
    /// Error{not_permitted} if a part of it is not mapped or has no access.
    View view(Format format, Extent extent, std::size_t offset = 0) const;

private:
    std::shared_ptr<detail::Block> block_;
};

}  // namespace texton
