"""The workbench: the whole way in a browser, on this machine only."""
