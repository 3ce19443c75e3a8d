"""Groups of axes: `*rows` in `shapes`, solved, computed with and launched."""

from __future__ import annotations

import itertools
import math
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jax_rawcuda as rc
from jax_rawcuda._types.shape_syntax import parse_shapes
from jax_rawcuda._types.shapes import evaluate_shape, solve


def solved(text, *shapes):
    operands = list(zip("xyzuv", shapes, strict=False))
    return solve(parse_shapes(text), operands, owner="f")


@pytest.mark.parametrize(
    ("text", "axes"),
    [
        ("*n", ["*n"]),
        ("*n -> *n", ["*n"]),
        ("*rows cols", ["*rows", "cols"]),
        ("a *m 3", ["a", "*m", "3"]),
        ("a  *m", ["a", "*m"]),
        ("(a+1) *m", ["(a+1)", "*m"]),
        ("a*m", ["(a*m)"]),
        ("a * m", ["(a*m)"]),
        ("a* m", ["(a*m)"]),
        ("*n a*m", ["*n", "(a*m)"]),
    ],
)
def test_a_star_is_a_group_or_a_product(text, axes):
    (shape,) = parse_shapes(text).inputs
    assert [str(axis) for axis in shape] == axes


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("*n a *m", "needs at most one group of axes in a shape at column 6", 5),
        (
            "(a *m)",
            r"needs '\)' at column 4, found '\*m'\. That is a group of axes: ",
            3,
        ),
        ("*n*2", r"the end after \*n \(n alone is their product\) at column 3", 2),
        ("*n - 1", r"the end after \*n \(n alone is their product\) at column 4", 3),
        ("*2", r"needs a dimension .* at column 1, found '\*'", 0),
        ("n, (*m)", r"needs a dimension .* at column 5, found '\*'", 4),
    ],
)
def test_a_group_stands_alone(text, message, column):
    with pytest.raises(rc.ValidationError, match=message) as caught:
        parse_shapes(text, owner="f")
    caret = str(caught.value).split("\n")[-1]
    assert caret == "  " + " " * column + "^"


@pytest.mark.parametrize("text", ["-> *n", "n -> *n", "*n -> *n, *m"])
def test_a_group_of_results_only(text):
    name = text[-2:]
    with pytest.raises(rc.ValidationError) as caught:
        parse_shapes(text, owner="f")
    assert str(caught.value) == (
        f'f: shapes="{text}" has the group {name} in a result only, and no operand to '
        f"take its axes from. Give an operand {name}, write the axes out, or declare "
        "the results with out=."
    )


@pytest.mark.parametrize("what", ["threads", "shared_mem_bytes"])
@pytest.mark.parametrize("given", ["*n", "4 *n"])
def test_a_group_where_only_its_product_makes_sense(what, given):
    contract = {"shapes": "*n, *n -> *n", "threads": "n", what: given}
    text = (
        rf"^add: {what} needs .*, found '\*n'\. That is a group of axes: n alone is "
        r"their product, and a product is written a\*n\."
    )
    with pytest.raises(rc.ValidationError, match=text):
        rc.kernel(ADD, **contract)


@pytest.mark.parametrize(
    ("text", "shapes", "message"),
    [
        (
            "*n, *n -> *n",
            [(3, 4), (4, 3)],
            "f: operand 'y' has shape (4, 3), but shapes=\"*n, *n -> *n\" needs (*n,): "
            "the axes *n are (4, 3), required (3, 4) (operand 'x' has shape (3, 4)).",
        ),
        (
            "*n c, c *n",
            [(3, 4, 5), (5, 12)],
            "f: operand 'y' has shape (5, 12), but shapes=\"*n c, c *n\" needs "
            "(c, *n): the axes *n are (12,), required (3, 4) (operand 'x' has shape "
            "(3, 4, 5)).",
        ),
        (
            "*n, n",
            [(3, 4), (13,)],
            "f: operand 'y' has shape (13,), but shapes=\"*n, n\" needs (n,): axis n "
            "is 13, required 12 (n=12 from operand 'x').",
        ),
        (
            "a *n b",
            [(4,)],
            "f: operand 'x' has shape (4,) of rank 1, but shapes=\"a *n b\" needs "
            "(a, *n, b) of rank 2 or more.",
        ),
        (
            "*n c",
            [()],
            "f: operand 'x' has shape () of rank 0, but shapes=\"*n c\" needs (*n, c) "
            "of rank 1 or more. An operand without axes is () in shapes=.",
        ),
    ],
)
def test_a_mismatch_names_both_shapes(text, shapes, message):
    with pytest.raises(rc.ValidationError, match=f"^{re.escape(message)}$"):
        solved(text, *shapes)


