#pragma once
#include <QPainter>
#include <vector>

#include "viewer/live/tev_packet.h"

namespace texton::viewer {

/// Draws commands of vector graphics with the coordinates of the painter. `pixel` is the size of a screen pixel in these
/// coordinates: the default width of strokes, and the unit of absolute widths and sizes of text.
void draw_vector_graphics(QPainter& painter, const std::vector<tev::Command>& commands, double pixel);

}  // namespace texton::viewer
