#pragma once
// The interface of the model for the recordings: one function, so that only model.cpp is compiled for each mutant.
#include "arrays/unit/texture_view.h"

namespace texton::mutants {

/// Index of the table entry that the current mutant changes.
extern int entry;

[[nodiscard]] Texel model_fetch(const detail::TextureView& view, const Sampler& sampler, const FetchPoint& point,
                                FetchOperation operation, int component);

}  // namespace texton::mutants