def test_the_name_alone_is_the_product():
    solution = solved("n//2 n+1, *n 2", (6, 13), (3, 4, 2))
    assert solution.sizes == {"n": 12}
    assert solution.groups == {"n": (3, 4)}
    assert solved("*n, *n k", (), (7,)).sizes == {"n": 1, "k": 7}
    assert solved("*n, n*k k", (2, 0), (0, 5)).sizes == {"n": 0, "k": 5}


# A contract as data: each axis is a name, a number or a starred name.
axis_names = st.sampled_from(["a", "b", "g"])
plain_axes = axis_names | st.integers(0, 9).map(str)
group_names = st.sampled_from(["*g", "*h"])


@st.composite
def contract_shapes(draw):
    axes = draw(st.lists(plain_axes, max_size=3))
    if draw(st.booleans()):
        axes.insert(draw(st.integers(0, len(axes))), draw(group_names))
    return axes


contracts = st.lists(contract_shapes(), min_size=1, max_size=4)
extents = st.lists(st.integers(0, 5), max_size=3).map(tuple)
values = st.fixed_dictionaries(
    {"a": st.integers(0, 9), "b": st.integers(0, 9), "*g": extents, "*h": extents}
).map(lambda drawn: {**drawn, "g": math.prod(drawn["*g"])})


def spelled(shapes):
    return ", ".join(" ".join(axes) if axes else "()" for axes in shapes)


def expanded(axes, values):
    """The shape that values give, by plain substitution."""
    parts = [(int(a),) if a.isdecimal() else values[a] for a in axes]
    return tuple(itertools.chain(*(p if isinstance(p, tuple) else (p,) for p in parts)))


@given(shapes=contracts, values=values)
def test_solving_inverts_substitution(shapes, values):
    spec = parse_shapes(f"{spelled(shapes)} -> {spelled(shapes)}")
    assert [[str(axis) for axis in axes] for axes in spec.inputs] == shapes
    assert spec.inputs == spec.outputs
    concrete = [expanded(axes, values) for axes in shapes]
    solution = solved(spec.text, *concrete)
    used = set(itertools.chain(*shapes))
    for name, value in values.items():
        if name in used and name[0] == "*":
            assert solution.groups[name[1:]] == value
            assert solution.sizes[name[1:]] == math.prod(value)
        elif name in used:
            assert solution.sizes[name] == value
    again = [evaluate_shape(axes, solution, owner="f") for axes in spec.outputs]
    assert again == concrete


def agrees(shapes, concrete):
    """Whether shapes fit a contract: every split is tried against every other."""
    bound = {}
    for axes, shape in zip(shapes, concrete, strict=True):
        stars = [i for i, axis in enumerate(axes) if axis[0] == "*"]
        head = stars[0] if stars else len(axes)
        tail = len(axes) - head - len(stars)
        if len(shape) < head + tail or (not stars and len(shape) != head):
            return False
        middle = shape[head : len(shape) - tail]
        pairs = [*zip(axes[:head], shape, strict=False)]
        pairs += [(axes[i], middle) for i in stars]
        pairs += zip(axes[len(axes) - tail :], shape[len(shape) - tail :], strict=True)
        for axis, extent in pairs:
            known = int(axis) if axis.isdecimal() else bound.setdefault(axis, extent)
            if known != extent:
                return False
    return bound.get("g") in (None, math.prod(bound["*g"])) if "*g" in bound else True


