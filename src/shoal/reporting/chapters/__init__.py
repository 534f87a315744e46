"""The chapters of a report, in the order in which they are read; each is a file here."""

from collections.abc import Callable
from typing import TypeAlias

from shoal.reporting.audience import Audience
from shoal.reporting.chapters.attacks import attacks
from shoal.reporting.chapters.choice import choice
from shoal.reporting.chapters.codebook import codebook
from shoal.reporting.chapters.conclusion import conclusion
from shoal.reporting.chapters.context import context
from shoal.reporting.chapters.data import data
from shoal.reporting.chapters.glossary import glossary
from shoal.reporting.chapters.limits import limits
from shoal.reporting.chapters.methods import methods
from shoal.reporting.chapters.reproduction import reproduction
from shoal.reporting.chapters.risk import risk
from shoal.reporting.chapters.summary import summary
from shoal.reporting.chapters.utility import utility
from shoal.reporting.chapters.variables import variables
from shoal.reporting.document import Section
from shoal.reporting.findings import PublicFindings

Chapter: TypeAlias = Callable[[PublicFindings, Audience], Section]

# ISO/IEC 27559 begins with the context, goes on to the data and to what identifies persons, and ends with governance.
CHAPTERS: tuple[Chapter, ...] = (
    summary,
    context,
    data,
    variables,
    choice,
    risk,
    utility,
    attacks,
    limits,
    conclusion,
    codebook,
    methods,
    reproduction,
    glossary,
)
