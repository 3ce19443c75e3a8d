"""What JAX and XLA call a kernel or an op, and where they say it stands."""

from __future__ import annotations

import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.profiler import ProfileData
from support.process import run_python

import jax_rawcuda as rc

SCALE = rc.compile_nvrtc("""
namespace ns {
__global__ void scale(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3 * x[i];
}
}""")
scale = rc.kernel(SCALE, shapes="n -> n", threads="n")


@rc.op
def twice(s, x):
    return scale(scale(x))


@rc.op(name="thrice")
def renamed(s, x):
    return scale(scale(scale(x)))


# The function, its name, and what HLO makes of that.
NAMED = {
    "kernel": (scale, "ns::scale", "ns__scale"),
    "op": (twice, "twice", "twice"),
    "op with a name": (renamed, "thrice", "thrice"),
}
named = pytest.mark.parametrize(
    ("function", "name", "in_hlo"), NAMED.values(), ids=NAMED
)


@pytest.fixture
def x(default_device, rng):
    return jnp.asarray(rng.standard_normal(7).astype(np.float32))


@named
def test_jaxprs(x, function, name, in_hlo):
    assert f" {name}[" in str(jax.make_jaxpr(lambda x: function(x))(x))


FORMS = {
    "jit": lambda f: f,
    "vmap": lambda f: lambda x: jax.vmap(f)(jnp.stack([x, x])),
    "scan": lambda f: lambda x: jax.lax.scan(lambda c, _: (f(c), None), x, length=3),
}


@pytest.mark.parametrize("form", FORMS)
@named
def test_hlo(x, form, function, name, in_hlo):
    text = jax.jit(FORMS[form](function)).lower(x).compile().as_text()
    (call,) = re.findall(r"^ *(?:ROOT )?(%\S+) = .* custom-call\((.*)", text, re.M)
    assert re.fullmatch(rf"%{in_hlo}[.\d]*", call[0])
    assert re.search(rf'op_name="[^"]*/{name}"', call[1])


@named
def test_programs(x, function, name, in_hlo):
    assert f"module @jit_{in_hlo} " in jax.jit(function).lower(x).as_text()


@named
def test_profiles(x, function, name, in_hlo, tmp_path):
    jitted = jax.jit(lambda x: function(x))
    jitted(x).block_until_ready()
    function(x).block_until_ready()
    with jax.profiler.trace(str(tmp_path)):
        jitted(x).block_until_ready()
        function(x).block_until_ready()
    (file,) = tmp_path.rglob("*.xplane.pb")
    planes = ProfileData.from_file(str(file)).planes
    events = {e.name for plane in planes for line in plane.lines for e in line.events}
    assert f"PjitFunction({name})" in events
    if x.device.platform == "cpu":
        assert any(re.fullmatch(rf"{in_hlo}[.\d]*", event) for event in events)


@rc.op
def first_of(s, x, y):
    return scale(x), y


def test_operands_on_several_devices():
    x, y = (jax.device_put(jnp.ones(3), device) for device in jax.devices("cpu")[:2])
    with pytest.raises(ValueError, match=r"incompatible devices .* of first_of with"):
        first_of(x, y)


def _line_of(needle):
    lines = inspect.getsource(inspect.getmodule(_line_of)).splitlines()
    return next(i for i, line in enumerate(lines, 1) if needle in line)


def _calls(x):
    return scale(x), twice(x)  # the line of the user's


def test_source_lines(x):
    line = _line_of("# the line of the user's")
    place = rf"{re.escape(__file__)}:{line}:\d+ \(_calls\)"
    text = jax.make_jaxpr(_calls)(x).pretty_print(source_info=True)
    assert len(re.findall(place, text)) == 2
    lowered = jax.jit(_calls).lower(x).as_text(debug_info=True)
    assert re.search(rf'"{re.escape(__file__)}":{line}:', lowered)
    assert "jax_rawcuda/_" not in lowered


def test_names_of_a_kernel():
    assert scale.__name__ == scale.__qualname__ == "ns::scale"
    assert scale.__module__ == __name__
    assert scale.__doc__ == "The CUDA kernel ns::scale as a function of arrays."
    assert not hasattr(scale, "__wrapped__")
    assert jax.named_call(scale).__name__ == "ns::scale"
    assert jax.profiler.annotate_function(scale).__name__ == "ns::scale"
    assert jax.custom_vjp(scale).__name__ == "ns::scale"


MISTAKES = {
    "dtype": ("k(np.ones(3, np.float16))", "SignatureError: k: operand 'x' is float16"),
    "inside of jit": (
        "jax.jit(lambda x: k(x))(np.ones(3, np.float16))",
        "SignatureError: k: operand 'x' is float16",
    ),
    "an op": (
        "rc.op(lambda s, x: k(x), name='f')(np.ones(3, np.float16))",
        "SignatureError: k: operand 'x' is float16",
    ),
    "a live op": (
        "rc.live_op(lambda s, x, out: 0, out=lambda x: x, name='f')('text')",
        "SignatureError: f: operand 'x' is",
    ),
    "a declaration": ("rc.kernel(source, shapes='n -> n')", "give either threads="),
    "a source": (
        "rc.compile_nvrtc('__global__ void k() { y; }')",
        'identifier "y" is undefined',
    ),
}
SCRIPT = """
import traceback
import jax, numpy as np, jax_rawcuda as rc
source = "__global__ void k(const float* x, float* y, int n) { y[0] = x[0]; }"
k = rc.kernel(source, shapes="n -> n", threads="n")
"""
END = "-- end of one --\n"


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    """Makes each mistake, and prints what Python would print at the end."""
    attempts = (
        f"try:\n    {statement}\nexcept Exception:\n"
        f"    traceback.print_exc(); print({END.strip()!r}, file=sys.stderr)\n"
        for statement, _ in MISTAKES.values()
    )
    path = tmp_path_factory.mktemp("mistakes") / "script.py"
    path.write_text("import sys" + SCRIPT + "".join(attempts))
    return path


def _printed(script, **environment):
    printed = run_python(script, **environment).stderr.split(END)[:-1]
    return dict(zip(MISTAKES, printed, strict=True))


@pytest.fixture(scope="module")
def printed(script):
    return _printed(script)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_takes_few_lines(mistake, script, printed):
    statement, says = MISTAKES[mistake]
    text = printed[mistake]
    assert says in text
    assert re.search(
        rf'"{script}", line \d+, in <module>\n *{re.escape(statement)}', text
    )
    assert not re.search(r'File ".*jax_rawcuda', text)
    assert len(text.splitlines()) < 15


def test_the_frames_can_be_seen(script):
    for text in _printed(script, JAX_TRACEBACK_FILTERING="off").values():
        assert re.search(r'File ".*jax_rawcuda', text)
