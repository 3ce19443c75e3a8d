// rounding.cc
