#include "viewer/verify/compare_folders.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/image_file.h>

#include "viewer/model/named_paths.h"
#include "viewer/text/utf8.h"
#include "viewer/verify/image_difference.h"

namespace texton::verify {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxProblems = 5;  // that the message lists

// The files of both folders with the same name.
struct Pair {
    std::optional<fs::path> expected;
    std::optional<fs::path> actual;
    const Criteria* criteria = nullptr;
};
struct Before {
    bool operator()(const std::string& a, const std::string& b) const noexcept { return comes_before(a, b); }
};
using Pairs = std::map<std::string, Pair, Before>;

// Returns all files of a folder whose names are those of images.
std::vector<FoundFile> all_files(const fs::path& folder, const std::optional<fs::path>& within,
                                 const Criteria& criteria) {
    std::vector<FoundFile> out;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        if (!is_image_name(entry.path()) || entry.is_directory()) continue;
        viewer::refuse_outside(within, entry.path());
        viewer::refuse_special_file(entry.path());
        out.push_back({entry.path(), viewer::to_utf8(entry.path().lexically_relative(folder).string()), &criteria});
    }
    return out;
}

void add_files(Pairs& pairs, const fs::path& folder, std::optional<fs::path> Pair::*side, const Case& of,
               const Suite& suite) {
    const auto& patterns = std::get<FoldersCase>(of.work).images;
    const ImagePattern* unmatched = nullptr;
    const std::vector<FoundFile> files = patterns.empty() ? all_files(folder, suite.within, of.criteria)
                                                          : find_files(folder, suite.within, patterns, unmatched);
    for (const FoundFile& file : files) {
        Pair& pair = pairs[file.name];
        pair.*side = file.path;
        pair.criteria = file.criteria;
    }
}

// Returns the first pattern that matches no file of both folders, else nullptr.
const ImagePattern* unmatched(const std::vector<ImagePattern>& patterns, const FoldersCase& folders,
                              const Suite& suite) {
    for (const ImagePattern& pattern : patterns) {
        const ImagePattern* none = nullptr;
        if (find_files(folders.expected, suite.within, {pattern}, none).empty() &&
            find_files(folders.actual, suite.within, {pattern}, none).empty())
            return &pattern;
    }
    return nullptr;
}

// Compares the images of two files. Returns what is wrong, or an empty text.
std::string compare_files(const std::string& name, const Pair& pair, const Criteria& criteria, Result& result) {
    std::vector<HostImage> expected = read_images(*pair.expected, name), actual = read_images(*pair.actual, name);
    if (!std::ranges::equal(expected, actual, {}, &HostImage::name, &HostImage::name))
        return fmt::format("{} has {} images, but the reference has {}, or their names differ", name, actual.size(),
                           expected.size());
    std::string problem;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const std::string shape = other_shape(expected[i], actual[i]);
        if (!shape.empty()) return fmt::format("{}: {}", actual[i].name, shape);
        if (actual[i] == expected[i]) {
            const std::string exceeded = exceeded_by_equal(actual[i], criteria);
            if (!exceeded.empty() && problem.empty()) problem = fmt::format("{}: {}", actual[i].name, exceeded);
            continue;
        }
        ImageDifference difference = difference_of(expected[i], actual[i], criteria);
        if (!difference.exceeded.empty() && problem.empty())
            problem = fmt::format("{}: {} of {} texels differ: {}", actual[i].name, difference.comparison.all.differing,
                                  difference.texels, difference.exceeded);
        result.images.push_back(std::move(actual[i]));
        result.criteria.push_back(&criteria);
        result.reference->images.push_back(std::move(expected[i]));
        result.comparisons.push_back(std::move(difference.comparison));
    }
    return problem;
}

}  // namespace

Result compare_folders(const Case& of, const Suite& suite, const viewer::DeviceFields& device) {
    const auto& folders = std::get<FoldersCase>(of.work);
    Result result;
    result.outcome = of.optional ? Outcome::skipped : Outcome::failed;
    for (const fs::path& folder : {folders.expected, folders.actual}) {
        std::error_code failed;
        if (fs::is_directory(folder, failed)) continue;
        result.message = fmt::format("{}: 'folders' names {}, which is not a folder", of.where, folder.string());
        return result;
    }
    Pairs pairs;
    add_files(pairs, folders.expected, &Pair::expected, of, suite);
    add_files(pairs, folders.actual, &Pair::actual, of, suite);
    if (const ImagePattern* pattern = unmatched(folders.images, folders, suite)) {
        result.message = fmt::format("{}: 'file' is '{}', but no file of either folder matches",
                                     pattern->criteria.where, pattern->files);
        return result;
    }
    if (pairs.empty()) {
        result.message = fmt::format("{}: 'folders' names {} and {}, which contain no images", of.where,
                                     folders.expected.string(), folders.actual.string());
        return result;
    }
    result.outcome = Outcome::passed;
    result.reference.emplace();
    result.reference->path = folders.expected;
    std::vector<std::string> problems;
    for (const auto& [name, pair] : pairs) {
        std::string problem;
        if (!pair.actual || !pair.expected) {
            problem =
                fmt::format("{} is missing in {}", name, (pair.actual ? folders.expected : folders.actual).string());
        } else {
            problem = compare_files(name, pair, criteria_for(*pair.criteria, device), result);
        }
        if (!problem.empty()) problems.push_back(std::move(problem));
    }
    if (problems.empty()) return result;
    result.outcome = Outcome::differs;
    for (std::size_t i = 0; i < std::min(problems.size(), kMaxProblems); ++i)
        result.message += (i == 0 ? "" : "; ") + problems[i];
    if (problems.size() > kMaxProblems)
        result.message += fmt::format("; and {} other files", problems.size() - kMaxProblems);
    return result;
}

}  // namespace texton::verify
