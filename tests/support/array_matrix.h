#pragma once
#include <string_view>

namespace texton::test {

/// Capabilities of arrays of each kind and format, as an H200 reports them. array_matrix_test.cpp explains the letters.
inline constexpr std::string_view kArrayMatrix = R"(
format         array_1d    array_2d    array_3d    layered_1d  layered_2d  cubemap     cubemap_layered
r8_uint        pms--Dt-rcf pmsgSDt-rcf pms-SDt-rcf pms--Dt-rcf pms-SDt-rcf pms--Dt-rcf pms--Dt-rcf
rg8_uint       pms--Dt-rcf pmsgSDt-rcf pms-SDt-rcf pms--Dt-rcf pms-SDt-rcf pms--Dt-rcf pms--Dt-rcf
rgba8_uint     pms--Dt-rcf pmsgSDt-rcf pms-SDt-rcf pms--Dt-rcf pms-SDt-rcf pms--Dt-rcf pms--Dt-rcf
r8_sint        pms--Dt-rcf pmsgSDt-rcf pms-SDt-rcf pms--Dt-rcf pms-SDt-rcf pms--Dt-rcf pms--Dt-rcf
rg8_sint       pms--Dt-rcf pmsgSDt-rcf pms-SDt-rcf pms--Dt-rcf pms-SDt-rcf pms--Dt-rcf pms--Dt-rcf
rgba8_sint     pms--Dt-rcf pmsgSDt-rcf pms-SDt-rcf pms--Dt-rcf pms-SDt-rcf pms--Dt-rcf pms--Dt-rcf
r16_uint       pms--Dt--cf pmsgSDt--cf pms-SDt--cf pms--Dt--cf pms-SDt--cf pms--Dt--cf pms--Dt--cf
rg16_uint      pms--Dt--cf pmsgSDt--cf pms-SDt--cf pms--Dt--cf pms-SDt--cf pms--Dt--cf pms--Dt--cf
rgba16_uint    pms--Dt--cf pmsgSDt--cf pms-SDt--cf pms--Dt--cf pms-SDt--cf pms--Dt--cf pms--Dt--cf
r16_sint       pms--Dt--cf pmsgSDt--cf pms-SDt--cf pms--Dt--cf pms-SDt--cf pms--Dt--cf pms--Dt--cf
rg16_sint      pms--Dt--cf pmsgSDt--cf pms-SDt--cf pms--Dt--cf pms-SDt--cf pms--Dt--cf pms--Dt--cf
rgba16_sint    pms--Dt--cf pmsgSDt--cf pms-SDt--cf pms--Dt--cf pms-SDt--cf pms--Dt--cf pms--Dt--cf
r32_uint       pms--Dt--cf pmsgSDt--cf pms-SDt--cf pms--Dt--cf pms-SDt--cf pms--Dt--cf pms--Dt--cf
rg32_uint      pms--Dt--cf pmsgSDt--cf pms-SDt--cf pms--Dt--cf pms-SDt--cf pms--Dt--cf pms--Dt--cf
rgba32_uint    pms--Dt--cf pmsgSDt--cf pms-SDt--cf pms--Dt--cf pms-SDt--cf pms--Dt--cf pms--Dt--cf
r32_sint       pms--Dt--cf pmsgSDt--cf pms-SDt--cf pms--Dt--cf pms-SDt--cf pms--Dt--cf pms--Dt--cf
rg32_sint      pms--Dt--cf pmsgSDt--cf pms-SDt--cf pms--Dt--cf pms-SDt--cf pms--Dt--cf pms--Dt--cf
rgba32_sint    pms--Dt--cf pmsgSDt--cf pms-SDt--cf pms--Dt--cf pms-SDt--cf pms--Dt--cf pms--Dt--cf
r16_float      pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
rg16_float     pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
rgba16_float   pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
r32_float      pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
rg32_float     pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
rgba32_float   pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
r8_unorm       pms--Dtlrcf pmsgSDtlrcf pms-SDtlrcf pms--Dtlrcf pms-SDtlrcf pms--Dtlrcf pms--Dtlrcf
rg8_unorm      pms--Dtlrcf pmsgSDtlrcf pms-SDtlrcf pms--Dtlrcf pms-SDtlrcf pms--Dtlrcf pms--Dtlrcf
rgba8_unorm    pms--Dtlrcf pmsgSDtlrcf pms-SDtlrcf pms--Dtlrcf pms-SDtlrcf pms--Dtlrcf pms--Dtlrcf
r16_unorm      pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
rg16_unorm     pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
rgba16_unorm   pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
r8_snorm       pms--Dtlrcf pmsgSDtlrcf pms-SDtlrcf pms--Dtlrcf pms-SDtlrcf pms--Dtlrcf pms--Dtlrcf
rg8_snorm      pms--Dtlrcf pmsgSDtlrcf pms-SDtlrcf pms--Dtlrcf pms-SDtlrcf pms--Dtlrcf pms--Dtlrcf
rgba8_snorm    pms--Dtlrcf pmsgSDtlrcf pms-SDtlrcf pms--Dtlrcf pms-SDtlrcf pms--Dtlrcf pms--Dtlrcf
r16_snorm      pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
rg16_snorm     pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
rgba16_snorm   pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
r8_srgb        pms--Dtlrcf pmsgSDtlrcf pms-SDtlrcf pms--Dtlrcf pms-SDtlrcf pms--Dtlrcf pms--Dtlrcf
rg8_srgb       pms--Dtlrcf pmsgSDtlrcf pms-SDtlrcf pms--Dtlrcf pms-SDtlrcf pms--Dtlrcf pms--Dtlrcf
rgba8_srgb     pms--Dtlrcf pmsgSDtlrcf pms-SDtlrcf pms--Dtlrcf pms-SDtlrcf pms--Dtlrcf pms--Dtlrcf
rgb10a2_unorm  pms--Dtl-cf pmsgSDtl-cf pms-SDtl-cf pms--Dtl-cf pms-SDtl-cf pms--Dtl-cf pms--Dtl-cf
bc1_unorm      ----------- pm-gSDtlrcf pm--SDtlrcf ----------- pm--SDtlrcf pm---Dtlrcf pm---Dtlrcf
bc1_srgb       ----------- pm-gSDtlrcf pm--SDtlrcf ----------- pm--SDtlrcf pm---Dtlrcf pm---Dtlrcf
bc2_unorm      ----------- pm-gSDtlrcf pm--SDtlrcf ----------- pm--SDtlrcf pm---Dtlrcf pm---Dtlrcf
bc2_srgb       ----------- pm-gSDtlrcf pm--SDtlrcf ----------- pm--SDtlrcf pm---Dtlrcf pm---Dtlrcf
bc3_unorm      ----------- pm-gSDtlrcf pm--SDtlrcf ----------- pm--SDtlrcf pm---Dtlrcf pm---Dtlrcf
bc3_srgb       ----------- pm-gSDtlrcf pm--SDtlrcf ----------- pm--SDtlrcf pm---Dtlrcf pm---Dtlrcf
bc4_unorm      ----------- pm-gSDtl-cf pm--SDtl-cf ----------- pm--SDtl-cf pm---Dtl-cf pm---Dtl-cf
bc4_snorm      ----------- pm-gSDtl-cf pm--SDtl-cf ----------- pm--SDtl-cf pm---Dtl-cf pm---Dtl-cf
bc5_unorm      ----------- pm-gSDtl-cf pm--SDtl-cf ----------- pm--SDtl-cf pm---Dtl-cf pm---Dtl-cf
bc5_snorm      ----------- pm-gSDtl-cf pm--SDtl-cf ----------- pm--SDtl-cf pm---Dtl-cf pm---Dtl-cf
bc6h_ufloat    ----------- pm-gSDtl-cf pm--SDtl-cf ----------- pm--SDtl-cf pm---Dtl-cf pm---Dtl-cf
bc6h_sfloat    ----------- pm-gSDtl-cf pm--SDtl-cf ----------- pm--SDtl-cf pm---Dtl-cf pm---Dtl-cf
bc7_unorm      ----------- pm-gSDtlrcf pm--SDtlrcf ----------- pm--SDtlrcf pm---Dtlrcf pm---Dtlrcf
bc7_srgb       ----------- pm-gSDtlrcf pm--SDtlrcf ----------- pm--SDtlrcf pm---Dtlrcf pm---Dtlrcf
nv12           ----------- p-----tl-cf ----------- ----------- ----------- ----------- -----------
p010           ----------- p-----tl-cf ----------- ----------- ----------- ----------- -----------
p016           ----------- p-----tl-cf ----------- ----------- ----------- ----------- -----------
nv16           ----------- p-----tl-cf ----------- ----------- ----------- ----------- -----------
)";

}  // namespace texton::test
