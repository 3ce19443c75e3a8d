"""The `shapes` language: grammar, arithmetic, solving, and where a fault points."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jax_rawcuda import ValidationError
from jax_rawcuda._types.shape_syntax import (
    Arithmetic,
    Const,
    Dim,
    parse_axes,
    parse_shapes,
)
from jax_rawcuda._types.shapes import Solution, evaluate, evaluate_shape, solve


def shown(shapes):
    return [[str(axis) for axis in shape] for shape in shapes]


@pytest.mark.parametrize(
    ("text", "inputs", "outputs"),
    [
        ("n, n -> n", [["n"], ["n"]], [["n"]]),
        ("h w -> (h//2) (w//2)", [["h", "w"]], [["(h//2)", "(w//2)"]]),
        ("n -> (n + 255)//256", [["n"]], [["((n+255)//256)"]]),
        ("a b*2-1 3 -> b", [["a", "((b*2)-1)", "3"]], [["b"]]),
        ("() -> ()", [[]], [[]]),
        ("-> n", [], [["n"]]),
        ("n, 1", [["n"], ["1"]], []),
        ("a-b-c", [["((a-b)-c)"]], []),
        ("a*b%c", [["((a*b)%c)"]], []),
    ],
)
def test_grammar(text, inputs, outputs):
    spec = parse_shapes(text)
    assert shown(spec.inputs) == inputs
    assert shown(spec.outputs) == outputs
    assert parse_shapes(text) == spec


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("n, n -> n+", "found the end", 10),
        ("n @ m", "found '@'", 2),
        ("(n", r"needs '\)'", 2),
        ("n,,m", r"needs a shape \(dimensions, or \(\) for no axes\) at .*','", 2),
        (", n -> n", r"a shape \(dimensions, or \(\) for no axes\) at column 1", 0),
        ("n -> n,", r"a shape \(dimensions, or \(\) for no axes\) .* the end", 7),
        ("n " + "9" * 5000, "needs an integer of at most 19 digits at column 3", 2),
        ("()n", "needs an operator, ',', '->' or the end at column 3", 2),
        ("(" * 5000 + "n" + ")" * 5000, "needs at most 100 operators and par", 100),
        ("m -> " + "+".join("n" * 5000), "needs at most 100 operators and par", 206),
        ("n -> m -> k", "found '->'", 7),
        ("n /2", "found '/'", 2),
    ],
)
def test_a_fault_has_a_caret(text, message, column):
    with pytest.raises(ValidationError, match=message) as caught:
        parse_shapes(text, owner="saxpy")
    head, line, caret = str(caught.value).split("\n")
    assert head.startswith("saxpy: shapes needs ")
    assert line == f"  {text}"
    assert caret == "  " + " " * column + "^"


def test_a_hundred_operators_are_not_too_many():
    text = "(" * 50 + "n" + "+1)" * 50
    spec = parse_shapes(f"{text} {text} -> {text}")
    assert spec.names == {"n"}
    solution = solve(spec, [("x", (57, 57))], owner="f")
    assert solution.sizes == {"n": 7}
    assert evaluate_shape(spec.outputs[0], solution, owner="f") == (57,)


def test_the_largest_product_is_told():
    text = "*".join(["9" * 19] * 101)
    spec = parse_shapes(f"-> {text}")
    with pytest.raises(ValidationError, match=rf" is {eval(text)}; the largest extent"):
        evaluate_shape(spec.outputs[0], Solution({}), owner="f")


names = st.sampled_from(["n", "m", "k"])


def expressions():
    leaf = st.builds(Const, st.integers(0, 9)) | st.builds(Dim, names)
    operators = st.sampled_from(["+", "-", "*", "//", "%"])
    return st.recursive(leaf, lambda e: st.builds(Arithmetic, operators, e, e))


@given(expression=expressions())
def test_text_of_an_expression_parses_to_itself(expression):
    (parsed,) = parse_axes(f"({expression})", owner="", what="axes")
    assert parsed == expression


@given(expression=expressions(), n=st.integers(0, 20), m=st.integers(0, 20))
def test_arithmetic_is_pythons(expression, n, m):
    sizes = {"n": n, "m": m, "k": 3}
    try:
        want = eval(str(expression), {}, sizes)
    except ZeroDivisionError:
        with pytest.raises(ValidationError, match="divides by zero"):
            evaluate(expression, sizes, owner="f")
    else:
        assert evaluate(expression, sizes, owner="f") == want


def solved(text, *shapes, **known):
    operands = list(zip("xyz", shapes, strict=False))
    return solve(parse_shapes(text), operands, owner="f", known=known).sizes


def test_names_are_solved():
    assert solved("h w, w", (3, 4), (4,)) == {"h": 3, "w": 4}
    assert solved("2*n", (6,)) == {"n": 3}
    assert solved("n+m, n", (7,), (3,)) == {"n": 3, "m": 4}
    assert solved("10-n", (7,)) == {"n": 3}
    assert solved("n//2, n+1", (7,), (16,)) == {"n": 15}
    assert solved("n m", (4, 3), m=3) == {"n": 4, "m": 3}


@given(n=st.integers(0, 50), m=st.integers(0, 50), k=st.integers(1, 9))
def test_solving_inverts_evaluating(n, m, k):
    spec = parse_shapes("k, n*k+1 m, (m-3+n)")
    assume(m + n >= 3)
    sizes = {"n": n, "m": m, "k": k}
    solution = Solution(sizes)
    shapes = [evaluate_shape(shape, solution, owner="f") for shape in spec.inputs]
    assert solved(spec.text, *shapes) == sizes


@pytest.mark.parametrize(
    ("text", "shapes", "message"),
    [
        (
            "n, n -> n",
            [(4,), (5,)],
            r"f: operand 'y' has shape \(5,\), but shapes=\"n, n -> n\" needs \(n,\): "
            r"axis n is 5, required 4 \(n=4 from operand 'x'\)\.",
        ),
        (
            "n",
            [()],
            r"operand 'x' has shape \(\) of rank 0, .* of rank 1\. An operand without "
            r"axes is \(\) in shapes=\.$",
        ),
        ("n 3", [(4,)], r"operand 'x' has shape \(4,\) of rank 1, .* of rank 2"),
        ("n 3", [(4, 4)], "axis 3 is 4, required 3"),
        ("2*n", [(5,)], r"cannot fix n \(axis \(2\*n\) is 5\)"),
        ("n//2", [(5,)], "cannot fix n"),
        ("n*m", [(6,)], "cannot fix m, n"),
    ],
)
def test_a_mismatch_names_operand_and_dimension(text, shapes, message):
    with pytest.raises(ValidationError, match=message):
        solved(text, *shapes)


def test_a_result_cannot_be_negative():
    shape = parse_axes("(n-5) m", owner="f", what="axes")
    with pytest.raises(ValidationError, match=r"\(n-5\) is -1; it cannot be negative"):
        evaluate_shape(shape, Solution({"n": 4, "m": 1}), owner="f")
