// device_launch_parameters.h: the prelude declares all of it.
#pragma once
