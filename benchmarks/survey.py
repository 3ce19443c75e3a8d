"""Tries a folder of CUDA files on the CPU route and prints what runs.

`python benchmarks/survey.py FOLDER` reads FOLDER/*/*.cu, device code only, and prints
a row per subfolder: how many files compile and how many kernels translate, then each
failure and whether NVRTC takes the same text. A line `// kernel: scale<float, 4>` in a
file asks for a template's instance; kernels that are no templates are all tried. It
needs no GPU, and no JAX backend.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import multiprocessing
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

from _timing import markdown

import jax_rawcuda as rc
from jax_rawcuda import cpu
from jax_rawcuda._compile import nvrtc as _nvrtc
from jax_rawcuda._compile.compilation import compile_program, kernel_entries
from jax_rawcuda._compile.compiler import CLANG, nvrtc_for
from jax_rawcuda._compile.program import Program

_SECONDS = 300
_PRELOAD = [
    "_timing",
    "jax_rawcuda.cpu",
    "jax_rawcuda._compile.program",
    "llvmlite.binding",
]


@dataclasses.dataclass(frozen=True, slots=True)
class Trial:
    """What became of one kernel, or of a file that does not compile.

    Attributes:
      file: Relative to the folder.
      kernel: Its name; "" for the whole file.
      step: Where it ended: `compile`, `translate`, or `done`.
      reason: Of a failure; one line.
      nvrtc: What NVRTC says to a text that does not compile; "" when it takes it.
    """

    file: str
    kernel: str
    step: str
    reason: str = ""
    nvrtc: str = ""


def main() -> None:
    """Parses the command line, tries every file, prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2, help="files tried at a time")
    parser.add_argument("--json", type=Path, help="writes every trial to this file")
    options = parser.parse_args()
    files = sorted(options.folder.glob("*/*.cu"))
    if not files:
        parser.error(f"{options.folder}: no files */*.cu in there")
    with ThreadPoolExecutor(options.jobs) as pool:
        trials = [trial for found in pool.map(_apart, files) for trial in found]
    if options.json:
        rows = map(dataclasses.asdict, trials)
        options.json.write_text(json.dumps(list(rows), indent=1))
    print(table(trials))
    for trial in trials:
        if trial.step != "done":
            verdict = f"; NVRTC: {trial.nvrtc}" if trial.nvrtc else ""
            where = f"{trial.file} {trial.kernel}".strip()
            print(f"* {where}: {trial.step}: {trial.reason}{verdict}")


def try_file(path: Path) -> Iterator[Trial]:
    """Compiles one file for the CPU and translates its kernels."""
    text = path.read_text()
    file = f"{path.parent.name}/{path.name}"
    instances = re.findall(r"^// kernel: (.+)$", text, re.MULTILINE)
    program = Program(path.name, text, rc.NvrtcOptions())
    for expressions in ((), *((name,) for name in instances)):
        try:
            result = compile_program(program, CLANG, expressions)
        except rc.RawCudaError as error:
            nvrtc = _ask_nvrtc(program, expressions)
            yield Trial(file, *expressions or ("",), "compile", _first(error), nvrtc)
            if not expressions:
                return
            continue
        wanted = [symbol for _, symbol in result.lowered_names]
        if not expressions:
            wanted = [entry.symbol for entry in kernel_entries(result.ptx)]
        for symbol in wanted:
            try:
                cpu.load_kernel(result.ptx, symbol)
            except rc.RawCudaError as error:
                yield Trial(file, symbol, "translate", _first(error))
            else:
                yield Trial(file, symbol, "done")


def _ask_nvrtc(program: Program, expressions: tuple[str, ...]) -> str:
    if not _nvrtc.is_available():
        return ""
    try:
        compile_program(program, nvrtc_for("sm_90"), expressions)
    except rc.RawCudaError as error:
        return _first(error)
    return ""


def _apart(path: Path) -> list[Trial]:
    """Tries a file in a process of its own, which may end as it likes."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOAD)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(path, sender))
    process.start()
    sender.close()
    trials: list[Trial] = []
    reason = ""
    while not reason:
        try:
            if receiver.poll(_SECONDS):
                trials.append(receiver.recv())
            else:
                reason = f"not done after {_SECONDS} s"
        except EOFError:
            break
    process.kill() if reason else process.join()
    if process.exitcode:
        reason = f"the process ended with exit code {process.exitcode}"
    if reason:
        file = f"{path.parent.name}/{path.name}"
        trials.append(Trial(file, "?", "translate", reason))
    return trials


def _send(path: Path, sender: Connection) -> None:
    for trial in try_file(path):
        sender.send(trial)


def _first(error: Exception) -> str:
    """The line of a message that names the fault."""
    lines = str(error).splitlines()
    return next((line for line in lines if "error:" in line), lines[0]).strip()


def table(trials: list[Trial]) -> str:
    """Formats a row per folder and their sum."""
    rows: dict[str, collections.Counter[str]] = {}
    for folder in (*dict.fromkeys(t.file.split("/")[0] for t in trials), "all"):
        mine = [t for t in trials if folder in ("all", t.file.split("/")[0])]
        refused = {t.file for t in mine if t.step == "compile" and not t.kernel}
        kernels = [t for t in mine if t.kernel]
        rows[folder] = collections.Counter(
            files=len({t.file for t in mine}),
            kernels=len(kernels),
            compile=len({t.file for t in mine} - refused),
            translate=sum(t.step == "done" for t in kernels),
        )
    header = ("folder", "files", "that compile", "kernels", "that translate")
    keys = ("files", "compile", "kernels", "translate")
    return markdown(header, ((n, *(row[k] for k in keys)) for n, row in rows.items()))


if __name__ == "__main__":
    main()
