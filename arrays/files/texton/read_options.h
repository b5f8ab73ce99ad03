#pragma once
#include <cstddef>

namespace texton {

/// Limits of reading a file in a helper process. Ignored if ReadOptions::isolated is false.
struct ReadLimits {
    /// Time of one step in seconds. A step is opening an image of a file, or decoding a band of its texels: up to 4 MiB,
    /// or more if a tile or strip of the file is larger. A call that reads a large image takes many steps; use
    /// ImageFile::read() to limit the total. 0: 10 seconds, plus 1 second for every 4 MiB of texels that the file
    /// claims and its bytes can hold.
    double seconds = 0;
    /// Memory that a file may use while it is opened or read, in bytes, in addition to the memory of a helper that has
    /// not opened a file. 0: the texels of all levels, but at most what the bytes of the file can hold at the largest
    /// compression of its kind, plus 512 MiB. If the kind of file has no largest compression, 4 GiB takes its place.
    std::size_t bytes = 0;
    bool operator==(const ReadLimits&) const = default;  ///< Returns true if all members are equal.
};

/// How image files are read.
///
/// In the process of the caller (the default), Texton's own code ends no process for anything that a file contains: it
/// throws Error. The decoders that OpenImageIO uses do not guarantee this. A damaged file can end the process with a
/// signal, overwrite its memory, or take any amount of time and memory. Use this mode for files that you trust.
///
/// With `isolated`, a file is opened and decoded in a separate process, which reads no other file. The process of the
/// caller reads texels that need no decoder of OpenImageIO: those that a file stores as they are (most DDS files, KTX2
/// files without supercompression, and raw frames), and those of TIFF files with deflate, LZW or no compression, which
/// Texton decodes itself; no limit of time applies to them. If a decoder crashes, the calls throw Error{io}, which
/// contains the signal, and the process of the caller continues. Time and memory are limited: a file that exceeds a
/// limit throws Error{io} for time and Error{out_of_memory} for memory. Results, metadata and messages are otherwise
/// the same as in the process of the caller. Each file that is opened takes a few milliseconds of processor time more,
/// of which the caller waits for less than one unless it opens files as fast as it can: from the second file on, the
/// process of the next file is started ahead. Texels are copied once more, from shared memory, while the process
/// decodes the next ones.
///
/// With `reuses_process`, a file costs less than a tenth of a millisecond more, because processes read several files:
/// each step of each file is sent to a process that waits. Errors are then still those of a new process, which repeats
/// what failed, and a process that read a damaged file is not used again. But a file that damages the memory of a
/// process without an error can change the texels of the files that the process reads afterwards.
///
/// The separate processes are children of a helper, the program texton-reader, which the first isolated read starts and
/// which ends with the process of the caller. The process of a file ends when the file is closed; of files that are
/// open, at most 16 have a process that waits, and one more process, which has read no file, waits for the next one.
/// With `reuses_process`, at most 16 processes wait, of which at most four have no open files. The processes protect
/// the memory and the progress of the caller, not the system: a file that takes control of a decoder has the
/// permissions of the caller.
///
/// The program is the value of the environment variable TEXTON_READER if it is set. Otherwise it is searched in the
/// folder where Texton was installed, then beside the program or shared library that contains Texton, then in the
/// folder libexec/texton beside the program's folder. The calls throw Error{unsupported}, which contains the paths, if
/// it does not exist or cannot be started. Settings of OpenImageIO that the caller changed do not apply in it.
struct ReadOptions {
    bool isolated = false;                                ///< true: read in a separate process
    ReadLimits limits{};                                  ///< limits of the separate process
    bool reuses_process = false;                          ///< true: a separate process reads several files, in turn
    bool operator==(const ReadOptions&) const = default;  ///< Returns true if all members are equal.
};

/// Starts the helper of isolated reads if there is none, and does not wait until it has started, which takes about a
/// quarter of a second. The first isolated read then waits for less time. Does nothing if the helper cannot be started:
/// the first isolated read throws the error. Several threads may call this function at once.
void start_reader() noexcept;

}  // namespace texton
