"""What values look like: one file for each pattern."""
