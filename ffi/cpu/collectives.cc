// collectives.cc
