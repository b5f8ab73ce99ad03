// Texts that users type: names, parameters, samplers, sizes, devices, numbers. The input is one text; a tab separates
// several.
#include <texton/image_file.h>
#include <texton/kernel.h>

#include "tests/fuzz/fuzz.h"
#include "viewer/model/document.h"
#include "viewer/model/kernel_run.h"
#include "viewer/text/enum_names.h"
#include "viewer/text/parameter_text.h"
#include "viewer/text/value_text.h"

using namespace texton;

namespace {

void check_names(const std::string& text) {
    const std::optional<Format> format = format_named(text);
    fuzz::require(!format || name(*format) == text, "a format has the name that it was found by");
    const std::optional<ArrayKind> kind = array_kind_named(text);
    fuzz::require(!kind || name(*kind) == text, "a kind has the name that it was found by");
    const auto mode = viewer::value_of(viewer::kAddressModes, text);
    fuzz::require(!mode || viewer::name_of(viewer::kAddressModes, *mode) == text, "an address mode has its name");
    (void)fuzz::accepted([&] { return verify::format_of(text, "input"); });
    (void)fuzz::accepted([&] { return verify::kind_of(text, "input"); });
    if (text.size() < 8) (void)fuzz::accepted([&] { return viewer::device_named(text); });
}

void check_numbers(const std::string& text) {
    if (const auto numbers = viewer::list_of(text)) {
        const auto again = viewer::list_of(viewer::list_text(*numbers));
        fuzz::require(again && again->size() == numbers->size(), "a list that was written is read again");
        for (std::size_t i = 0; i < numbers->size(); ++i)
            fuzz::require(fuzz::same((*again)[i], (*numbers)[i]), "numbers that were written are read again");
    }
    if (const auto size = fuzz::accepted([&] { return verify::size_of(text, "input"); }))
        fuzz::require(size->width > 0 && size->height > 0, "a size has texels");
}

void check_raw_frames(const std::string& text) {
    const auto raw = fuzz::accepted([&] { return raw_frames_of(text); });
    if (raw) fuzz::require(raw_frames_of(to_string(*raw)) == *raw, "raw frames have the text that describes them");
    const auto named = raw_frames_in_name(text);
    if (named) fuzz::require(raw_frames_in_name(to_string(*named) + ".yuv") == named, "a name describes raw frames");
}

void check_sampler(const std::string& text) {
    const auto json = fuzz::accepted([&] { return verify::sampler_json(text); });
    if (!json) return;
    ArrayInfo cubemap;
    cubemap.format = Format::r32_uint;
    cubemap.kind = ArrayKind::cubemap;
    for (const ArrayInfo& array : {ArrayInfo{}, cubemap}) {
        const auto sampler = fuzz::accepted([&] { return verify::sampler_of(*json, "input", array); });
        if (sampler)
            fuzz::require(sampler->max_anisotropy >= 1 && sampler->max_anisotropy <= 16, "a sampler is possible");
    }
}

// Trying every kernel would take longer than all else, so the length of the input selects some.
void check_parameters(const std::vector<std::string>& texts, std::size_t size) {
    constexpr std::size_t kStep = 8;
    for (std::size_t i = size % kStep; i < kernels().size(); i += kStep) {
        const Kernel& kernel = kernels()[i];
        const auto values = fuzz::accepted([&] { return verify::parameters_of(kernel.info, texts); });
        if (!values) continue;
        (void)fuzz::accepted([&] { return Arguments(kernel.info, *values); });
        for (const auto& [key, value] : *values) (void)viewer::value_text(value);
    }
}

void check_texel(fuzz::Bytes bytes) {
    for (const FormatInfo& row : formats()) {
        const auto channels = viewer::stored_channels(row.format, std::as_bytes(bytes));
        fuzz::require(channels.empty() || channels.size() == row.channels, "a texel has the channels of its format");
    }
    (void)viewer::byte_text(std::as_bytes(bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(fuzz::text_of({data, size}));
    check_names(text);
    check_numbers(text);
    check_raw_frames(text);
    check_sampler(text);
    check_parameters(fuzz::split(text, '\t'), size);
    (void)viewer::kernels_like(text);
    (void)viewer::title_of_name(text);
    check_texel({data, std::min<std::size_t>(size, 32)});
    return 0;
}
