"""What all tests share."""

import os

from hypothesis import settings

settings.register_profile("here", deadline=None, max_examples=60)
settings.register_profile("ci", deadline=None, max_examples=200, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
