"""Pages of the workbench, one module per step or part of a step."""

from shoal.web.pages import (
    assess,
    attack,
    compare,
    hierarchies,
    identify,
    lattice,
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
    *lattice.ROUTES,
    *compare.ROUTES,
    *attack.ROUTES,
    *release.ROUTES,
]
