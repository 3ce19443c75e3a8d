"""The disk cache: bounds, damage, other people's files, systems that say no."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.process import run_python
from support.programs import stored_files

from jax_rawcuda._base.cache import CompileCache, fingerprint
from jax_rawcuda._base.errors import ValidationError

KEY = fingerprint("a")


def never():
    raise AssertionError("compiled again")


def test_the_next_process_finds_it_on_disk(cache_dir):
    CompileCache().lookup("t", KEY, lambda: b"one" * 1000)
    assert CompileCache().lookup("t", KEY, never) == b"one" * 1000


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:0],
        lambda data: data[:20],
        lambda data: data[:-1],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: b"\0" * len(data),
        lambda data: data + b"\0",
    ],
    ids=["empty", "short", "truncated", "flipped", "zeros", "longer"],
)
def test_a_damaged_file_is_removed_and_compiled_again(cache_dir, damage):
    CompileCache().lookup("t", KEY, lambda: b"one" * 100)
    (path,) = stored_files(cache_dir)
    path.write_bytes(damage(path.read_bytes()))
    cache = CompileCache()
    assert cache.lookup("t", KEY, lambda: b"two") == b"two"
    assert cache.stats().disk_corrupt == 1
    assert CompileCache().lookup("t", KEY, never) == b"two"


@pytest.mark.parametrize("call", ["mkdir", "replace", "write"])
def test_a_disk_that_refuses_degrades_to_memory(cache_dir, monkeypatch, call):
    def refuse(*args, **kwargs):
        raise OSError(28 if call == "write" else 30, "refused")

    if call == "mkdir":
        monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    elif call == "replace":
        monkeypatch.setattr(os, "replace", refuse)
    else:
        monkeypatch.setattr("tempfile.mkstemp", refuse)
    cache = CompileCache()
    assert cache.lookup("t", KEY, lambda: b"one") == b"one"
    assert cache.lookup("t", KEY, never) == b"one"
    assert cache.stats().disk_failures == 1
    assert cache.stats().disk_writes == 0
    assert not stored_files(cache_dir)


def test_an_unreadable_file_is_a_miss(cache_dir, monkeypatch):
    CompileCache().lookup("t", KEY, lambda: b"one")

    def refuse(self):
        raise PermissionError(13, "refused")

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    assert CompileCache().lookup("t", KEY, lambda: b"two") == b"two"


def test_a_file_in_place_of_the_directory_degrades_to_memory(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("JAX_RAWCUDA_CACHE_DIR", str(blocked))
    cache = CompileCache()
    assert cache.lookup("t", KEY, lambda: b"one") == b"one"
    assert cache.stats().disk_failures == 1


def test_the_disk_bound_removes_the_oldest(cache_dir, monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CACHE_MAX_BYTES", "3000")
    cache = CompileCache()
    for index in range(6):
        cache.lookup("t", fingerprint(str(index)), lambda: os.urandom(900))
        time.sleep(0.01)
    assert sum(path.stat().st_size for path in stored_files(cache_dir)) <= 3000
    assert cache.stats().disk_evictions >= 3
    fresh = CompileCache()
    fresh.lookup("t", fingerprint("5"), never)
    assert fresh.lookup("t", fingerprint("0"), lambda: b"gone") == b"gone"


def test_files_of_others_are_left_alone(cache_dir, monkeypatch):
    other = fingerprint("other")
    names = (
        ("go", "main.go"),
        ("ab", "notes.txt"),
        ("ab", f"{other}.t"),
        (other[:2], other),
        (other[:2], f"{other}x.t"),
        (other[:2], f"{other}.t/inside"),
        ("", f"{other}.t"),
    )
    mine = [cache_dir.joinpath(*name) for name in names]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
        os.utime(path, (1, 1))
    monkeypatch.setenv("JAX_RAWCUDA_CACHE_MAX_BYTES", "1000")
    cache = CompileCache()
    for index in range(3):
        cache.lookup("t", fingerprint(str(index)), lambda: os.urandom(900))
    assert cache.stats().disk_evictions >= 1
    cache.clear(disk=True)
    assert sorted(stored_files(cache_dir)) == sorted(mine)


def test_a_write_that_never_ended_is_removed(cache_dir):
    cache = CompileCache()
    cache.lookup("t", KEY, lambda: b"one")
    (stored,) = stored_files(cache_dir)
    stored.rename(stored.with_name(f".{stored.name}.a1b2c3_4"))
    cache.clear(disk=True)
    assert stored_files(cache_dir) == []


@pytest.mark.parametrize("value", ["-1", "1GB", "x"])
def test_a_bad_disk_bound_is_named(cache_dir, monkeypatch, value):
    monkeypatch.setenv("JAX_RAWCUDA_CACHE_MAX_BYTES", value)
    with pytest.raises(ValidationError, match="JAX_RAWCUDA_CACHE_MAX_BYTES"):
        CompileCache().lookup("t", KEY, lambda: b"one")


@pytest.mark.parametrize("value", ["", "off", "OFF"])
def test_the_disk_can_be_turned_off(monkeypatch, value):
    monkeypatch.setenv("JAX_RAWCUDA_CACHE_DIR", value)
    assert CompileCache().stats().disk_dir is None


COLD_START = """
import sys
from jax_rawcuda._base.cache import CompileCache, fingerprint
cache = CompileCache()
for index in range(20):
    data = str(index).encode() * 10_000
    assert cache.lookup("t", fingerprint(str(index)), lambda: data) == data
assert cache.stats().disk_corrupt == 0
"""


@pytest.mark.slow
def test_sixteen_processes_start_cold_on_one_directory(cache_dir):
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(run_python, [COLD_START] * 16))
    assert len(stored_files(cache_dir)) == 20
