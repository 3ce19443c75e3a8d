"""What a plan asks of the CUDA driver, and when: on a driver that runs nothing."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from support.process import run_command, run_python

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or importlib.util.find_spec("ziglang") is None,
    reason="needs a C compiler, and a library of the name that Linux has",
)

SOURCE = Path(__file__).parent.parent / "support/fake_driver.c"
PROGRAM = """
    import ctypes, gc, json
    from jax_rawcuda import _ffi
    from jax_rawcuda._xla.registration import register
    from support.plan_bytes import *

    register()
    driver = ctypes.CDLL("libcuda.so.1")
    driver.fake_calls.restype = ctypes.c_char_p

    def calls():
        names = driver.fake_calls().decode().split()
        driver.fake_forget()
        return names

    def encoded(code, *variables, kind=CUBIN):
        command = launch(0, [pointer(result(0))])
        return encode(
            [command, command], results=[4], images=[(kind, code, *variables)],
            functions=[function("k", [("out", 8)])],
        )

    def program(code, *variables):
        plan = encoded(code, *variables)
        return _ffi.load_program("cuda", plan.plan, plan.images)

    def run(made):
        before = _ffi.counters()["load"]
        status = made.run(0x77, 0, [0x2000])
        return status, calls(), _ffi.counters()["load"] - before

    cases = {"plain": (), "variables": (values(count=bytes(4)),)}
    found = {}
    for captured in (0, 1):
        driver.fake_capture(captured)
        for name, variables in cases.items():
            made = program(b"%d" % captured, *variables)
            key = f"{name} {captured}"
            found[key] = [run(made), run(made)]
            other = program(b"%d" % captured, *variables)
            found[key + " again"] = [run(other)]
            del made, other
            gc.collect()
            found[key + " dropped"] = calls()
    driver.fake_capture(0)
    made = program(b"wrong size", values(count=bytes(8)))
    found["wrong size"] = [run(made), run(made)]

    # On the CPU XLA only gets as far as the first stage of the handler.
    jax.ffi.register_ffi_type("fake", _ffi.types()["CUDA"], platform="cpu")
    stages = _ffi.handlers()["CUDA"]["session_sync"]
    jax.ffi.register_ffi_target("fake", stages, platform="cpu")
    out = jax.ShapeDtypeStruct((1,), "float32")
    kept = []

    def compile(plan):
        before, _ = _ffi.counters()["load"], calls()
        kept.append(jax.jit(lambda: call(plan, out, target="fake")).lower().compile())
        return calls(), _ffi.counters()["load"] - before

    for context in range(3):
        driver.fake_context(context)
        for name, variables in cases.items():
            plan = encoded(b"%d %d" % (context, len(variables)), *variables)
            found[f"compiled {name} {context}"] = compile(plan)
    driver.fake_context(1)
    found["compiled for others"] = compile(encoded(b"text", kind=HOST_PTX))
    print(json.dumps(found))
"""
LOAD = ["load", "get_function"]
WRITE = ["create_stream", "get_global", "upload", "wait", "destroy_stream"]
CALLS = {"plain": LOAD, "variables": [LOAD[0], *WRITE, LOAD[1]]}
LAUNCHES = ["launch", "launch"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What programs ask of the driver: status, calls and loads of each run."""
    folder = tmp_path_factory.mktemp("driver")
    package = importlib.util.find_spec("nvidia")
    headers = [Path(p) / "cu13/include" for p in package.submodule_search_locations]
    run_command(
        sys.executable,
        *("-m", "ziglang", "cc", "-shared", "-fPIC", "-O1", SOURCE),
        *(f"-I{path}" for path in headers),
        *("-o", folder / "libcuda.so.1"),
    )
    return json.loads(
        run_python(PROGRAM, LD_LIBRARY_PATH=str(folder), JAX_PLATFORMS="cpu").stdout
    )


@pytest.mark.parametrize("captured", [0, 1], ids=["free", "captured"])
@pytest.mark.parametrize("case", CALLS)
def test_the_first_run_loads_and_the_others_only_launch(found, case, captured):
    first, second = found[f"{case} {captured}"]
    assert first == [["", ""], ["relax", *CALLS[case], "restrict", *LAUNCHES], 1]
    assert second == [["", ""], LAUNCHES, 0]


@pytest.mark.parametrize("case", CALLS)
def test_programs_share_a_library(found, case):
    ((status, calls, loads),) = found[f"{case} 0 again"]
    assert (status, loads) == (["", ""], 1)
    assert calls == ["relax", "get_function", "restrict", *LAUNCHES]
    assert found[f"{case} 0 dropped"] == ["unload"]


def test_compilation_loads_where_a_device_is(found):
    held = ["retain", "release"]
    loads = [*held, "relax", *LOAD, "restrict"]
    assert found["compiled plain 0"] == [[], 0]  # no context: no device
    assert found["compiled plain 1"] == [loads, 1]
    assert found["compiled plain 2"] == [held, 0]  # another's context
    for context in range(3):  # values are written where they are used
        assert found[f"compiled variables {context}"] == [[], 0]


def test_compilation_leaves_what_fails_to_the_first_run(found):
    calls = ["retain", "release", "relax", "restrict"]
    assert found["compiled for others"] == [calls, 0]


def test_what_does_not_load_is_not_launched(found):
    first, second = found["wrong size"]
    text = "op: kernel 'k': variable 'count' has 4 bytes in the image; its value has 8"
    for (what, message), calls, loads in (first, second):
        assert what == "invalid"
        assert message.startswith(text)
        assert "launch" not in calls
        assert calls[-1] == "restrict"
        assert loads == 0
