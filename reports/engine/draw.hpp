// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "reports/engine/document.hpp"

namespace tersor::reports {

/// The Python that draws: $TERSOR_PYTHON, else the environment that scripts/setup makes, else
/// python3.
std::string python_for_figures();

/// Draws every figure as SVG with vl-convert, in one run of that Python. Returns an empty text, or
/// why nothing could be drawn; then the figures keep no svg.
std::string draw(const std::vector<Figure*>& figures);

}  // namespace tersor::reports
