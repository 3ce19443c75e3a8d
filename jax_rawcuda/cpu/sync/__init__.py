"""Where the threads of a kernel wait for each other, and for what."""
