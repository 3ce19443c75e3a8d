// stdbool.h: bool is a keyword of C++.
#pragma once
