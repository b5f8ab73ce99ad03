#pragma once
// Names of the viewer's enumerators. Session files and the window use the same names.
#include "viewer/model/session.h"
#include "viewer/text/enum_names.h"

namespace texton::viewer {

inline constexpr std::array kLayouts{Named{"single", Layout::single}, Named{"sheet", Layout::sheet},
                                     Named{"cross", Layout::cross}, Named{"sphere", Layout::sphere}};
inline constexpr std::array kReadings{Named{"stored", Reading::stored}, Named{"sampled", Reading::sampled}};
inline constexpr std::array kFalseColors{Named{"none", FalseColor::none}, Named{"viridis", FalseColor::viridis},
                                         Named{"turbo", FalseColor::turbo}, Named{"diverging", FalseColor::diverging}};
inline constexpr std::array kToneCurves{Named{"none", ToneCurve::none}, Named{"reinhard", ToneCurve::reinhard},
                                        Named{"filmic", ToneCurve::filmic}};
inline constexpr std::array kAgainst{Named{"reference", Against::reference}, Named{"sampler", Against::sampler},
                                     Named{"device", Against::device}};
inline constexpr std::array kCompareModes{Named{"none", CompareMode::none},
                                          Named{"wipe", CompareMode::wipe},
                                          Named{"difference", CompareMode::difference},
                                          Named{"absolute", CompareMode::absolute},
                                          Named{"relative", CompareMode::relative},
                                          Named{"squared", CompareMode::squared},
                                          Named{"ulp", CompareMode::ulp}};
inline constexpr std::array kFootprintFetches{Named{"as_seen", FootprintFetch::as_seen},
                                              Named{"gradients", FootprintFetch::gradients},
                                              Named{"probe", FootprintFetch::probe}};
inline constexpr std::array kLodQuantities{Named{"lod", LodQuantity::lod},     Named{"clamped", LodQuantity::clamped},
                                           Named{"level", LodQuantity::level}, Named{"blend", LodQuantity::blend},
                                           Named{"ratio", LodQuantity::ratio}, Named{"samples", LodQuantity::samples}};
inline constexpr std::array kHistogramScopes{Named{"view", HistogramScope::view},
                                             Named{"selection", HistogramScope::selection},
                                             Named{"all", HistogramScope::all}};
inline constexpr std::array kAnnotationKinds{Named{"arrow", AnnotationKind::arrow}, Named{"box", AnnotationKind::box},
                                             Named{"text", AnnotationKind::text},
                                             Named{"ruler", AnnotationKind::ruler}};
inline constexpr std::array kAnnotationColors{
    Named{"red", AnnotationColor::red},     Named{"yellow", AnnotationColor::yellow},
    Named{"green", AnnotationColor::green}, Named{"cyan", AnnotationColor::cyan},
    Named{"blue", AnnotationColor::blue},   Named{"magenta", AnnotationColor::magenta},
    Named{"white", AnnotationColor::white}, Named{"black", AnnotationColor::black}};

}  // namespace texton::viewer
