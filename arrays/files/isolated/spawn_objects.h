#pragma once
// Arguments of posix_spawn() whose destructors release them. Needs the C library only.
#include <spawn.h>

namespace texton::detail {

/// An object that has a function to initialize it, which can fail, and one to destroy it.
template <class Value, int (*initialize)(Value*), int (*destroy)(Value*)>
struct SpawnObject {
    SpawnObject() noexcept : error(initialize(&value)) {}
    ~SpawnObject() {
        if (error == 0) destroy(&value);
    }
    SpawnObject(const SpawnObject&) = delete;
    SpawnObject& operator=(const SpawnObject&) = delete;

    Value value;
    int error;  ///< 0, or the number of the error of `initialize`
};

using SpawnActions =
    SpawnObject<posix_spawn_file_actions_t, posix_spawn_file_actions_init, posix_spawn_file_actions_destroy>;
using SpawnAttributes = SpawnObject<posix_spawnattr_t, posix_spawnattr_init, posix_spawnattr_destroy>;

}  // namespace texton::detail
