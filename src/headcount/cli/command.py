"""What all commands have in common."""

import click


def examples(*lines: str) -> str:
    r"""Return the end of a command's help: commands to copy. ``\b`` tells click to keep lines."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class Command(click.Command):
    """A command that refuses an option that is given twice, instead of dropping the first."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments of the command."""
        if not ctx.resilient_parsing:
            _, _, given = self.make_parser(ctx).parse_args(list(args))
            for option in given:
                once = isinstance(option, click.Option) and not (option.multiple or option.is_flag)
                if once and given.count(option) > 1:
                    raise click.UsageError(f"{option.opts[-1]} is given twice; give it once", ctx)
        return super().parse_args(ctx, args)
