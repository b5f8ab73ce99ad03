#include "viewer/inspect/kernel_taps.h"

#include <texton/kernel.h>

#include "viewer/model/frames.h"

namespace texton::viewer {

std::optional<std::vector<verify::Tap>> kernel_taps(const Session& session, const Offset& pixel) {
    if (session.kernel.name.empty() || session.current >= session.images.size()) return std::nullopt;
    const Source source = files_of(session.images[session.current]).source;
    verify::KernelCase question;
    question.run.kernel = &kernel_named(session.kernel.name);
    question.run.parameters = session.kernel.parameters;
    question.inputs.resize(1 + session.kernel.more_inputs.size());
    question.inputs.front().source = verify::Input::Files{source.paths, source.options};
    question.inputs.front().where = session.kernel.name;
    if (session.sampler) {
        Session alone;
        alone.sampler = session.sampler;
        question.inputs.front().sampler = verify::Json::parse(to_json(alone)).at("sampler");
    }
    return verify::footprints(question, {pixel}).front();
}

}  // namespace texton::viewer
