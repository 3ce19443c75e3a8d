"""Random expressions of CUDA C++ whose value the language and the device define."""

from __future__ import annotations

from dataclasses import dataclass, field

_MASK = (1 << 64) - 1


class Random:
    """A stream of choices; the same with every version of Python."""

    def __init__(self, seed: int) -> None:
        self._state = seed * 0xD1342543DE82EF95 + 0x2545F4914F6CDD1D & _MASK

    def below(self, bound: int) -> int:
        """Returns an int in [0, bound)."""
        self._state = self._state + 0x9E3779B97F4A7C15 & _MASK
        x = self._state
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
        return (x ^ x >> 31) % bound

    def pick(self, *options: str) -> str:
        """Returns one of its arguments."""
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        """Returns True that often."""
        return self.below(100) < percent


INTEGERS = {
    "signed char": 8, "unsigned char": 8, "short": 16, "unsigned short": 16,
    "int": 32, "unsigned int": 32, "long long": 64, "unsigned long long": 64,
}  # fmt: skip
FLOATS = {"float": 32, "double": 64}
WIDE = ("int", "unsigned int", "long long", "unsigned long long")
TYPES = (*INTEGERS, *FLOATS, "int", "unsigned int", "float")


@dataclass
class Scope:
    """The variables that may be read.

    Attributes:
      variables: Type by name.
      uniform: Names whose value is the same in all threads of a block.
      fixed: Names that may not be assigned to, such as a loop's counter.
      functions: (name, result, parameters) of device functions.
    """

    variables: dict[str, str] = field(default_factory=dict)
    uniform: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)
    functions: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)


