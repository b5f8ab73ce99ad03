#include "arrays/jpeg_decoder.h"

#include <dlfcn.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/cuda_interop.h>
#include <texton/error.h>
#include <texton/pitched.h>

#include "arrays/cuda/upright_texels.h"
#include "core/cuda/call.h"

// nvJPEG decodes the codes on the CPU and transforms them on the GPU. Colors come out as three interleaved channels. A
// CUDA kernel turns them upright and widens them to four channels, in memory from which they are copied to the array.
//
// The types and values below are those that the documentation of nvJPEG names.

namespace texton::detail {
namespace {

struct NvjpegHandle;
struct NvjpegState;
struct NvjpegImage {
    std::array<unsigned char*, 4> channel;
    std::array<std::size_t, 4> pitch;  // in bytes
};

constexpr int kSuccess = 0, kBadJpeg = 3, kJpegNotSupported = 4, kAllocatorFailure = 5, kNotImplemented = 9,
              kIncomplete = 10;
constexpr int kOutputY = 2, kOutputRgbi = 5;

// Returns true if another decoder may read the file, or knows better what is wrong.
bool is_refused(int status) noexcept {
    return status == kBadJpeg || status == kJpegNotSupported || status == kNotImplemented || status == kIncomplete;
}

// The functions of the library. It is never unloaded.
struct Library {
    int (*create)(NvjpegHandle**);
    int (*destroy)(NvjpegHandle*);
    int (*create_state)(NvjpegHandle*, NvjpegState**);
    int (*destroy_state)(NvjpegState*);
    int (*get_info)(NvjpegHandle*, const unsigned char*, std::size_t, int*, int*, int*, int*);
    int (*decode)(NvjpegHandle*, NvjpegState*, const unsigned char*, std::size_t, int, NvjpegImage*, cudaStream_t);
};

[[noreturn]] void fail_to_load(const char* object, const std::string& why) {
    throw Error({.code = ErrorCode::unsupported,
                 .object = object,
                 .problem = "JPEG files cannot be decoded by a GPU, because nvJPEG cannot be loaded: " + why,
                 .remedy =
                     "Install nvJPEG, which is part of the CUDA Toolkit, and name its folder in LD_LIBRARY_PATH, or "
                     "let the CPU decode JPEG files (--jpeg full)."});
}

Library load_library(const char* object) {
    constexpr std::array kNames{"libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so",
                                "/usr/local/cuda/lib64/libnvjpeg.so"};
    void* file = nullptr;
    std::string why;
    for (const char* name : kNames) {
        file = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (file != nullptr) break;
        if (why.empty()) why = ::dlerror();
    }
    if (file == nullptr) fail_to_load(object, why);
    Library library{};
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(file, name));
        if (function == nullptr) fail_to_load(object, fmt::format("it has no function {}", name));
    };
    find(library.create, "nvjpegCreateSimple");
    find(library.destroy, "nvjpegDestroy");
    find(library.create_state, "nvjpegJpegStateCreate");
    find(library.destroy_state, "nvjpegJpegStateDestroy");
    find(library.get_info, "nvjpegGetImageInfo");
    find(library.decode, "nvjpegDecode");
    return library;
}

[[noreturn]] void fail(const char* object, const char* function, int status) {
    const bool no_memory = status == kAllocatorFailure;
    throw Error({.code = no_memory ? ErrorCode::out_of_memory : ErrorCode::device_failure,
                 .object = object,
                 .problem = fmt::format("{} failed with status {}", function, status),
                 .remedy = no_memory ? "Free memory of the device, or compute fewer images at once."
                                     : "Check the driver and the version of nvJPEG.",
                 .numbers = {{"status", static_cast<std::uint64_t>(status)}}});
}

class NvjpegDecoder final : public JpegDecoder {
public:
    NvjpegDecoder(const Device& device, const char* object)
        : object_(object), device_(device), library_(load_library(object)) {
        const DeviceScope scope(ordinal(device_));
        if (const int status = library_.create(&handle_); status != kSuccess)
            fail_to_load(object, fmt::format("nvjpegCreateSimple failed with status {}", status));
    }
    ~NvjpegDecoder() override {
        quietly([&] {
            const FreeScope scope(ordinal(device_));
            lanes_.clear();
            (void)library_.destroy(handle_);
        });
    }
    NvjpegDecoder(const NvjpegDecoder&) = delete;
    NvjpegDecoder& operator=(const NvjpegDecoder&) = delete;

