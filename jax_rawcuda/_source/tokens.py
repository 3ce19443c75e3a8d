"""CUDA C++ text as tokens; comments and literals know their place."""

from __future__ import annotations

import re

_CONDITIONAL = re.compile(r"#\s*(if|ifdef|ifndef|elif\w*|else|endif)\b(.*)", re.DOTALL)
_COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n\\]*(?:\\.[^\n\\]*)*|/\*.*?\*/
      |R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"
      |"[^"\\\n]*(?:\\.[^"\\\n]*)*"
      |(?:(?<=\bu8)|(?<![0-9a-fA-F]))'[^'\\\n]*(?:\\.[^'\\\n]*)*' # but not in 1'000
      """,
    re.DOTALL | re.VERBOSE,
)
_TOKEN = re.compile(
    r"""
    (?P<skip>  //(?:[^\n\\]|\\.)* | /\*.*?\*/ | \s+ | \\\n )
  | (?P<text>  R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"
             | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
  | (?P<directive> \#(?: //[^\n]* | /\*.*?\*/ | [^\n\\] | \\. )* )
  | (?P<token> [^\W\d]\w* | [0-9](?:[\w.']|[eEpP][+-])* | :: | . )
    """,
    re.DOTALL | re.VERBOSE,
)


def tokenize(source: str) -> list[str]:
    """Splits into tokens, without comments and directives; literals keep quotes.

    What stands after `#if 0`, or in the `#else` of `#if 1`, is left out.
    """
    tokens = []
    branches: list[str] = []  # of the conditionals around: dead, live, over or maybe
    for match in _TOKEN.finditer(source):
        if match.lastgroup == "directive":
            _follow(match[0], branches)
        elif match.lastgroup != "skip" and {"dead", "over"}.isdisjoint(branches):
            tokens.append(match[0])
    return tokens


def _follow(directive: str, branches: list[str]) -> None:
    found = _CONDITIONAL.match(strip_comments(directive))
    if found is None:
        return
    word, condition = found[1], found[2].strip()
    if word.startswith("if"):
        decided = {"0": "dead", "false": "dead", "1": "live", "true": "live"}
        branches.append(decided.get(condition, "maybe") if word == "if" else "maybe")
    elif branches and word == "endif":
        branches.pop()
    elif branches:
        after = {"dead": "maybe", "live": "over", "over": "over", "maybe": "maybe"}
        branches[-1] = after[branches[-1]]


def strip_comments(source: str) -> str:
    """Blanks comments; literals and line numbers stay."""

    def blank(match: re.Match[str]) -> str:
        text = match[0]
        return " " + "\n" * text.count("\n") if text.startswith(("//", "/*")) else text

    return _COMMENT_OR_LITERAL.sub(blank, source)
