// print.h: what kernels have printed, on its way to Python's sys.stdout.
#pragma once

#include <string>

namespace jax_rawcuda {

// Asks the interpreter to call TakePrinted soon; false when it cannot be asked now.
// Runs on any thread and waits for nobody.
using WakePrinterFn = bool (*)();

void SetWakePrinter(WakePrinterFn wake);

// Takes all text that has been printed and not been taken.
std::string TakePrinted();

// Asks again if text is left that nobody was asked to take.
void WakePrinter();

}  // namespace jax_rawcuda
