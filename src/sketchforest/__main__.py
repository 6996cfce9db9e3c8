"""``python -m sketchforest`` and the command ``sketchforest``."""

import signal


def main() -> None:
    """Ctrl-C while the first parts are imported ends the process at once, and without a word:
    nothing is begun. From then on it is an interrupt, after which commands clean up."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # and not ignored, as a shell has it in the background
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from sketchforest.cli import main as run

    signal.signal(signal.SIGINT, before)
    run()


if __name__ == "__main__":
    main()
