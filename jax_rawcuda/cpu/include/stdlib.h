// stdlib.h: malloc, free and abs come with the prelude.
#pragma once
