"""The compile cache: bounds, threads, failures."""

import threading
import time

import pytest
from support.programs import stored_files

from jax_rawcuda._base import cache as _cache
from jax_rawcuda._base.cache import CompileCache, fingerprint

KEY = fingerprint("a")


@pytest.fixture
def no_disk(monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CACHE_DIR", "off")


def never():
    raise AssertionError("compiled again")


def test_fingerprint_separates_parts():
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint("ab") != fingerprint("ab", "")
    assert fingerprint("ab") == fingerprint(b"ab")


def test_a_second_lookup_does_not_compile(no_disk):
    cache = CompileCache()
    assert cache.lookup("t", KEY, lambda: b"one") == b"one"
    assert cache.lookup("t", KEY, never) == b"one"
    stats = cache.stats()
    assert (stats.hits, stats.misses, stats.compiles) == (1, 1, 1)
    assert (stats.entries, stats.bytes, stats.disk_dir) == (1, 3, None)


def test_kinds_do_not_mix(no_disk):
    cache = CompileCache()
    cache.lookup("t", KEY, lambda: b"one")
    assert cache.lookup("u", KEY, lambda: b"two") == b"two"


def test_a_failed_compile_leaves_nothing(cache_dir):
    cache = CompileCache()

    def fail():
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        cache.lookup("t", KEY, fail)
    assert cache.stats().entries == 0
    assert cache.stats().compiles == 0
    assert not stored_files(cache_dir)
    assert cache.lookup("t", KEY, lambda: b"one") == b"one"


def test_memory_bounds_drop_the_least_recently_used(no_disk):
    cache = CompileCache(max_entries=2, max_bytes=10)
    for name in ("a", "b"):
        cache.lookup("t", fingerprint(name), lambda: b"1234")
    cache.lookup("t", fingerprint("a"), never)
    cache.lookup("t", fingerprint("c"), lambda: b"1234")
    cache.lookup("t", fingerprint("a"), never)
    assert cache.lookup("t", fingerprint("b"), lambda: b"x") == b"x"
    assert cache.stats().evictions == 2
    cache.lookup("t", fingerprint("d"), lambda: b"123456789")
    assert cache.stats().bytes <= 10


def test_a_value_over_the_bound_is_returned_but_not_kept(no_disk):
    cache = CompileCache(max_bytes=2)
    assert cache.lookup("t", KEY, lambda: b"1234") == b"1234"
    assert cache.stats().entries == 0


def test_clear_forgets_memory_but_not_disk(cache_dir):
    cache = CompileCache()
    cache.lookup("t", KEY, lambda: b"one")
    cache.clear()
    assert cache.stats().entries == 0
    assert cache.lookup("t", KEY, never) == b"one"
    assert cache.stats().disk_hits == 1
    cache.clear(disk=True)
    assert not stored_files(cache_dir)
    assert cache.lookup("t", KEY, lambda: b"two") == b"two"
    assert cache.stats().clears == 2


def test_eight_threads_compile_once(no_disk):
    cache = CompileCache()
    barrier = threading.Barrier(8)
    compiles, results = [], []

    def make():
        compiles.append(1)
        time.sleep(0.05)
        return b"one"

    def work():
        barrier.wait()
        results.append(cache.lookup("t", KEY, make))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compiles) == 1
    assert results == [b"one"] * 8
    assert not cache._making


def test_another_key_does_not_wait(no_disk):
    cache = CompileCache()
    started, release = threading.Event(), threading.Event()

    def slow():
        started.set()
        assert release.wait(20)
        return b"slow"

    thread = threading.Thread(target=cache.lookup, args=("t", KEY, slow))
    thread.start()
    assert started.wait(20)
    assert cache.lookup("t", fingerprint("b"), lambda: b"fast") == b"fast"
    release.set()
    thread.join()
    assert cache.lookup("t", KEY, never) == b"slow"


def test_after_one_thread_fails_the_waiting_one_compiles(no_disk):
    cache = CompileCache()
    started, release = threading.Event(), threading.Event()
    errors = []

    def fail():
        started.set()
        release.wait(20)
        raise RuntimeError("no")

    def first():
        try:
            cache.lookup("t", KEY, fail)
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=first)
    thread.start()
    assert started.wait(20)
    timer = threading.Timer(0.05, release.set)
    timer.start()
    assert cache.lookup("t", KEY, lambda: b"two") == b"two"
    thread.join()
    assert len(errors) == 1


def test_module_level_functions_share_one_cache(cache_dir):
    key = fingerprint("module level")
    before = _cache.cache_stats()
    _cache.lookup("t", key, lambda: b"one")
    _cache.clear_caches()
    assert _cache.lookup("t", key, never) == b"one"
    assert _cache.cache_stats().disk_hits == before.disk_hits + 1
