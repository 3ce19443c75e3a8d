// crt/host_defines.h: the prelude declares all of it.
#pragma once
