"""MBR-Exec: choose among generated programs by running them (thesis ch. 7)."""
