#include "viewer/tiles/row_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/files/zstd_frames.h"
#include "core/file_error.h"
#include "core/parallel.h"
#include "core/unfinished_file.h"

namespace texton::tiles {
namespace {

namespace fs = std::filesystem;

constexpr const char* kObject = "texton::tiles::RowFile";
constexpr std::uint32_t kMagic = 0x42525854;            // "TXRB"
constexpr std::size_t kBlock = std::size_t{512} << 10;  // texels of a block in bytes, if it has several rows
constexpr std::size_t kPage = 4096;

// Opens a file with a random name and removes the name, for file systems without O_TMPFILE.
int open_and_remove(const fs::path& folder) {
    const fs::path path = folder / detail::temporary_name(std::random_device()(), ".rows");
    const detail::UnfinishedFile unfinished(path);
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) ::unlink(path.c_str());
    return file;
}

}  // namespace

// Precedes the compressed bytes of each block.
struct RowFile::Header {
    std::uint32_t magic = kMagic;
    std::uint32_t checksum = 0;  // of the members below
    std::uint64_t slice = 0;
    std::uint64_t first = 0;  // row
    std::uint32_t rows = 0;
    std::uint32_t bytes = 0;  // after the header
    std::uint32_t data_checksum = 0;
    std::uint16_t compression = 0;
    std::uint16_t uses_row_above = 0;

    std::uint32_t own_checksum() const noexcept {
        constexpr std::size_t kBegin = sizeof magic + sizeof checksum;
        static_assert(sizeof(Header) == 40, "no padding, which would not be defined");
        return checksum_of(std::as_bytes(std::span(this, 1)).subspan(kBegin));
    }
};

void fail_to_write_rows(const fs::path& path, int error) {
    detail::fail_file(
        kObject, path, fmt::format("cannot be written: {}", std::generic_category().message(error)),
        "Check the folder and the space on the disk. With --resume, the rows that were finished are kept.",
        ErrorCode::io, {{"errno", static_cast<std::uint64_t>(error)}});
}

RowFile::RowFile(fs::path path, RowLayout layout, detail::OwnedDescriptor file)
    : path_(std::move(path)), layout_(layout), file_(std::move(file)) {}

RowFile::RowFile(fs::path path, RowLayout layout, bool creates)
    : path_(std::move(path)),
      layout_(layout),
      file_(::open(path_.c_str(), O_RDWR | O_CLOEXEC | (creates ? O_CREAT | O_NOFOLLOW : 0), 0600)) {
    if (!file_) fail_to_write_rows(path_, errno);
}

