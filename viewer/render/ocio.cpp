// Color management with OpenColorIO. Its optimized CPU processor is applied to the values themselves, so that no table
// is interpolated, except the curves of ICC profiles.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

#include <OpenColorIO/OpenColorIO.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/error.h>

#include "viewer/render/color_transform.h"
#include "viewer/render/icc_profile.h"

namespace texton::viewer {
namespace {

namespace ocio = OCIO_NAMESPACE;

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton::viewer::ColorConversion",
                 .problem = std::move(problem),
                 .remedy = std::move(remedy)});
}

// Returns the path of the config file, or an empty string for Texton's own config.
std::string config_path(const ColorConversion& color) {
    if (!color.config.empty()) return color.config;
    const char* path = std::getenv("OCIO");
    return path == nullptr ? std::string() : path;
}

// Returns the message without a period at its end, as errors of Texton add one.
std::string message_of(const ocio::Exception& error) {
    std::string out = error.what();
    while (out.ends_with('.') || out.ends_with('\n')) out.pop_back();
    return out;
}

ocio::ConstConfigRcPtr read_config(const std::string& path) {
    try {
        ocio::ConstConfigRcPtr config;
        if (path.empty()) {
            std::istringstream text(kOwnColorConfig);
            config = ocio::Config::CreateFromStream(text);
        } else {
            config = ocio::Config::CreateFromFile(path.c_str());
        }
        config->validate();
        return config;
    } catch (const ocio::Exception& error) {
        refuse(fmt::format("the color config {} cannot be used: {}", path, message_of(error)),
               "Choose a config of OpenColorIO 2.1 or earlier with --ocio or $OCIO, or none.");
    }
}

ColorNames names_of(const ocio::Config& config, const std::string& display) {
    ColorNames out;
    for (int i = 0; i < config.getNumColorSpaces(); ++i) out.inputs.emplace_back(config.getColorSpaceNameByIndex(i));
    for (int i = 0; i < config.getNumDisplays(); ++i) out.displays.emplace_back(config.getDisplay(i));
    const auto move_to_front = [](std::vector<std::string>& names, const std::string& name) {
        const auto found = std::ranges::find(names, name);
        if (found != names.end()) std::rotate(names.begin(), found, found + 1);
    };
    move_to_front(out.displays, config.getDefaultDisplay());
    const std::string chosen = display.empty() ? config.getDefaultDisplay() : display;
    for (int i = 0; i < config.getNumViews(chosen.c_str()); ++i)
        out.views.emplace_back(config.getView(chosen.c_str(), i));
    move_to_front(out.views, config.getDefaultView(chosen.c_str()));
    return out;
}

// Returns the chosen name, or the first one if it is empty.
const std::string& name_in(const std::vector<std::string>& names, const std::string& chosen, const char* what) {
    if (chosen.empty() && !names.empty()) return names.front();
    const auto found = std::ranges::find(names, chosen);
    if (found == names.end())
        refuse(fmt::format("the color config has no {} '{}'", what, chosen),
               fmt::format("Use one of: {}.", fmt::join(names, ", ")));
    return *found;
}

class OcioTransform : public ColorTransform {
public:
    explicit OcioTransform(ocio::ConstCPUProcessorRcPtr processor) : processor_(std::move(processor)) {}

    void apply(std::span<Color> colors) const override {
        static_assert(sizeof(Color) == 4 * sizeof(float));
        if (colors.empty()) return;  // OpenColorIO refuses images without pixels
        ocio::PackedImageDesc pixels(colors.data(), static_cast<long>(colors.size()), 1, 4);
        processor_->apply(pixels);
    }

private:
    ocio::ConstCPUProcessorRcPtr processor_;
};

// Results and errors by key, so that a tile does not read a config again.
template <class Key, class Value>
class Cache {
public:
    template <class Make>
    Value get(const Key& key, const Make& make) {
        const std::lock_guard lock(mutex_);
        auto found = entries_.find(key);
        if (found == entries_.end()) {
            if (entries_.size() >= kMaxEntries) entries_.clear();
            Entry entry;
            try {
                entry.value = make();
            } catch (const Error&) {
                entry.error = std::current_exception();
            }
            found = entries_.emplace(key, std::move(entry)).first;
        }
        if (found->second.error) std::rethrow_exception(found->second.error);
        return found->second.value;
    }

private:
    static constexpr std::size_t kMaxEntries = 64;
    struct Entry {
        Value value{};
        std::exception_ptr error{};
    };
    std::mutex mutex_;
    std::map<Key, Entry> entries_;
};

ocio::ConstConfigRcPtr config_of(const std::string& path) {
    static Cache<std::string, ocio::ConstConfigRcPtr> configs;
    return configs.get(path, [&] { return read_config(path); });
}

RgbProfile usable_profile(const FileColors& colors) {
    if (!colors.profile || colors.profile->empty())
        refuse("the file of the image has no ICC profile", "Choose a color space of the config, or none.");
    std::string problem;
    RgbProfile profile = rgb_profile(*colors.profile, problem);
    if (!problem.empty())
        refuse(fmt::format("the ICC profile of the file {}", problem),
               "Only profiles of RGB with a matrix and curves are supported. Choose a color space of the config, or "
               "none.");
    return profile;
}

