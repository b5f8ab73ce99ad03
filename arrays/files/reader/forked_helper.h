#pragma once

namespace texton::reader {

/// Starts the helper that reads files in isolation as a copy of this process, which has loaded the same libraries as the
/// program texton-reader: a quarter of a second of processor time is saved, and the two processes share their memory. If
/// the copy ends, the library starts texton-reader instead.
///
/// Must be called before the program starts threads. (Libraries of OpenImageIO have started some, which wait; they do so
/// in texton-reader, too.) Does nothing if TEXTON_READER selects a program, or if the copy cannot be made: then the
/// library starts texton-reader when a file is read.
void fork_helper() noexcept;

}  // namespace texton::reader
