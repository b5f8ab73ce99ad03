#pragma once
#include <cstddef>
#include <cstdint>

#include <CLI/CLI.hpp>

#include "viewer/model/file_reading.h"

namespace texton::viewer {

/// Adds the options that change file_reading() to a command. They take effect when the command line is parsed.
inline void add_reading_options(CLI::App& command) {
    const auto change = [](auto member, auto value) {
        ReadOptions reading = file_reading();
        member(reading) = value;
        set_file_reading(reading);
    };
    command.add_flag_callback(
        "--in-process", [=] { change([](ReadOptions& reading) -> bool& { return reading.isolated; }, false); },
        "Read image files in this process. By default, separate processes read them, since a damaged file can end the "
        "process that decodes it");
    command
        .add_option_function<double>(
            "--read-seconds",
            [=](double value) {
                change([](ReadOptions& reading) -> double& { return reading.limits.seconds; }, value);
            },
            "Maximum time of a separate process for opening a file or decoding 4 MiB. Default: 10, and 1 more for "
            "every 4 MiB of texels")
        ->check(CLI::NonNegativeNumber)
        ->type_name("SECONDS");
    command
        .add_option_function<std::uint64_t>(
            "--read-memory",
            [=](std::uint64_t value) {
                change([](ReadOptions& reading) -> std::size_t& { return reading.limits.bytes; }, value);
            },
            "Maximum memory of a separate process, for example 2GiB. Default: depends on the size of the file")
        ->transform(CLI::AsSizeValue(false))
        ->type_name("SIZE");
}

}  // namespace texton::viewer