// The steps from the values of the file to ACES2065-1.
ocio::GroupTransformRcPtr from_profile(const RgbProfile& profile, bool decoded) {
    const ocio::GroupTransformRcPtr steps = ocio::GroupTransform::Create();
    if (decoded) {
        // The profile applies to the code values.
        const ocio::ExponentWithLinearTransformRcPtr encoding = ocio::ExponentWithLinearTransform::Create();
        encoding->setGamma({2.4, 2.4, 2.4, 1});
        encoding->setOffset({0.055, 0.055, 0.055, 0});
        encoding->setDirection(ocio::TRANSFORM_DIR_INVERSE);
        steps->appendTransform(encoding);
    }
    const auto& [red, green, blue] = profile.curves;
    const ocio::Lut1DTransformRcPtr curves =
        ocio::Lut1DTransform::Create(static_cast<unsigned long>(red.size()), false);
    for (std::size_t i = 0; i < red.size(); ++i)
        curves->setValue(static_cast<unsigned long>(i), red[i], green[i], blue[i]);
    steps->appendTransform(curves);
    // From the white point D50 to D65, with Bradford's matrix.
    constexpr double kToD65[3][3] = {
        {0.9555766, -0.0230393, 0.0631636}, {-0.0282895, 1.0099416, 0.0210077}, {0.0122982, -0.0204830, 1.3299098}};
    std::array<double, 16> rows{};
    for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t column = 0; column < 3; ++column)
            for (std::size_t i = 0; i < 3; ++i) rows[row * 4 + column] += kToD65[row][i] * profile.colorants[column][i];
    rows[15] = 1;
    const ocio::MatrixTransformRcPtr to_xyz = ocio::MatrixTransform::Create();
    to_xyz->setMatrix(rows.data());
    steps->appendTransform(to_xyz);
    const ocio::BuiltinTransformRcPtr to_aces = ocio::BuiltinTransform::Create();
    to_aces->setStyle("UTILITY - ACES-AP0_to_CIE-XYZ-D65_BFD");
    to_aces->setDirection(ocio::TRANSFORM_DIR_INVERSE);
    steps->appendTransform(to_aces);
    return steps;
}

std::shared_ptr<const ColorTransform> make_transform(const ColorConversion& color, const FileColors& colors) {
    const ocio::ConstConfigRcPtr config = config_of(config_path(color));
    ColorNames names = names_of(*config, color.display);
    const bool has_profile = color.input == kFileProfile;
    const std::string input = has_profile ? "aces_interchange" : name_in(names.inputs, color.input, "color space");
    const std::string& display = name_in(names.displays, color.display, "display");
    const std::string& view = name_in(names.views, color.view, "view");
    std::optional<RgbProfile> profile;
    if (has_profile) {
        profile = usable_profile(colors);
        if (!config->hasRole(input.c_str()))
            refuse("the color config has no role aces_interchange, which ICC profiles need",
                   "Choose another config, or a color space of this one.");
    }
    try {
        const ocio::DisplayViewTransformRcPtr to_display = ocio::DisplayViewTransform::Create();
        to_display->setSrc(input.c_str());
        to_display->setDisplay(display.c_str());
        to_display->setView(view.c_str());
        const ocio::ConstColorSpaceRcPtr shown =
            config->getColorSpace(config->getDisplayViewColorSpaceName(display.c_str(), view.c_str()));
        const bool is_data = shown && shown->isData();  // such views show the values as they are
        const ocio::GroupTransformRcPtr transform =
            profile && !is_data ? from_profile(*profile, colors.decoded) : ocio::GroupTransform::Create();
        transform->appendTransform(to_display);
        // The cache of a config takes tables of the same size and range for equal.
        const ocio::ConfigRcPtr uncached = config->createEditableCopy();
        uncached->setProcessorCacheFlags(ocio::PROCESSOR_CACHE_OFF);
        return std::make_shared<OcioTransform>(uncached->getProcessor(transform)->getOptimizedCPUProcessor(
            ocio::BIT_DEPTH_F32, ocio::BIT_DEPTH_F32, ocio::OPTIMIZATION_VERY_GOOD));
    } catch (const ocio::Exception& error) {
        refuse(fmt::format("the color config cannot convert '{}' to view '{}' of '{}': {}", input, view, display,
                           message_of(error)),
               "Check the files that the config names, or choose another view.");
    }
}

}  // namespace

bool has_color_management() { return true; }

std::shared_ptr<const ColorTransform> color_transform(const ColorConversion& color, const FileColors& colors) {
    if (color.input.empty()) return nullptr;
    const bool is_of_file = color.input == kFileProfile;
    const IccProfile profile = is_of_file && colors.profile ? *colors.profile : IccProfile{};
    using Key = std::tuple<std::string, std::string, std::string, std::string, IccProfile, bool>;
    static Cache<Key, std::shared_ptr<const ColorTransform>> transforms;
    return transforms.get(
        Key(config_path(color), color.input, color.display, color.view, profile, is_of_file && colors.decoded),
        [&] { return make_transform(color, colors); });
}

ColorNames color_names(const ColorConversion& color) { return names_of(*config_of(config_path(color)), color.display); }

}  // namespace texton::viewer
