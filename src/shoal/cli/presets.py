"""``shoal presets``: named sets of requirements, with their sources."""

from shoal.cli import source as given
from shoal.cli.output import console, document


def presets(json: given.Json = False) -> None:
    """List the presets with their requirements and sources."""
    from shoal.presets.preset import PRESETS

    if json:
        document("presets", {"presets": [PRESETS[name].model_dump(mode="json") for name in PRESETS]})
        return
    out = console()
    for name in PRESETS:
        preset = PRESETS[name]
        out.print(f"\n[bold]{name}[/bold]  {preset.title}")
        for criterion in preset.criteria:
            asked = ", ".join(f"{key} = {value}" for key, value in criterion.parameters.items())
            out.print(f"  {criterion.model} ({asked}): {criterion.says}", soft_wrap=True)
        if preset.checklist:
            out.print(f"  checklist of {len(preset.checklist)} points to confirm manually", soft_wrap=True)
        out.print(f"  [dim]adversary: {preset.adversary}[/dim]", soft_wrap=True)
        out.print(f"  [dim]source: {preset.source} ({preset.year})[/dim]", soft_wrap=True)
        out.print(f"  [dim]{preset.note}[/dim]", soft_wrap=True)
    out.print(
        '\nConventions, not legal advice. Use --preset NAME, or in a policy:\n\n[[require]]\npreset = "NAME"',
        markup=False,
    )
