// stdio.h: printf comes with the prelude.
#pragma once
