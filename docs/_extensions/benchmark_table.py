"""`benchmark-table` shows what `sketchforest bench` measured, from its files in docs/benchmark."""

from pathlib import Path

from sphinx.util.docutils import SphinxDirective

from sketchforest.lab.readme import benchmark_table, machine


class BenchmarkTable(SphinxDirective):
    def run(self):
        docs = Path(self.env.srcdir)
        return self.parse_text_to_nodes(f"{benchmark_table(docs)}\n\nMachine: {machine(docs)}.\n")


def setup(app):
    app.add_directive("benchmark-table", BenchmarkTable)
    return {"parallel_read_safe": True}