    bool decode(std::span<const std::byte> file, Turn turn, const Array& array, const Stream& stream) override {
        const DeviceScope scope(ordinal(device_));
        Extent stored = array.info().extent;
        if (turn.transposed) std::swap(stored.width, stored.height);
        const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
        int channels = 0, subsampling = 0;
        std::array<int, 4> widths{}, heights{};
        int status =
            library_.get_info(handle_, bytes, file.size(), &channels, &subsampling, widths.data(), heights.data());
        if (is_refused(status)) return false;
        if (status != kSuccess) fail(object_, "nvjpegGetImageInfo", status);
        const std::size_t texel = info(array.info().format).bytes;
        const bool has_colors = channels == 3;
        const bool is_same = std::cmp_equal(widths[0], stored.width) && std::cmp_equal(heights[0], stored.height) &&
                             (has_colors ? texel == 4 : channels == 1 && texel == 1);
        if (!is_same) return false;

        Lane lane = take_lane();
        const Extent decoded{stored.width * (has_colors ? 3 : 1), stored.height};
        if (lane.decoded.extent() != decoded) lane.decoded = Pitched2D(device_, Format::r8_uint, decoded);
        NvjpegImage image{};
        image.channel[0] = reinterpret_cast<unsigned char*>(lane.decoded.data());
        image.pitch[0] = lane.decoded.pitch();
        status = library_.decode(handle_, lane.state.get(), bytes, file.size(), has_colors ? kOutputRgbi : kOutputY,
                                 &image, native(stream));
        if (status == kSuccess) make_upright(lane, has_colors, turn, array, stream);
        stream.synchronize();
        give_back(std::move(lane));
        if (status == kSuccess) return true;
        if (is_refused(status)) return false;
        fail(object_, "nvjpegDecode", status);
    }

private:
    // What a thread needs to decode. It is used for one file after the other.
    struct Lane {
        std::unique_ptr<NvjpegState, int (*)(NvjpegState*)> state;
        Pitched2D decoded{};
        Pitched2D upright{};
    };

    Lane take_lane() {
        const std::lock_guard lock(mutex_);
        if (!lanes_.empty()) {
            Lane lane = std::move(lanes_.back());
            lanes_.pop_back();
            return lane;
        }
        NvjpegState* state = nullptr;
        if (const int status = library_.create_state(handle_, &state); status != kSuccess)
            fail(object_, "nvjpegJpegStateCreate", status);
        return {{state, library_.destroy_state}};
    }
    void give_back(Lane lane) {
        const std::lock_guard lock(mutex_);
        lanes_.push_back(std::move(lane));
    }

    void make_upright(Lane& lane, bool has_colors, Turn turn, const Array& array, const Stream& stream) const {
        const Extent extent{array.info().extent.width, array.info().extent.height};
        if (lane.upright.extent() != extent || lane.upright.format() != array.info().format)
            lane.upright = Pitched2D(device_, array.info().format, extent);
        UprightMove move{.from = reinterpret_cast<const unsigned char*>(lane.decoded.data()),
                         .from_pitch = lane.decoded.pitch(),
                         .to = reinterpret_cast<unsigned char*>(lane.upright.data()),
                         .to_pitch = lane.upright.pitch(),
                         .width = static_cast<unsigned>(extent.width),
                         .height = static_cast<unsigned>(extent.height),
                         .turn = turn};
        constexpr unsigned kWidth = 32, kHeight = 8;
        const dim3 blocks{(move.width + kWidth - 1) / kWidth, (move.height + kHeight - 1) / kHeight, 1};
        std::array<void*, 1> arguments{&move};
        call<cudaLaunchKernel>(upright_kernel(has_colors), blocks, dim3{kWidth, kHeight, 1}, arguments.data(),
                               std::size_t{0}, native(stream));
        copy(array.view(), lane.upright.view(), stream);
    }

    const char* object_;  // of errors
    Device device_;
    Library library_;
    NvjpegHandle* handle_ = nullptr;
    std::mutex mutex_;
    std::vector<Lane> lanes_;  // that no thread uses
};

}  // namespace

std::unique_ptr<JpegDecoder> make_cuda_jpeg_decoder(const Device& device, const char* object) {
    return std::make_unique<NvjpegDecoder>(device, object);
}

}  // namespace texton::detail
