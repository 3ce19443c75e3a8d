"""LLVM through llvmlite: target machine, passes, and the symbols it links."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._base.errors import UnsupportedError
from .abi import ABI_VERSION

_OPTIMIZATION = 3
# LLVM's options are of the process.
_LLVM_OPTIONS = (
    # llvmlite's LLVM checks assertions. One fails, and ends the process, when it folds
    # the tail of a loop with few turns (LLVM 22).
    "-force-tail-folding-style=none",
    # The time of these grows with the square of a block's length: the scheduler after
    # register allocation, which such processors do for themselves; and dependences in
    # the one before, beyond so many accesses to memory.
    "-disable-post-ra",
    "-dag-maps-huge-region=100",
)
# So does that of the vectorisers, which also recurse as deeply as values depend on each
# other: they leave alone modules with a function of more lines of IR than this.
_MOST_VECTORISED = 5_000
# And that of much else: longer functions are only kept in registers.
_MOST_OPTIMISED = 25_000
_DECLARED = re.compile(r'^declare .*?@"?([\w.$]+)"?\(', re.MULTILINE)


class Toolchain:
    """LLVM for this machine.

    Attributes:
      identity: Everything but the IR that the object code depends on.
    """

    def __init__(self) -> None:
        try:
            import llvmlite
            import llvmlite.binding as llvm
        except ImportError as error:
            raise UnsupportedError(
                "The CPU route needs llvmlite: pip install 'jax-rawcuda[cpu]'."
            ) from error
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        for option in _LLVM_OPTIONS:
            llvm.set_option("", option)
        self._llvm = llvm
        cpu = llvm.get_host_cpu_name()
        features = llvm.get_host_cpu_features().flatten()
        self._machine, self._quick = (
            llvm.Target.from_default_triple().create_target_machine(
                cpu=cpu, features=features, opt=level, reloc="pic", jit=True
            )
            for level in (_OPTIMIZATION, 0)
        )
        self._jit = llvm.create_lljit_compiler(self._machine)
        self._symbols = _host_symbols()
        version = f"llvmlite {llvmlite.__version__}, ABI {ABI_VERSION}"
        passes = f"O{_OPTIMIZATION} without unrolling, {_LLVM_OPTIONS}, "
        passes += f"{_MOST_VECTORISED}, {_MOST_OPTIMISED}"
        self.identity = f"{version}, {passes}, {cpu}, {features}"

    def missing(self, ir: str) -> set[str]:
        """Returns the functions that IR text calls and nobody provides."""
        # LLVM names unresolved symbols on stderr only, so look before linking.
        declared = {n for n in _DECLARED.findall(ir) if not n.startswith("llvm.")}
        return declared.difference(self._symbols)

    def compile(self, ir: str) -> bytes:
        """Compiles IR text to a relocatable object."""
        llvm, machine = self._llvm, self._machine
        module = llvm.parse_assembly(ir)
        module.verify()  # a pass may crash on what it does not expect
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        options = llvm.create_pipeline_tuning_options(speed_level=_OPTIMIZATION)
        length = longest_function(ir)
        options.loop_vectorization = length <= _MOST_VECTORISED
        options.slp_vectorization = length <= _MOST_VECTORISED
        options.loop_interleaving = True
        options.loop_unrolling = False  # clang and NVRTC have done it
        builder = llvm.create_pass_builder(machine, options)
        if length <= _MOST_OPTIMISED:
            passes = builder.getModulePassManager()
        else:
            machine = self._quick
            passes = llvm.create_new_module_pass_manager()
            passes.add_always_inliner_pass()
            passes.add_sroa_pass()
        passes.run(module, builder)
        image: bytes = machine.emit_object(module)
        return image

    def link(
        self,
        image: bytes,
        exports: tuple[str, ...],
        name: str,
        addresses: Mapping[str, int],
    ) -> Any:
        """Loads an object; returns a mapping from symbol to address."""
        builder = self._llvm.JITLibraryBuilder()
        builder.add_object_img(image)
        builder.add_current_process()
        for symbol, address in {**self._symbols, **addresses}.items():
            builder.import_symbol(symbol, address)
        for symbol in exports:
            builder.export_symbol(symbol)
        return builder.link(self._jit, name)


def longest_function(ir: str) -> int:
    """Returns the number of lines of the longest function in IR text."""
    functions = ir.split("\ndefine ")[1:]
    return max((f.count("\n") for f in functions), default=0)


def _host_symbols() -> dict[str, int]:
    from .. import _ffi

    symbols: dict[str, int] = _ffi.host_symbols()
    return symbols
