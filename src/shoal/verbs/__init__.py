"""The verbs of shoal: one file for each public function, named as users type it."""