class Expressions:
    """Makes expressions over a scope."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def make(self, scope: Scope, type_: str, depth: int) -> str:
        """Returns an expression of a type."""
        if type_ in FLOATS:
            return self._float(scope, type_, depth)
        if type_ not in WIDE:
            wide = self._integer(scope, self.random.pick("int", "unsigned int"), depth)
            return f"({type_})({wide})"
        return self._integer(scope, type_, depth)

    def condition(self, scope: Scope, depth: int = 2) -> str:
        """Returns a truth value that differs between threads."""
        random = self.random
        kind = random.below(8)
        if kind == 0 and depth:
            joined = random.pick("&&", "||")
            a, b = (self.condition(scope, depth - 1) for _ in range(2))
            return f"({a} {joined} {b})"
        if kind == 1 and depth:
            return f"!{self.condition(scope, depth - 1)}"
        order = random.pick("<", "<=", ">", ">=", "==", "!=")
        type_ = random.pick(*WIDE, *FLOATS)
        if kind == 2:
            bit = f"{self.make(scope, 'unsigned int', 1)} >> {random.below(32)}"
            return f"(({bit}) & 1)"
        a, b = (self.make(scope, type_, depth) for _ in range(2))
        return f"({a} {order} {b})"

    def uniform(self, scope: Scope) -> str:
        """Returns an unsigned int that all threads of a block agree on."""
        names = sorted(scope.uniform)
        a, b = (self.random.pick("blockIdx.x", *names) for _ in range(2))
        op = self.random.pick("+", "^", "*", "&", "|")
        return f"({a} {op} ({b} + {self.random.below(1000)}u))"

    def _leaf(self, scope: Scope, type_: str) -> str:
        random = self.random
        names = [n for n, t in scope.variables.items() if t == type_]
        others = list(scope.variables)
        if names and random.chance(65):
            return random.pick(*names)
        if others and random.chance(60):
            return self._converted(random.pick(*others), scope, type_)
        return self._constant(type_)

    def _converted(self, name: str, scope: Scope, type_: str) -> str:
        source = scope.variables[name]
        if source == type_:
            return name
        if source not in FLOATS or type_ in FLOATS:
            return f"({type_}){name}"
        word = {"int": "int", "unsigned int": "uint", "long long": "ll"}.get(
            type_, "ull"
        )
        mode = self.random.pick("rn", "rz", "rd", "ru")
        if self.random.chance(25) and type_ == "unsigned int":
            return (
                f"bits({name})" if source == "float" else f"(unsigned int)bits({name})"
            )
        return f"__{source}2{word}_{mode}({name})"

    def _constant(self, type_: str) -> str:
        random = self.random
        if type_ in FLOATS:
            whole, shift = random.below(4096) - 2048, random.below(20) - 10
            number = repr(whole * 2.0**shift)
            return f"({number}f)" if type_ == "float" else f"({number})"
        width = INTEGERS[type_]
        small, top = random.below(256), 1 << random.below(width)
        value = (small, top, top - 1, random.below(1 << width))[random.below(4)]
        suffix = "ull" if width == 64 else "u"
        return f"({type_}){value:#x}{suffix}"

    def _call(self, scope: Scope, type_: str, depth: int) -> str | None:
        found = [f for f in scope.functions if f[1] == type_]
        if not found:
            return None
        name, _, parameters = found[self.random.below(len(found))]
        arguments = ", ".join(self.make(scope, p, depth - 1) for p in parameters)
        return f"{name}({arguments})"

    def _integer(self, scope: Scope, type_: str, depth: int) -> str:
        random = self.random
        if depth <= 0:
            return self._leaf(scope, type_)
        if random.chance(8) and (call := self._call(scope, type_, depth)):
            return call
        width = INTEGERS[type_]
        signed = not type_.startswith("unsigned")
        wrap = "unsigned long long" if width == 64 else "unsigned int"
        a = self._integer(scope, type_, depth - 1)
        b = self._integer(scope, type_, depth - 1)
        count = f"({self._integer(scope, 'unsigned int', depth - 2)} & {width - 1})"
        # Signed sums and products wrap in C++ only as unsigned ones.
        op = random.pick("+", "-", "*")
        modular = f"({type_})(({wrap}){a} {op} ({wrap}){b})"
        divided = random.pick("/", "%")
        divisor = f"(({b} & 0x3f) + 1)"
        if signed and random.chance(40):
            divisor = f"(-(({b} & 0x3f) + 2))"
        choices = [
            modular,
            modular,
            f"({a} {random.pick('&', '|', '^')} {b})",
            f"({type_})(({wrap}){a} << {count})",
            f"({a} >> {count})",
            f"({a} {divided} {divisor})",
            f"({self.condition(scope, depth - 1)} ? {a} : {b})",
            f"({type_})({a} {random.pick('<', '==', '>=')} {b})",
            f"({type_})~{a}",
            f"{random.pick('min', 'max')}({a}, {b})",
            self._intrinsic(type_, a, b, count),
        ]
        if signed:
            keep = width // 2 + 1
            choices.append(f"(({a} >> {keep}) {op} ({b} >> {keep}))")
        return choices[random.below(len(choices))]

    def _intrinsic(self, type_: str, a: str, b: str, count: str) -> str:
        pick = self.random.pick
        match type_:
            case "int":
                # ptxas 13.0 takes the square for no less than zero, whatever overflows.
                other = b if b != a else f"~{b}"
                return pick(
                    f"__popc({a})", f"__clz({a})", f"__ffs({b})", f"__mulhi({a}, {b})",
                    f"__mul24({a}, {other})", f"__hadd({a}, {b})",
                    f"__dp4a({a}, {b}, {a})",
                )  # fmt: skip
            case "unsigned int":
                return pick(
                    f"__brev({a})", f"__umulhi({a}, {b})",
                    f"__byte_perm({a}, {b}, {count})", f"__vadd4({a}, {b})",
                    f"__funnelshift_l({a}, {b}, {count})", f"__vmaxs2({a}, {b})",
                    f"__funnelshift_rc({a}, {b}, {count})", f"__usad({a}, {b}, {a})",
                )  # fmt: skip
            case "long long":
                return pick(f"__mul64hi({a}, {b})", f"(long long)__clzll({a})")
        return pick(f"__umul64hi({a}, {b})", f"__brevll({a})")

    def _float(self, scope: Scope, type_: str, depth: int) -> str:
        random = self.random
        if depth <= 0:
            return self._leaf(scope, type_)
        if random.chance(8) and (call := self._call(scope, type_, depth)):
            return call
        f, p = ("f", "f") if type_ == "float" else ("", "d")
        fma = "__fmaf_rn" if type_ == "float" else "__fma_rn"
        a, b, c = (self._float(scope, type_, depth - 1) for _ in range(3))
        total = f"({a} {random.pick('+', '-')} {b})"
        rounded = f"{random.pick('add', 'mul', 'sub')}_{random.pick('rn', 'rz', 'ru')}"
        # Products are spelled so that no compiler fuses them into an fma.
        choices = [
            total,
            f"__{p}{rounded}({a}, {b})",
            f"__{p}mul_rn({a}, {b})",
            f"{fma}({a}, {b}, {c})",
            f"__{p}div_rn({a}, {b})",
            f"sqrt{f}(fabs{f}({a}))",
            f"{random.pick('fmin', 'fmax')}{f}({a}, {b})",
            f"{random.pick('floor', 'ceil', 'trunc', 'rint', 'fabs')}{f}({a})",
            f"(-{a})",
            f"({self.condition(scope, depth - 1)} ? {a} : {b})",
        ]
        return choices[random.below(len(choices))]
