"""Tables: what is read, encoded once, and handed back."""
