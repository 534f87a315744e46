"""Glossary of the report."""

import tomllib
from importlib.resources import files

from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.document import Facts, Section
from shoal.reporting.findings import PublicFindings


@chapter("glossary", place=140)
def glossary(findings: PublicFindings, audience: Audience) -> Section:
    """Define the terms used in the report."""
    del findings, audience  # identical in all reports
    words = tomllib.loads(files("shoal.reporting").joinpath("texts/glossary.toml").read_text(encoding="utf-8"))
    return Section("Glossary", "glossary", (Facts(tuple(words.items())),))
