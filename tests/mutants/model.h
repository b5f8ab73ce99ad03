#pragma once
// What the model is to the recordings: one function, so that only model.cpp is compiled anew for each mutant.
#include "arrays/unit/texture_view.h"

namespace texton::mutants {

/// The entry of a table that a mutant changes, where it changes one after the other.
extern int entry;

[[nodiscard]] Texel model_fetch(const detail::TextureView& view, const Sampler& sampler, const FetchPoint& point,
                                FetchOperation operation, int component);

}  // namespace texton::mutants
