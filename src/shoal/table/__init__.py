"""Tables: reading, dictionary encoding and writing."""
