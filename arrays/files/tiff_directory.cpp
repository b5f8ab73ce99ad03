#include "arrays/files/tiff_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "arrays/files/descriptor.h"

namespace texton::detail {
namespace {

// Reads integers of a TIFF file in its byte order.
class Numbers {
public:
    explicit Numbers(const std::filesystem::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

    // Makes `bytes` bytes of the file, or those that there are, the ones that number() reads.
    void load(std::uint64_t at, std::size_t bytes) {
        bytes_.resize(bytes);
        const ssize_t got = ::pread(file_.number(), bytes_.data(), bytes, static_cast<off_t>(at));
        bytes_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    }
    // Returns an integer of `bytes` bytes, or 0 if it was not loaded.
    std::uint64_t number(std::size_t at, unsigned bytes) const {
        if (at + bytes > bytes_.size()) return 0;
        std::uint64_t value = 0;
        for (unsigned i = 0; i < bytes; ++i) value = value << 8 | bytes_[at + (big_endian_ ? i : bytes - 1 - i)];
        return value;
    }
    void set_big_endian(bool big_endian) { big_endian_ = big_endian; }
    std::size_t size() const { return bytes_.size(); }

private:
    OwnedDescriptor file_;
    std::vector<unsigned char> bytes_;
    bool big_endian_ = false;
};

}  // namespace

TiffDirectory first_tiff_directory(const std::filesystem::path& path) {
    constexpr std::uint64_t kImageDepth = 32997;
    constexpr unsigned kShort = 3;
    constexpr std::size_t kHeader = 16;
    Numbers file(path);
    file.load(0, kHeader);
    file.set_big_endian(file.number(0, 2) == 0x4d4d);
    const bool large = file.number(2, 2) == 43;  // BigTIFF
    const std::size_t count_bytes = large ? 8 : 2, entry_bytes = large ? 20 : 12, offset_bytes = large ? 8 : 4;
    const std::uint64_t at = large ? file.number(8, 8) : file.number(4, 4);
    file.load(at, count_bytes);
    const std::size_t count = std::min<std::size_t>(file.number(0, static_cast<unsigned>(count_bytes)), 0xffff);
    const std::size_t end = count_bytes + count * entry_bytes;
    file.load(at, end + offset_bytes);
    TiffDirectory directory;
    if (count == 0) return directory;
    directory.is_last = file.size() == end + offset_bytes && file.number(end, static_cast<unsigned>(offset_bytes)) == 0;
    for (std::size_t entry = count_bytes; entry < end; entry += entry_bytes) {
        if (file.number(entry, 2) != kImageDepth) continue;
        directory.slices = file.number(entry + (large ? 12 : 8), file.number(entry + 2, 2) == kShort ? 2 : 4);
        break;
    }
    return directory;
}

}  // namespace texton::detail
