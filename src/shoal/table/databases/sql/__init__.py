"""What databases that speak SQL have in common; imported only where one is spoken to."""
