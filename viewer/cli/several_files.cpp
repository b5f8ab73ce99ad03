#include "viewer/cli/several_files.h"

#include <exception>
#include <iostream>
#include <new>

#include <texton/error.h>

#include "viewer/text/error_text.h"

namespace texton::cli {

Status for_each_file(std::string_view command, const char* title, std::span<const std::string> files,
                     const std::function<void(const std::string& file, ProgressBar& bar)>& process) {
    Status status = Status::good;
    ProgressBar bar(title, "files");
    const auto report = [&](const std::exception& error) {
        bar.hide();
        std::cerr << command << ": " << viewer::error_text(error) << '\n';
        status = Status::failed;
    };
    for (std::size_t i = 0; i < files.size(); ++i) {
        bar.show(static_cast<double>(i), static_cast<double>(files.size()));
        try {
            process(files[i], bar);
        } catch (const Error& error) {
            report(error);
        } catch (const std::bad_alloc& error) {
            report(error);
        }
    }
    return status;
}

}  // namespace texton::cli
