"""`rc.live_op`: Python that runs with the program."""
