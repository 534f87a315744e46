"""Pictures as data: Vega-Lite specifications, the same for notebook, report and web page."""

from shoal.charts.before_after import before_after
from shoal.charts.chart import Chart
from shoal.charts.costs import costs
from shoal.charts.entropy_curve import curve, entropy_curve
from shoal.charts.facts import facts
from shoal.charts.heatmap import heatmap
from shoal.charts.left_out import left_out
from shoal.charts.sweep import sweep

__all__ = ["Chart", "before_after", "costs", "curve", "entropy_curve", "facts", "heatmap", "left_out", "sweep"]
