"""The pages of the workbench, a file for each step or part of one."""

from shoal.web.pages import assess, attack, compare, hierarchies, identify, lattice, load, protect, release

ROUTES = [
    *load.ROUTES,
    *identify.ROUTES,
    *assess.ROUTES,
    *protect.ROUTES,
    *hierarchies.ROUTES,
    *lattice.ROUTES,
    *compare.ROUTES,
    *attack.ROUTES,
    *release.ROUTES,
]
