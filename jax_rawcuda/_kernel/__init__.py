"""`rc.kernel`: one kernel and its contract."""
