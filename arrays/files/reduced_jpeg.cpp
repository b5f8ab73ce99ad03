#include "arrays/files/reduced_jpeg.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <jpeglib.h>

#include "arrays/files/input_file.h"
#include "arrays/files/layout.h"
#include "core/file_error.h"

// A block of 8 x 8 coefficients becomes 4 x 4, 2 x 2 or 1 x 1 texels: an inverse transform of the low frequencies takes
// less time than decoding all texels and averaging them, and most of the later work is saved. Other eighths are
// not used: libjpeg-turbo has no vector code for them, and decodes 3000 x 2250 of 4000 x 3000 texels more slowly than all.
//
// Errors of libjpeg leave its functions with longjmp(). So each of its functions is called within Decoder::call(), and no
// object between there and libjpeg has a destructor.

namespace texton::detail {
namespace {

constexpr const char* kRead = "texton::ImageFile";
constexpr std::array kDivisors{8U, 4U, 2U};
constexpr std::size_t kMargin = 2;  // texels of the reduced image for one of the target, along an axis
constexpr std::size_t kRowsAtOnce = 16;

// The error manager of libjpeg. The library sees the first member.
struct JpegErrors {
    jpeg_error_mgr manager;
    std::jmp_buf jump;
    char text[JMSG_LENGTH_MAX];  // of the first warning or of the error
};

JpegErrors& errors_of(j_common_ptr info) noexcept { return *reinterpret_cast<JpegErrors*>(info->err); }

[[noreturn]] void leave(j_common_ptr info) {
    JpegErrors& errors = errors_of(info);
    errors.manager.format_message(info, errors.text);
    std::longjmp(errors.jump, 1);
}

// libjpeg warns of damaged data, and goes on with texels that it makes up. Negative levels are warnings.
void note_warning(j_common_ptr info, int level) {
    JpegErrors& errors = errors_of(info);
    if (level < 0 && errors.manager.num_warnings++ == 0) errors.manager.format_message(info, errors.text);
}

void print_nothing(j_common_ptr) {}

// Returns the divisor for a file of this size, or 1.
unsigned divisor_for(Extent file, Extent target) noexcept {
    for (const unsigned divisor : kDivisors) {
        if (file.width / divisor >= kMargin * target.width && file.height / divisor >= kMargin * target.height)
            return divisor;
    }
    return 1;
}

// An open file. Rows are decoded from the first to the last.
class Decoder {
public:
    // Reads the header. Throws Error{io}.
    explicit Decoder(const std::filesystem::path& path)
        : path_(path), file_(std::fopen(path.c_str(), "rbe"), &std::fclose) {
        if (file_ == nullptr) fail_file(kRead, path_, "cannot be opened: " + system_message(), "Check the file.");
        info_.err = ::jpeg_std_error(&errors_.manager);
        errors_.manager.error_exit = leave;
        errors_.manager.emit_message = note_warning;
        errors_.manager.output_message = print_nothing;
        const bool is_read = call([&] {
            jpeg_create_decompress(&info_);
            ::jpeg_stdio_src(&info_, file_.get());
            ::jpeg_read_header(&info_, TRUE);
        });
        if (is_read) return;
        ::jpeg_destroy_decompress(&info_);
        fail();
    }
    ~Decoder() { ::jpeg_destroy_decompress(&info_); }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    // Returns true for the kinds that need no memory for all coefficients and whose colors libjpeg converts to RGB as
    // OpenImageIO does. `texel_bytes` is 1 for gray and 4 for colors.
    bool is_decoded(std::size_t texel_bytes) {
        const bool is_gray = info_.num_components == 1 && info_.jpeg_color_space == JCS_GRAYSCALE;
        const bool has_colors =
            info_.num_components == 3 && (info_.jpeg_color_space == JCS_YCbCr || info_.jpeg_color_space == JCS_RGB);
        return info_.data_precision == 8 && ::jpeg_has_multiple_scans(&info_) == FALSE &&
               ((is_gray && texel_bytes == 1) || (has_colors && texel_bytes == 4));
    }

    // Begins to decode at a part of the size. Throws Error{io} if the result does not have this size.
    void start(unsigned divisor, Extent expected) {
        errors_.manager.num_warnings = 0;  // those of the header are no damage of the texels
        info_.scale_num = 1;
        info_.scale_denom = divisor;
        info_.out_color_space = info_.num_components == 1 ? JCS_GRAYSCALE : JCS_EXT_RGBA;
        require(call([&] { ::jpeg_start_decompress(&info_); }));
        if (info_.output_width != expected.width || info_.output_height != expected.height)
            fail_file(kRead, path_, "has changed since it was opened", "Open it again.");
    }

    std::size_t next_row() const noexcept { return info_.output_scanline; }

