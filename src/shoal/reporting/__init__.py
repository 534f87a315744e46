"""The anonymisation report: a document for the data owner to sign and for a regulator to read."""
