"""The chapters of a report; each is a file here, and says where it stands."""
