"""The `command-line` directive: a reference generated from the commands."""

import inspect
import re

import typer
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from sketchforest.cli.app import app


class CommandLine(SphinxDirective):
    """Describe a command; without an argument, list all of them with links to their pages."""

    optional_arguments = 1

    def run(self):
        program = typer.main.get_command(app)
        context = program.make_context("sketchforest", [], resilient_parsing=True)
        if self.arguments:
            (name,) = self.arguments
            return self._described(program.get_command(context, name), f"sketchforest {name}")
        lines = []
        for name in program.list_commands(context):
            command = program.get_command(context, name)
            if not command.hidden:
                summary = (command.help or "").partition("\n")[0]
                lines += [f":doc:`{name} </commands/{name}>`", f"   {summary}"]
        return self._parsed("\n".join(lines))

    def _section(self, command, path):
        section = nodes.section(ids=[path.replace(" ", "-")])
        section += nodes.title(text=path)
        section += self._described(command, path)
        return section

    def _described(self, command, path):
        context = command.make_context(path, [], resilient_parsing=True)
        usage = " ".join([path, *command.collect_usage_pieces(context)])
        usage = re.sub(r"\{(\w+)\}", r"\1", usage)
        found = [nodes.literal_block(usage, usage, language="text")]
        found += self._parsed(_as_rst(command.help or ""))
        found += self._parsed(_options(command.get_params(context), context))
        subcommands = getattr(command, "commands", {})
        return found + [self._section(subcommands[name], f"{path} {name}") for name in subcommands]

    def _parsed(self, text):
        found = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), "command line"), 0, found)
        return found.children


def _as_rst(help_text):
    """Convert help text to reST. Paragraphs starting with "Example:" hold one command per line."""
    paragraphs = inspect.cleandoc(help_text.replace("\b", "")).split("\n\n")
    return "\n\n".join(map(_paragraph, paragraphs))


def _paragraph(text):
    if not text.startswith("Example:"):
        return text.replace("`", "``")
    lines = text.removeprefix("Example:").strip().splitlines()
    return "\n".join([".. code-block:: sh", "", *(f"   {line.strip()}" for line in lines)])


def _options(params, context):
    """List arguments and options, grouped by panel as in `-h`."""
    panels = {}
    for param in params:
        record = param.get_help_record(context)
        if record is not None and not getattr(param, "hidden", False):
            panels.setdefault(param.rich_help_panel, []).append(record)
    lines = []
    for panel, records in panels.items():
        lines += [f"**{panel}**", ""] if panel else []
        for names, described in records:
            names = names.replace(" range>", ">")
            described = " ".join(described.replace("`", "``").split())
            described = re.sub(r"\w+://[\w:.]*\w", r"``\g<0>``", described)  # avoid links
            lines += [f"``{' '.join(names.split())}``", f"   {described}", ""]
    return "\n".join(lines)


def setup(app):
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}
