"""Pages of the workbench, one module per step or part of a step."""

from shoal.web.pages import (
    assess,
    attack,
    compare,
    explorations,
    hierarchies,
    identify,
    load,
    perturbations,
    protect,
    release,
)

ROUTES = [
    *load.ROUTES,
    *identify.ROUTES,
    *assess.ROUTES,
    *protect.ROUTES,
    *hierarchies.ROUTES,
    *perturbations.ROUTES,
    *explorations.ROUTES,
    *compare.ROUTES,
    *attack.ROUTES,
    *release.ROUTES,
]
