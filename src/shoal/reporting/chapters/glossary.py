"""Glossary of the report."""

import tomllib
from importlib.resources import files

from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.dataset_findings import DatasetFindings
from shoal.reporting.document import Facts, Section
from shoal.reporting.findings import PublicFindings
from shoal.techniques.technique import TECHNIQUES


@chapter("glossary", place=140, whole=True)
def glossary(findings: PublicFindings | DatasetFindings, audience: Audience) -> Section:
    """Define the terms used in the report, and the techniques."""
    del findings, audience  # identical in all reports
    techniques = {f"recoding {technique.called()}": technique.says for technique in TECHNIQUES.values()}
    words = tomllib.loads(files("shoal.reporting").joinpath("texts/glossary.toml").read_text(encoding="utf-8"))
    return Section("Glossary", "glossary", (Facts(tuple((words | techniques).items())),))
