// scheduler.cc
