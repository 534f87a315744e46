"""Browser workbench covering all steps from import to release, served on this machine only."""
