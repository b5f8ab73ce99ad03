// Decodes the images of a folder and encodes them in another folder, on several threads, with nothing but OpenImageIO: what
// a batch must do at least. Nothing waits for the disk.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <OpenImageIO/imageio.h>
#include <fmt/format.h>

namespace {

namespace fs = std::filesystem;

bool recode(const fs::path& from, const fs::path& to) {
    const auto input = OIIO::ImageInput::open(from.string());
    if (input == nullptr) return false;
    const OIIO::ImageSpec spec = input->spec();
    std::vector<std::byte> texels(spec.image_bytes(true));
    if (!input->read_image(0, 0, 0, spec.nchannels, spec.format, texels.data())) return false;
    const auto output = OIIO::ImageOutput::create(to.string());
    return output != nullptr && output->open(to.string(), spec) && output->write_image(spec.format, texels.data()) &&
           output->close();
}

}  // namespace

int main(int argc, char** argv) {
    const int count = argc == 4 ? std::atoi(argv[3]) : 0;
    if (count < 1) {
        fmt::print(stderr, "usage: texton-recode-files FROM TO THREADS\n");
        return 2;
    }
    const fs::path to = argv[2];
    fs::create_directories(to);
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(argv[1])) files.push_back(entry.path());
    OIIO::attribute("threads", 1);
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < count; ++i)
            threads.emplace_back([&] {
                for (std::size_t file; (file = next++) < files.size();) {
                    if (!recode(files[file], to / files[file].filename())) failed = true;
                }
            });
    }
    if (failed) fmt::print(stderr, "texton-recode-files: some images cannot be read or written\n");
    return failed ? 1 : 0;
}
