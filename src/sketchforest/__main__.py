"""``python -m sketchforest`` and the command ``sketchforest``."""

import signal


def main() -> None:
    """Run the command. During the first imports, Ctrl-C silently ends the process; afterwards, it
    is an exception, and commands clean up."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # and not ignored, as a shell has it in the background
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from sketchforest.cli import main as run

    signal.signal(signal.SIGINT, before)
    run()


if __name__ == "__main__":
    main()
