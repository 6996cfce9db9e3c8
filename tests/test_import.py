"""What `import sketchforest` gives, and what it does not load."""

import subprocess
import sys


def run(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_submodules_resolve_without_an_import_of_their_own():
    script = "import sketchforest as s\n" + "\n".join(
        f"print(s.{name}.__name__)"
        for name in ("metrics", "datasets", "tuning", "explain", "projection")
    )
    names = ("metrics", "datasets", "tuning", "explain", "projection")
    assert run(script) == [f"sketchforest.{name}" for name in names]


def test_the_package_itself_loads_nothing_heavy():
    script = "import sys, sketchforest; print(*sys.modules)"
    assert not {"numpy", "scipy", "sklearn", "sketchforest._core"} & set(run(script))


def test_every_public_name_is_there_and_types_are_shipped():
    script = (
        "import sketchforest, pathlib\n"
        "print(*[n for n in sketchforest.__all__ if not hasattr(sketchforest, n)])\n"
        "print((pathlib.Path(sketchforest.__file__).parent / 'py.typed').exists())"
    )
    assert run(script) == ["True"]
