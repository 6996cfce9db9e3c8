// Which instructions this processor and its system can execute.
#pragma once

namespace sketchforest {

// The levels of the x86-64 psABI.
bool executes_x86_64_v3();
bool executes_x86_64_v4();

}  // namespace sketchforest
