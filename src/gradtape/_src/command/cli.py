"""The command `gradtape`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from ..version import __version__

if TYPE_CHECKING:
    from ..tape.profile import Profile


_WITH_VALUES = ("--profile-file", "--html")
"""The options whose next word is no script."""


def main(argv: Sequence[str] | None = None) -> int:
    own, rest = _split(list(sys.argv[1:] if argv is None else argv))
    options = _parser().parse_args(own)
    if options.command == "run":
        _run(options, rest)
    elif options.command == "doctor":
        from . import doctor as _doctor

        return _doctor.examine(options.kind, options.target, rest, options.html)
    elif options.command == "info":
        from . import info as _info

        print(_info.report(devices=options.devices))
    return 0


def _run(options: argparse.Namespace, rest: list[str]) -> None:
    """Run a program; what was asked for beside is told when it has ended, however it ends."""
    from .run import runner

    if options.explain:
        from ..inspect.asking import explain_gradients

        explain_gradients()
    if options.check_numerics:
        from ..inspect.numerics import enable_check_numerics

        enable_check_numerics()
    with ExitStack() as at_end:
        if options.profile or options.profile_file:
            from ..inspect.profiler import Profiler

            profiler = Profiler()
            at_end.callback(lambda: _tell(profiler.profile(), options.profile_file))
            at_end.callback(profiler.end)
            profiler.begin()
            at_end.callback(profiler.stop)
            profiler.start()
        if options.memory:
            from ..inspect.memory import Largest

            largest = Largest()
            at_end.callback(lambda: print(largest, file=sys.stderr))
            at_end.callback(largest.end)
            largest.begin()
        runner(options.kind)(options.target, rest)


def _tell(profile: Profile, path: str | None) -> None:
    print(profile, file=sys.stderr)
    if path is not None:
        speedscope = path.removesuffix(".gz").endswith(".speedscope.json")
        (profile.save_speedscope if speedscope else profile.save_chrome_trace)(path)
        print(f"The profile is in {path}.", file=sys.stderr)


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """The arguments of gradtape, and those of the script, which argparse must not see."""
    if argv[:1] in (["run"], ["doctor"]):
        given = False  # whether the word is the value of an option
        for i, word in enumerate(argv[1:], start=1):
            i += word in ("-c", "-m")
            is_target = word in ("-", "-c", "-m") or not word.startswith("-")
            if is_target and not given and i < len(argv):
                return [*argv[:i], "--", argv[i]], argv[i + 1 :]  # code, too, may begin with a dash
            given = word in _WITH_VALUES
    return argv, []


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gradtape",
        description="The tf.GradientTape system without TensorFlow.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"gradtape {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    run = commands.add_parser(
        "run",
        help="run a script that imports tensorflow, on gradtape",
        description="Run a Python program as `python` would, but `import tensorflow` gives "
        "gradtape, in child processes too. All that follows SCRIPT goes to the program.",
        usage="gradtape run [-h] [--explain] [--check-numerics] [--memory] [--profile] "
        "[--profile-file=FILE] [-c | -m] SCRIPT [ARG ...]",
        allow_abbrev=False,
    )
    _add_target(run)
    run.add_argument(
        "--explain", action="store_true", help="say of each gradient that is None why, and where"
    )
    run.add_argument(
        "--check-numerics",
        action="store_true",
        help="end with an error at the first op, forward or backward, that makes Inf or NaN",
    )
    run.add_argument(
        "--memory", action="store_true", help="say at the end what the largest tape held, and where"
    )
    run.add_argument(
        "--profile", action="store_true", help="say at the end where the time went, by op and line"
    )
    run.add_argument(
        "--profile-file",
        metavar="FILE",
        help="write that for Perfetto, or into FILE.speedscope.json for speedscope",
    )

    doctor = commands.add_parser(
        "doctor",
        help="run a script, and say what is wrong with its gradients",
        description="Run a Python program as `gradtape run` does, and print after its output, on "
        "standard output, what was found: gradients that are None, NaN and Inf, gradients that are "
        "zero, vanish or explode, dead units, variables that are not used or not trained, "
        "functions that are traced again and again, copies to and from a card, each with its line "
        "and what to do; then the most expensive lines, and the largest tape. The program runs "
        "several times slower than by itself.",
        epilog="The exit code is 0 if nothing was found, 1 if something was; 2 if the command "
        "is wrong or there is no such script. If the program itself fails, its own code is given: "
        "that of sys.exit, or 1 after an exception.",
        usage="gradtape doctor [-h] [--html FILE] [-c | -m] SCRIPT [ARG ...]",
        allow_abbrev=False,
    )
    _add_target(doctor)
    doctor.add_argument("--html", metavar="FILE", help="write the report as a page, too")

    info = commands.add_parser(
        "info",
        help="show versions, engines and devices",
        description="Show the versions of gradtape, of Python and of the libraries it can use.",
        allow_abbrev=False,
    )
    info.add_argument(
        "--devices", action="store_true", help="start each engine and list its devices (slower)"
    )
    return parser


def _add_target(parser: argparse.ArgumentParser) -> None:
    for flag, what in [("-c", "the program itself"), ("-m", "a module's name")]:
        parser.add_argument(
            flag, dest="kind", action="store_const", const=flag, help=f"SCRIPT is {what}"
        )
    parser.add_argument("target", metavar="SCRIPT", help="path of the script; - for standard input")


if __name__ == "__main__":
    sys.exit(main())