@given(
    shapes=contracts,
    concrete=st.lists(
        st.lists(st.integers(0, 3), max_size=4).map(tuple), min_size=4, max_size=4
    ),
    values=values,
    changed=st.integers(0, 3),
)
def test_what_is_accepted(shapes, concrete, values, changed):
    """All operands fit but one, whose shape is drawn."""
    drawn = concrete[: len(shapes)]
    fitting = [expanded(axes, values) for axes in shapes]
    fitting[changed % len(shapes)] = drawn[changed % len(shapes)]
    for candidate in (drawn, fitting):
        try:
            solved(spelled(shapes), *candidate)
        except rc.ValidationError:
            assert not agrees(shapes, candidate)
        else:
            assert agrees(shapes, candidate)


ADD = """
__global__ void add(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + 2 * y[i];
}"""
WEIGHTED = """
__global__ void weighted(const float* x, const float* w, float* out, int before,
                         int n, int after) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < before * n * after) out[i] = x[i] * w[i / after % n];
}"""
SCALED = """
__global__ void scaled(const float* x, const float* w, float* out, int rows,
                       int cols) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y;
  if (row < rows && column < cols)
    out[row * cols + column] = x[row * cols + column] * w[column];
}"""
SUMS = """
__global__ void sums(const float* x, float* out, int rows, int cols) {
  extern __shared__ float parts[];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < cols; ++i) sum += x[row * cols + i];
  parts[threadIdx.x] = sum;
  out[row] = parts[threadIdx.x];
}"""
GROUPS = [(), (5,), (3, 4), (2, 3, 4), (2, 1, 3, 2), (0,), (3, 0, 2)]


def random(rng, shape):
    return jnp.asarray(rng.standard_normal(shape, np.float32))


@pytest.mark.parametrize("shape", GROUPS, ids=str)
def test_an_elementwise_kernel_takes_every_rank(shape, rng):
    add = rc.kernel(ADD, shapes="*n, *n -> *n", threads="n", block=32)
    x, y = random(rng, shape), random(rng, shape)
    for f in (add, jax.jit(add)):
        out = f(x, y)
        assert out.shape == shape
        np.testing.assert_array_equal(out, x + 2 * y)


@pytest.mark.parametrize("rows", GROUPS, ids=str)
def test_leading_axes(rows, rng):
    scaled = rc.kernel(
        SCALED,
        shapes="*rows cols, cols -> *rows cols",
        threads=("cols", "rows"),
        block=(32, 1),
    )
    x, w = random(rng, (*rows, 40)), random(rng, (40,))
    expected = np.asarray(x) * np.asarray(w)
    for f in (scaled, jax.jit(scaled)):
        np.testing.assert_array_equal(f(x, w), expected)


# What a group of axes makes of the shapes of x and w, and how many axes follow w's.
PLACES = {
    "*before n after, n -> *before n after": lambda g: ((*g, 3, 2), (3,), 1),
    "before *n after, *n -> before *n after": lambda g: ((3, *g, 2), g, 1),
    "before n *after, n -> before n *after": lambda g: ((2, 3, *g), (3,), len(g)),
}


@pytest.mark.parametrize("group", GROUPS, ids=str)
@pytest.mark.parametrize("shapes", PLACES)
def test_leading_middle_and_trailing_axes(shapes, group, rng):
    weighted = rc.kernel(WEIGHTED, shapes=shapes, threads="before*n*after", block=64)
    shape, weights, following = PLACES[shapes](group)
    x, w = random(rng, shape), random(rng, weights)
    expected = np.asarray(x) * np.asarray(w).reshape(*weights, *(1,) * following)
    for f in (weighted, jax.jit(weighted)):
        np.testing.assert_array_equal(f(x, w), expected)


def sums(**contract):
    contract = {"shapes": "*rows cols -> *rows", "threads": "rows", **contract}
    return rc.kernel(SUMS, block=16, shared_mem_bytes="4*rows + 64", **contract)


