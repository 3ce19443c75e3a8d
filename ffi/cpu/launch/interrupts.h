// interrupts.h: Ctrl-C while kernels run for long.
#pragma once

namespace jax_rawcuda {

// Hears of SIGINT before the handler that was there, which still gets every signal: the
// interpreter raises KeyboardInterrupt only when its main thread is back from XLA. One
// object per process.
class Interrupts {
 public:
  // Begins or ends to listen. A default handler is left alone: it ends the process.
  void Listen(bool listen);

  // Whether a signal has arrived since the last call.
  bool Take();

 private:
  bool listening_ = false;
};

}  // namespace jax_rawcuda
