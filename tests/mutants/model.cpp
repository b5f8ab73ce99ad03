#include "tests/mutants/model.h"

#include "arrays/unit/texture_unit.h"

namespace texton::mutants {

int entry = 0;

Texel model_fetch(const detail::TextureView& view, const Sampler& sampler, const FetchPoint& point,
                  FetchOperation operation, int component) {
    return detail::fetch_point(view, sampler, point, operation, component);
}

}  // namespace texton::mutants
