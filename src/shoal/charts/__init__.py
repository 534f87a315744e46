"""Charts as Vega-Lite specifications, identical in notebooks, reports and web pages."""

from shoal.charts.attacks import attacks
from shoal.charts.before_after import before_after
from shoal.charts.chart import Chart
from shoal.charts.class_sizes import class_sizes
from shoal.charts.contributions import contributions
from shoal.charts.correlations import correlations
from shoal.charts.costs import costs
from shoal.charts.entropy_curve import curve, entropy_curve
from shoal.charts.facts import facts
from shoal.charts.forms import forms
from shoal.charts.frontier import frontier
from shoal.charts.heatmap import heatmap
from shoal.charts.knowledge import knowledge
from shoal.charts.known_columns import known_columns
from shoal.charts.ladder import ladder
from shoal.charts.lattice import lattice
from shoal.charts.learning import learning
from shoal.charts.left_out import left_out
from shoal.charts.linked_columns import linked_columns
from shoal.charts.risks import risks
from shoal.charts.survival import survival
from shoal.charts.sweep import sweep
from shoal.charts.techniques import techniques
from shoal.charts.trade_off import trade_off
from shoal.charts.wp216 import wp216

__all__ = [
    "Chart",
    "attacks",
    "before_after",
    "class_sizes",
    "contributions",
    "correlations",
    "costs",
    "curve",
    "entropy_curve",
    "facts",
    "forms",
    "frontier",
    "heatmap",
    "knowledge",
    "known_columns",
    "ladder",
    "lattice",
    "learning",
    "left_out",
    "linked_columns",
    "risks",
    "survival",
    "sweep",
    "techniques",
    "trade_off",
    "wp216",
]
