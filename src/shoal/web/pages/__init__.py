"""The pages of the workbench, a file for each step."""

from shoal.web.pages import assess, attack, compare, identify, load, protect, release

ROUTES = [
    *load.ROUTES,
    *identify.ROUTES,
    *assess.ROUTES,
    *protect.ROUTES,
    *compare.ROUTES,
    *attack.ROUTES,
    *release.ROUTES,
]
