// Sessions of the viewer. The input is the text of a session file.
#include "tests/fuzz/fuzz.h"
#include "viewer/model/session.h"

using namespace texton;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(fuzz::text_of({data, size}));
    const auto session = fuzz::accepted([&] { return viewer::session_of(text, "input", "folder"); });
    if (!session) return 0;
    fuzz::require(session->current < std::max<std::size_t>(1, session->images.size()), "the displayed image exists");
    fuzz::require(!session->reference || *session->reference < session->images.size(), "the reference image exists");
    for (const viewer::Annotation& annotation : session->annotations)
        fuzz::require(annotation.image < session->images.size(), "the image of an annotation exists");
    fuzz::require(viewer::session_of(viewer::to_json(*session), "again") == *session,
                  "a written session is read again");
    return 0;
}
