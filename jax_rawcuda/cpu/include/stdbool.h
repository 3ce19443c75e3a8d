// stdbool.h: bool is a keyword.
#pragma once