    // Decodes rows that are `row_bytes` apart. Throws Error{io}.
    void read(std::size_t rows, std::size_t row_bytes, std::byte* to) {
        std::array<JSAMPROW, kRowsAtOnce> starts{};
        require(call([&] {
            for (std::size_t done = 0; done < rows;) {
                const std::size_t count = std::min(rows - done, kRowsAtOnce);
                for (std::size_t i = 0; i < count; ++i)
                    starts[i] = reinterpret_cast<JSAMPROW>(to + (done + i) * row_bytes);
                done += ::jpeg_read_scanlines(&info_, starts.data(), static_cast<JDIMENSION>(count));
            }
        }));
    }

private:
    // Returns false if libjpeg reported an error. `use` must not create objects with destructors.
    template <class Use>
    bool call(const Use& use) {
        if (setjmp(errors_.jump) != 0) return false;
        use();
        return true;
    }

    void require(bool is_good) {
        if (!is_good || errors_.manager.num_warnings > 0) fail();
    }
    [[noreturn]] void fail() {
        fail_file(kRead, path_, fmt::format("cannot be read completely: {}", clause(errors_.text)),
                  "The file may be damaged.");
    }

    const std::filesystem::path path_;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    JpegErrors errors_{};
    jpeg_decompress_struct info_{};
};

class ReducedJpeg : public ImageSource {
public:
    ReducedJpeg(std::filesystem::path path, const FileIdentity& identity, const ImageSource& file, unsigned divisor,
                Extent extent)
        : ImageSource(file.format(), file.srgb(), {extent}),
          path_(std::move(path)),
          identity_(identity),
          divisor_(divisor) {}

    void read(int, const Region& box, std::byte* packed) const override {
        const std::lock_guard lock(mutex_);
        const FileReading reading;
        try {
            read_rows(box, packed);
        } catch (...) {
            decoder_.reset();  // the next call begins again
            throw;
        }
    }
    std::vector<Region> boxes(int, std::size_t max_bytes) const override {
        return cut(format(), whole(level(0)), {level(0).width, 1, 1}, max_bytes);
    }
    ImageAccess access(int) const override { return {{level(0).width, 1, 1}, true}; }

private:
    void read_rows(const Region& box, std::byte* packed) const {
        if (decoder_ == nullptr || decoder_->next_row() > box.offset.y) {
            decoder_ = std::make_unique<Decoder>(path_);
            if (identity_of(path_) != identity_)
                fail_file(kRead, path_, "has changed since it was opened", "Open it again.");
            decoder_->start(divisor_, level(0));
        }
        const std::size_t bytes = row_bytes(format(), level(0).width);
        const bool is_whole = box.extent.width == level(0).width;
        std::vector<std::byte> row;
        if (!is_whole || decoder_->next_row() < box.offset.y) row.resize(bytes);
        while (decoder_->next_row() < box.offset.y) decoder_->read(1, bytes, row.data());
        if (is_whole) {
            decoder_->read(box.extent.height, bytes, packed);
        } else {
            const std::size_t part = row_bytes(format(), box.extent.width);
            for (std::size_t y = 0; y < box.extent.height; ++y) {
                decoder_->read(1, bytes, row.data());
                std::memcpy(packed + y * part, row.data() + row_bytes(format(), box.offset.x), part);
            }
        }
        if (decoder_->next_row() == level(0).height) decoder_.reset();  // closes the file
    }

    const std::filesystem::path path_;
    const FileIdentity identity_;
    const unsigned divisor_;
    mutable std::mutex mutex_;
    mutable std::unique_ptr<Decoder> decoder_;
};

}  // namespace

bool has_libjpeg() noexcept { return true; }

unsigned reduce_jpeg(const std::filesystem::path& path, Extent target, OpenedImage& opened) {
    if (opened.metadata.file_kind != "jpeg") return 1;
    if (upright_turn(opened.metadata.orientation).transposed) std::swap(target.width, target.height);
    const Extent file = opened.file->level(0);
    const unsigned divisor = divisor_for(file, target);
    const FileIdentity identity = identity_of(path);
    if (divisor == 1 || !Decoder(path).is_decoded(info(opened.file->format()).bytes)) return 1;
    const Extent reduced{(file.width + divisor - 1) / divisor, (file.height + divisor - 1) / divisor};
    opened.file = std::make_shared<ReducedJpeg>(path, identity, *opened.file, divisor, reduced);
    opened.metadata.data = opened.metadata.display = frame_of(kRead, reduced);
    opened.data = opened.displays = {opened.metadata.data};
    opened.conversions.push_back(
        fmt::format("The image of {} x {} texels is decoded at 1/{} of its size.", file.width, file.height, divisor));
    return divisor;
}

}  // namespace texton::detail