RowFile RowFile::unnamed(const fs::path& folder, RowLayout layout) {
    const fs::path beside = folder.empty() ? fs::path(".") : folder;
    detail::OwnedDescriptor file(::open(beside.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
    if (!file) file = detail::OwnedDescriptor(open_and_remove(beside));
    if (!file) fail_to_write_rows(beside, errno);
    fs::path path = fmt::format("/proc/{}/fd/{}", ::getpid(), file.number());
    return {std::move(path), layout, std::move(file)};
}

RowLayout row_layout(Format format, const Extent& extent) {
    const FormatInfo& texel = info(format);
    RowLayout layout{row_bytes(format, extent.width), extent.height, extent.depth};
    const std::size_t channel = texel.bits / std::size_t{8};
    const bool has_whole_bytes = channel == 1 || channel == 2 || channel == 4;
    if (has_whole_bytes && texel.bytes == channel * texel.channels) layout.texel = {channel, texel.channels};
    return layout;
}

std::size_t RowFile::block_rows() const noexcept {
    return std::max<std::size_t>(1, kBlock / std::max<std::size_t>(1, layout_.row_bytes));
}

// Blocks begin at pages of the file system, so that two blocks never share one.
std::size_t RowFile::position(std::size_t slice, std::size_t row) const noexcept {
    const std::size_t pages = (layout_.row_bytes + sizeof(Header) + kPage - 1) / kPage;
    return (slice * layout_.rows + row) * pages * kPage;
}

// Returns false if there is no valid header.
bool RowFile::read_header(std::size_t slice, std::size_t row, Header& header) const {
    const std::size_t begin = position(slice, row);
    const std::size_t got = for_all_bytes(sizeof header, [&](std::size_t at, std::size_t left) {
        return ::pread(file_.number(), reinterpret_cast<std::byte*>(&header) + at, left,
                       static_cast<off_t>(begin + at));
    });
    return got == sizeof header && header.magic == kMagic && header.checksum == header.own_checksum() &&
           header.slice == slice && header.first == row && header.rows > 0 && row + header.rows <= layout_.rows;
}

void RowFile::read_block(std::size_t slice, Rows block, std::byte* texels) const {
    Header header;
    if (!read_header(slice, block.first, header) || header.rows != block.count()) fail_to_read();
    const std::size_t size = block.count() * layout_.row_bytes;
    if (header.bytes > size) fail_to_read();
    CompressedBlock compressed{static_cast<BlockCompression>(header.compression), header.uses_row_above != 0,
                               std::vector<std::byte>(header.bytes)};
    std::vector<std::byte>& bytes = compressed.bytes;
    const std::size_t begin = position(slice, block.first) + sizeof header;
    const std::size_t got = for_all_bytes(bytes.size(), [&](std::size_t at, std::size_t left) {
        return ::pread(file_.number(), bytes.data() + at, left, static_cast<off_t>(begin + at));
    });
    if (got != bytes.size() || checksum_of(bytes) != header.data_checksum ||
        !decompress_block(compressed, {texels, size}, layout_.row_bytes, layout_.texel))
        fail_to_read();
}

void RowFile::write_block(std::size_t slice, Rows block, const std::byte* texels) {
    const CompressedBlock compressed =
        compress_block({texels, block.count() * layout_.row_bytes}, layout_.row_bytes, layout_.texel);
    Header header{.slice = slice,
                  .first = block.first,
                  .rows = static_cast<std::uint32_t>(block.count()),
                  .bytes = static_cast<std::uint32_t>(compressed.bytes.size()),
                  .data_checksum = checksum_of(compressed.bytes),
                  .compression = static_cast<std::uint16_t>(compressed.compression),
                  .uses_row_above = compressed.uses_row_above};
    header.checksum = header.own_checksum();
    std::vector<std::byte> bytes(sizeof header + compressed.bytes.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    std::ranges::copy(compressed.bytes, bytes.begin() + sizeof header);
    const std::size_t begin = position(slice, block.first);
    const std::size_t written = for_all_bytes(bytes.size(), [&](std::size_t at, std::size_t left) {
        return ::pwrite(file_.number(), bytes.data() + at, left, static_cast<off_t>(begin + at));
    });
    if (written != bytes.size()) fail_to_write();
}

// Returns the readable block with a row.
Rows RowFile::block_with(std::size_t row) const {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.upper_bound(row);
    if (block == blocks_.begin() || std::prev(block)->second <= row) fail_to_read();
    return {std::prev(block)->first, std::prev(block)->second};
}

void RowFile::read(std::size_t slice, Rows rows, std::size_t first_byte, std::size_t bytes, std::byte* texels) const {
    std::vector<Rows> whole;  // blocks
    for (std::size_t row = rows.first; row < rows.end;) {
        const Rows block = block_with(row);
        const std::size_t end = std::min(block.end, rows.end);
        std::byte* const out = texels + (row - rows.first) * bytes;
        if (bytes == layout_.row_bytes && block.first == row && block.end == end) {
            whole.push_back(block);
        } else {
            const std::lock_guard lock(mutex_);
            if (last_.slice != slice || last_.rows != block) {
                last_.rows = {};
                last_.texels.resize(block.count() * layout_.row_bytes);
                read_block(slice, block, last_.texels.data());
                last_.slice = slice;
                last_.rows = block;
            }
            for (std::size_t y = row; y < end; ++y)
                std::memcpy(out + (y - row) * bytes,
                            last_.texels.data() + (y - block.first) * layout_.row_bytes + first_byte, bytes);
        }
        row = end;
    }
    detail::run_in_parallel(whole.size(), [&](std::size_t i) {
        read_block(slice, whole[i], texels + (whole[i].first - rows.first) * bytes);
    });
}

void RowFile::write(Rows rows, const std::byte* texels, Rows texel_rows) {
    const std::size_t blocks = (rows.count() + block_rows() - 1) / block_rows();  // of a slice
    detail::run_in_parallel(blocks * layout_.slices, [&](std::size_t i) {
        const std::size_t slice = i / blocks;
        const std::size_t row = rows.first + i % blocks * block_rows();
        const std::size_t before = slice * texel_rows.count() + row - texel_rows.first;
        write_block(slice, {row, std::min(row + block_rows(), rows.end)}, texels + before * layout_.row_bytes);
    });
    add(rows);
}

void RowFile::add(Rows rows) {
    const std::lock_guard lock(mutex_);
    for (std::size_t row = rows.first; row < rows.end; row += block_rows())
        blocks_[row] = std::min(row + block_rows(), rows.end);
}

bool RowFile::find(Rows rows) {
    std::map<std::size_t, std::size_t> found;
    for (std::size_t row = rows.first; row < rows.end;) {
        Header header;
        for (std::size_t slice = 0; slice < layout_.slices; ++slice) {
            const std::size_t expected = header.rows;
            if (!read_header(slice, row, header) || (slice > 0 && header.rows != expected)) return false;
            if (header.compression == static_cast<std::uint16_t>(BlockCompression::zstd) && !detail::has_zstd())
                detail::fail_file(kObject, path_, "is compressed with Zstandard, which this build cannot read",
                                  "Use the build that wrote it, or remove the file and compute the image again.",
                                  ErrorCode::unsupported);
        }
        found[row] = row + header.rows;
        row += header.rows;
        if (row > rows.end) return false;
    }
    const std::lock_guard lock(mutex_);
    blocks_.merge(found);
    return true;
}

void RowFile::add_rows_of(const RowFile& other) {
    const std::scoped_lock lock(mutex_, other.mutex_);
    blocks_ = other.blocks_;
}

void RowFile::free_before(std::size_t row) {
    const std::lock_guard lock(mutex_);
    while (!blocks_.empty() && blocks_.begin()->second <= row) {
        const auto [first, end] = *blocks_.begin();
        for (std::size_t slice = 0; slice < layout_.slices; ++slice) {
            const std::size_t begin = position(slice, first);
            [[maybe_unused]] const int status =
                ::fallocate(file_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                            static_cast<off_t>(position(slice, end) - begin));
        }
        blocks_.erase(blocks_.begin());
    }
}

void RowFile::synchronize() const {
    if (::fdatasync(file_.number()) != 0) fail_to_write();
}

void RowFile::clear() {
    if (::ftruncate(file_.number(), 0) != 0) fail_to_write();
    const std::lock_guard lock(mutex_);
    blocks_.clear();
    last_.rows = {};
}

void RowFile::fail_to_write() const { fail_to_write_rows(path_, errno); }

void RowFile::fail_to_read() const {
    detail::fail_file(kObject, path_, "is damaged or cannot be read", "Remove it and compute the image again.");
}

}  // namespace texton::tiles
