"""The ``southwell`` command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .. import __version__
from .._names import unknown
from ..check import command
from ..studies import command as studies
from . import convert, fit, info, predict


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    try:
        try:
            return _run(sys.argv[1:] if argv is None else list(argv))
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader (`head`, say) has closed the pipe; write nothing more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(arguments: list[str]) -> int:
    parser, commands = _parser()
    name = next((a for a in arguments if not a.startswith("-")), None)
    if name is not None and name not in commands:
        parser.error(str(unknown("command", name, commands)))
    parsed = parser.parse_args(arguments)
    if parsed.run is None:
        parser.print_help()
        return 0
    return int(parsed.run(parsed))


def _parser() -> tuple[argparse.ArgumentParser, list[str]]:
    parser = argparse.ArgumentParser(
        prog="southwell", description="Sparse linear models, each with a proof of how close to optimal it is."
    )
    parser.add_argument("--version", action="version", version=f"southwell {__version__}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="command")
    demo = commands.add_parser(
        "demo", help="fit sparse models to real data and show their proofs (a few seconds)",
        description="Fit sparse classifiers to data that ship with scikit-learn, and print what was proven of each.",
    )  # fmt: skip
    demo.set_defaults(run=_demo)
    for name, about, description, add, run in (
        ("fit", "fit a sparse linear model to data in files", fit.DESCRIPTION, fit.add_arguments, fit.run),
        ("predict", "predictions of a model for data in files", predict.PREDICT, predict.add_predict_arguments,
         predict.predict),
        ("certify", "how far a model is from the optimum on data in files", predict.CERTIFY,
         predict.add_certify_arguments, predict.certify),
        ("info", "what a model, a store, a proof or data file is", info.DESCRIPTION, info.add_arguments, info.run),
    ):  # fmt: skip
        own = commands.add_parser(name, help=about, description=description)
        add(own)
        own.set_defaults(run=run)
    check = commands.add_parser(
        "check", help="verify a proof file against the data, in exact arithmetic", description=command.DESCRIPTION
    )
    command.add_arguments(check)
    check.set_defaults(run=command.run)
    converting = commands.add_parser(
        "convert", help="write data from files to a store, whatever their size", description=convert.DESCRIPTION
    )
    convert.add_arguments(converting)
    converting.set_defaults(run=convert.run)
    reproduce = commands.add_parser(
        "reproduce", help="run the experiments of five papers again, and report", description=studies.DESCRIPTION
    )
    studies.add_arguments(reproduce)
    reproduce.set_defaults(run=studies.run)
    return parser, list(commands.choices)


def _demo(_: argparse.Namespace) -> int:
    from .demo import demo  # scikit-learn is imported only when used

    return demo()
