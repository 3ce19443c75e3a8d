// cooperative_groups.h: blocks, grids, clusters, tiles and coalesced threads.
#pragma once
#include "jrc/groups/block.h"
#include "jrc/groups/grid.h"
#include "jrc/groups/tile.h"
#include "jrc/groups/warp.h"
