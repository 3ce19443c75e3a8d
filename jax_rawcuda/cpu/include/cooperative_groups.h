// cooperative_groups.h: blocks, grids, clusters, tiles and coalesced threads.
#pragma once
#include "jrc/groups_block.h"
#include "jrc/groups_grid.h"
#include "jrc/groups_tile.h"
#include "jrc/groups_warp.h"
