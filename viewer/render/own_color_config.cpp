#include "viewer/render/color_transform.h"

namespace texton::viewer {

// The scene reference is ACES2065-1, and the display reference is CIE XYZ with the white point D65. The matrices convert
// linear RGB to CIE XYZ; they follow from the primaries of ITU-R BT.2020 and SMPTE EG 432-1 and from the white point D65.
const char* const kOwnColorConfig = R"(ocio_profile_version: 2

strictparsing: true
roles:
  aces_interchange: ACES2065-1
  cie_xyz_d65_interchange: CIE XYZ D65
  default: Raw
  rendering: ACEScg
  scene_linear: Linear Rec.709

file_rules:
  - !<Rule> {name: Default, colorspace: default}

displays:
  sRGB:
    - !<View> {name: Standard, view_transform: Standard, display_colorspace: sRGB Display}
    - !<View> {name: ACES SDR Video, view_transform: ACES SDR Video, display_colorspace: sRGB Display}
    - !<View> {name: Raw, colorspace: Raw}
  Rec.709 (BT.1886):
    - !<View> {name: Standard, view_transform: Standard, display_colorspace: Rec.1886 Rec.709 Display}
    - !<View> {name: ACES SDR Video, view_transform: ACES SDR Video, display_colorspace: Rec.1886 Rec.709 Display}
    - !<View> {name: Raw, colorspace: Raw}
  Display P3:
    - !<View> {name: Standard, view_transform: Standard, display_colorspace: Display P3 Display}
    - !<View> {name: ACES SDR Video, view_transform: ACES SDR Video, display_colorspace: Display P3 Display}
    - !<View> {name: Raw, colorspace: Raw}

active_displays: [sRGB, Rec.709 (BT.1886), Display P3]
active_views: [Standard, ACES SDR Video, Raw]

default_view_transform: Standard
view_transforms:
  - !<ViewTransform>
    name: Standard
    from_scene_reference: !<BuiltinTransform> {style: UTILITY - ACES-AP0_to_CIE-XYZ-D65_BFD}
  - !<ViewTransform>
    name: ACES SDR Video
    from_scene_reference: !<BuiltinTransform> {style: ACES-OUTPUT - ACES2065-1_to_CIE-XYZ-D65 - SDR-VIDEO_1.0}

display_colorspaces:
  - !<ColorSpace>
    name: CIE XYZ D65
    isdata: false
  - !<ColorSpace>
    name: sRGB Display
    isdata: false
    from_display_reference: !<BuiltinTransform> {style: DISPLAY - CIE-XYZ-D65_to_sRGB}
  - !<ColorSpace>
    name: Rec.1886 Rec.709 Display
    isdata: false
    from_display_reference: !<BuiltinTransform> {style: DISPLAY - CIE-XYZ-D65_to_REC.1886-REC.709}
  - !<ColorSpace>
    name: Display P3 Display
    isdata: false
    from_display_reference: !<GroupTransform>
      children:
        - !<MatrixTransform> {matrix: [0.486570948648216, 0.265667693169093, 0.198217285234363, 0, 0.228974564069749, 0.691738521836506, 0.0792869140937449, 0, 0, 0.0451133818589026, 1.04394436890098, 0, 0, 0, 0, 1], direction: inverse}
        - !<ExponentWithLinearTransform> {gamma: 2.4, offset: 0.055, direction: inverse}

colorspaces:
  - !<ColorSpace>
    name: Linear Rec.709
    encoding: scene-linear
    to_scene_reference: !<GroupTransform>
      children:
        - !<BuiltinTransform> {style: UTILITY - ACES-AP1_to_LINEAR-REC709_BFD, direction: inverse}
        - !<BuiltinTransform> {style: ACEScg_to_ACES2065-1}
  - !<ColorSpace>
    name: sRGB
    encoding: sdr-video
    to_scene_reference: !<GroupTransform>
      children:
        - !<ExponentWithLinearTransform> {gamma: 2.4, offset: 0.055}
        - !<BuiltinTransform> {style: UTILITY - ACES-AP1_to_LINEAR-REC709_BFD, direction: inverse}
        - !<BuiltinTransform> {style: ACEScg_to_ACES2065-1}
  - !<ColorSpace>
    name: ACEScg
    encoding: scene-linear
    to_scene_reference: !<BuiltinTransform> {style: ACEScg_to_ACES2065-1}
  - !<ColorSpace>
    name: ACES2065-1
    encoding: scene-linear
  - !<ColorSpace>
    name: Linear Rec.2020
    encoding: scene-linear
    to_scene_reference: !<GroupTransform>
      children:
        - !<MatrixTransform> {matrix: [0.636958048301291, 0.144616903586208, 0.168880975164172, 0, 0.262700212011267, 0.677998071518871, 0.0593017164698619, 0, 0, 0.0280726930490874, 1.06098505771079, 0, 0, 0, 0, 1]}
        - !<BuiltinTransform> {style: UTILITY - ACES-AP0_to_CIE-XYZ-D65_BFD, direction: inverse}
  - !<ColorSpace>
    name: Display P3
    encoding: sdr-video
    to_scene_reference: !<GroupTransform>
      children:
        - !<ExponentWithLinearTransform> {gamma: 2.4, offset: 0.055}
        - !<MatrixTransform> {matrix: [0.486570948648216, 0.265667693169093, 0.198217285234363, 0, 0.228974564069749, 0.691738521836506, 0.0792869140937449, 0, 0, 0.0451133818589026, 1.04394436890098, 0, 0, 0, 0, 1]}
        - !<BuiltinTransform> {style: UTILITY - ACES-AP0_to_CIE-XYZ-D65_BFD, direction: inverse}
  - !<ColorSpace>
    name: Raw
    isdata: true
)";

}  // namespace texton::viewer
