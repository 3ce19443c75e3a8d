// block.cc
