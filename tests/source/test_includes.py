"""Which files a text may open, and what identifies their contents."""

from __future__ import annotations

from pathlib import Path

import pytest

from jax_rawcuda._source.includes import find_includes


def opened(source, folder, **options):
    """Names of the files, in the order in which they are found."""
    found = find_includes([source], [str(folder)], **options)
    return [Path(file).name for file in found.files if file]


def key(source, folder, *headers):
    return find_includes([source, *headers], [str(folder)]).key


def test_the_key_follows_includes(include_dir):
    source = '#include "used.h"\n'
    before = key(source, include_dir)
    (include_dir / "unused.h").write_text("int changed;")
    assert key(source, include_dir) == before
    (include_dir / "inner.h").write_text("#define N 2\n")
    assert key(source, include_dir) != before


def test_the_key_does_not_know_paths(include_dir, tmp_path):
    source = "#include <used.h>\n"
    before = key(source, include_dir)
    moved = include_dir.rename(tmp_path / "elsewhere")
    assert key(source, moved) == before


def test_the_key_says_which_include_means_which_file(tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.h").write_text('#include "y.h"\n')
    source = '#include "a/x.h"\n#include "b/x.h"\n'
    keys = set()
    for first, second in ("12", "21", "11", "22"):
        (tmp_path / "a" / "y.h").write_text(first)
        (tmp_path / "b" / "y.h").write_text(second)
        keys.add(key(source, tmp_path))
    assert len(keys) == 4


def test_the_key_covers_headers_in_memory_and_those_to_come(include_dir):
    source = '#include "used.h"\n#if __has_include("later.h")\n#endif\n'
    before = key(source, include_dir)
    assert key(source, include_dir, '#include "inner.h"') != before
    (include_dir / "later.h").write_text("")
    assert key(source, include_dir) != before


def test_an_absolute_include_needs_no_directory(include_dir):
    found = find_includes([f'#include "{include_dir}/used.h"\n'])
    assert [Path(file).name for file in found.files[1:]] == ["used.h", "inner.h"]


@pytest.mark.parametrize(
    "source",
    [
        '#include "inner.h"',
        "#  include<inner.h>",
        '#include /* this */ "inner.h" // there',
        '/* */ # /* */ include "inner.h"',
        '#inc\\\nlude "inner.h"',
        '#inc\\\r\nlude \\\r\n"inner.h"',
        '%:include "inner.h"',
        "#include_next <inner.h>",
        '#import "inner.h"',
        '#embed "inner.h"',
        '#if 0\n#include "inner.h"\n#endif',
        "int a = 1'000 + '/*' + 1'0;\n#include \"inner.h\" // */",
        "auto c = u8'\"', d = L'\"', e = 'f';\n#include \"inner.h\"",
        'const char* s = R"(/*)";\n#include "inner.h"',
        '#include "../include/inner.h"',
        '#include "inner.h"\n#include "./inner.h"\n#include "../include/inner.h"',
        '#define H "inner.h"\n#include H',
        "#include H\n#define H <inner.h>",
        "#define IN(x) <x.h>\n#include IN(inner)",
        '#if __has_include("inner.h")\n#endif',
        "#define H <inner.h>\n#if __has_include(H)\n#endif",
        '#include "gone.h"\n#include "inner.h"',
    ],
)
def test_includes_in_all_their_forms(include_dir, source):
    assert opened(source, include_dir) == ["inner.h"]


def test_a_macro_of_the_options_may_name_a_header(include_dir):
    macros = {"H": '"inner.h"'}
    assert opened("#include H\n", include_dir, macros=macros) == ["inner.h"]


def test_a_macro_may_come_from_a_header_that_a_macro_names(include_dir):
    (include_dir / "names.h").write_text('#define SECOND "inner.h"\n')
    source = '#define FIRST "names.h"\n#include FIRST\n#include SECOND\n'
    assert opened(source, include_dir) == ["names.h", "inner.h"]


@pytest.mark.parametrize(
    "source",
    [
        "#include UNKNOWN\n",
        "#define STR(x) #x\n#include STR(inner.h)\n",
        '#define A "inner.h"\n#define H A\n#include H\n',
    ],
)
def test_an_include_that_only_a_compiler_can_read_is_told(include_dir, source):
    assert not find_includes([source], [str(include_dir)]).is_complete
    assert find_includes(['#include "inner.h"\n'], [str(include_dir)]).is_complete


@pytest.mark.parametrize(
    "source", ["// #include <inner.h>", '/* #include "inner.h" */', "// #include H"]
)
def test_comments_include_nothing(include_dir, source):
    assert opened(source, include_dir) == []
    assert find_includes([source]).is_complete


def test_headers_that_include_themselves_end(tmp_path):
    (tmp_path / "a.h").write_text('#include "b/../a.h"\n#include "b/c.h"\n')
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.h").write_text('#include "../a.h"\n')
    assert opened('#include "a.h"', tmp_path) == ["a.h", "c.h"]


def test_a_linked_file_is_read_where_it_stands(tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "y.h").write_text(folder)
    (tmp_path / "a" / "x.h").write_text('#include "y.h"\n')
    (tmp_path / "b" / "x.h").symlink_to(tmp_path / "a" / "x.h")
    found = find_includes(['#include "b/x.h"'], [str(tmp_path)])
    assert found.files[-1] == str(tmp_path / "b" / "y.h")


def test_the_changed_files_are_named(include_dir):
    texts, folders = ['#include "used.h"\n'], [str(include_dir)]
    before = find_includes(texts, folders)
    assert before.changed(find_includes(texts, folders)) == []
    (include_dir / "inner.h").write_text("#define N 2\n")
    assert before.changed(find_includes(texts, folders)) == [
        str(include_dir / "inner.h")
    ]
    (include_dir / "inner.h").unlink()
    assert str(include_dir / "inner.h") in before.changed(find_includes(texts, folders))
