#pragma once
// Every command of `texton` by its name, in the order in which they are listed. Needs no library, as the launcher has none.
#include <array>

namespace texton::launcher {

struct CommandName {
    const char* name;
    const char* summary;
};

inline constexpr std::array kCommandNames{
    CommandName{"bench", "Measures what kernels take on a device"},
    CommandName{"capture", "Records what a GPU's texture unit returns, for `texton replay` anywhere"},
    CommandName{"compare", "Says how two pictures differ: where, by how many ulps, and how much of it people see"},
    CommandName{"completion", "Prints a script with which a shell completes texton's command lines"},
    CommandName{"convert", "Writes a picture, or several as one array, as another kind of file, format or array"},
    CommandName{"devices", "Lists every device: what it is, its limits, and which arrays it makes of which formats"},
    CommandName{"info", "Says what picture files hold: kind, size, format, levels, and their own words"},
    CommandName{"mips", "Writes a picture with all its mip levels"},
    CommandName{"replay",
                "Fetches recordings of a texture unit again, and compares every bit: a line `NAME points equal "
                "max_ulp` each"},
    CommandName{"run", "Runs a sampling kernel on pictures, and writes what it makes"},
    CommandName{"verify", "Runs a suite of regression tests: kernels on pictures, held against approved references"},
    CommandName{"view", "Opens the viewer"},
};

}  // namespace texton::launcher