@pytest.mark.parametrize("rows", GROUPS, ids=str)
def test_a_reduction_keeps_the_axes_of_the_group(rows, rng):
    x = random(rng, (*rows, 9))
    for f in (sums(), jax.jit(sums())):
        np.testing.assert_allclose(f(x), jnp.sum(x, -1), rtol=1e-5, atol=1e-6)


def test_the_product_may_be_an_axis_of_a_result(rng):
    x = random(rng, (3, 4, 9))
    expected = jnp.sum(x, -1).reshape(12)
    flat = sums(shapes="*rows cols -> rows")
    np.testing.assert_allclose(flat(x), expected, rtol=1e-5, atol=1e-6)
    twice = sums(shapes="*rows cols -> *rows 2", fill=0.5)(x)
    assert twice.shape == (3, 4, 2)
    np.testing.assert_allclose(twice.reshape(-1)[:12], expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(twice.reshape(-1)[12:], np.full(12, 0.5, np.float32))


@pytest.mark.parametrize("shape", [(6,), (6, 3, 4), (6, 2, 3), (6, 0)], ids=str)
def test_vmap_takes_the_axes_of_one_element(shape, rng):
    add = rc.kernel(ADD, shapes="*n, *n -> *n", threads="n", block=32)
    x, y = random(rng, shape), random(rng, shape)
    expected = x + 2 * y
    for f in (jax.vmap(add), jax.jit(jax.vmap(add)), jax.vmap(jax.jit(add))):
        np.testing.assert_array_equal(f(x, y), expected)
    first = jax.vmap(add, in_axes=(0, None))(x, y[0])
    np.testing.assert_array_equal(first, x + 2 * y[:1])
    if x.ndim > 1:
        nested = jax.vmap(jax.vmap(add, in_axes=-1, out_axes=-1))
        np.testing.assert_array_equal(nested(x, y), expected)


def test_one_kernel_keeps_the_shapes_of_its_calls_apart(rng):
    add = rc.kernel(ADD, shapes="*n, *n -> *n", threads="n")
    for shape in [(3, 4), (4, 3), (12,), (), (12, 1), (3, 4)]:
        x, y = random(rng, shape), random(rng, shape)
        np.testing.assert_array_equal(add(x, y), x + 2 * y)
    with pytest.raises(
        rc.ValidationError, match=r"the axes \*n are \(4, 3\), required"
    ):
        add(random(rng, (3, 4)), random(rng, (4, 3)))


def test_the_product_may_be_given(rng):
    add = rc.kernel(ADD, shapes="*n, *n -> *n", threads="n")
    x, y = random(rng, (3, 4)), random(rng, (3, 4))
    np.testing.assert_array_equal(add(x, y, n=12), x + 2 * y)
    text = r"^add: scalar 'n' is 11, but the operands make n=12 \(shapes=\"\*n, \*n -> "
    with pytest.raises(rc.ValidationError, match=text):
        add(x, y, n=11)


def test_a_group_in_place(rng):
    source = """
    __global__ void add(float* x, const float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) x[i] += y[i];
    }"""
    add = rc.kernel(source, shapes="*n, *n ->", threads="n", in_out="x")
    x, y = random(rng, (2, 3, 5)), random(rng, (2, 3, 5))
    expected = np.asarray(x + y)
    np.testing.assert_array_equal(jax.jit(add, donate_argnames="x")(x, y), expected)


def test_a_group_in_an_op_and_in_a_scan(rng):
    add = rc.kernel(ADD, shapes="*n, *n -> *n", threads="n")

    @rc.op
    def twice(s, x, y):
        return add(add(x, y), y)

    x, y = random(rng, (5, 2, 3)), random(rng, (2, 3))
    np.testing.assert_array_equal(
        jax.vmap(twice, in_axes=(0, None))(x, y), (x + 2 * y[None]) + 2 * y[None]
    )
    last, _ = jax.lax.scan(lambda carry, row: (add(row, carry), None), y, x)
    expected = np.asarray(y)
    for row in np.asarray(x):
        expected = row + 2 * expected
    np.testing.assert_array_equal(last, expected)
