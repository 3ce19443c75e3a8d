"""The cache of what live ops keep: bounds, failures, threads."""

from __future__ import annotations

import threading
import weakref

import jax
import numpy as np
import pytest

import jax_rawcuda as rc
from jax_rawcuda._live.resources import ResourceCache


class Sized:
    def __init__(self, nbytes=0):
        self.nbytes = nbytes


def fill(cache, *keys, nbytes=0):
    return [cache.get("f", key, lambda: Sized(nbytes)) for key in keys]


def held(cache, keys):
    """Which keys are held; looking does not disturb."""
    return [key for key in keys if key in cache._entries]


def test_the_least_recently_used_is_dropped():
    cache = ResourceCache(max_entries=3)
    (a, *_) = fill(cache, "a", "b", "c")
    assert cache.get("f", "a", pytest.fail) is a
    fill(cache, "d")
    assert held(cache, "abcd") == ["a", "c", "d"]
    assert cache.stats() == rc.ResourceStats(
        entries=3, bytes=0, hits=1, misses=4, evictions=1
    )


def test_bytes_are_bounded():
    cache = ResourceCache(max_entries=10, max_bytes=100)
    fill(cache, *"abc", nbytes=30)
    assert (cache.stats().entries, cache.stats().bytes) == (3, 90)
    fill(cache, "d", nbytes=50)
    assert held(cache, "abcd") == ["c", "d"]
    (big,) = fill(cache, "big", nbytes=101)
    assert big.nbytes == 101
    assert held(cache, ["c", "d", "big"]) == ["c", "d"]  # nothing is lost for it
    cache.limit(1, 100)
    assert held(cache, "abcd") == ["d"]
    cache.limit(0, 100)
    assert cache.stats().entries == 0
    fill(cache, "e")
    assert cache.stats().entries == 0


def test_dropped_values_die():
    cache = ResourceCache(max_entries=1)
    gone = weakref.ref(fill(cache, "a")[0])
    fill(cache, "b")
    assert gone() is None
    gone = weakref.ref(fill(cache, "b")[0])
    cache.clear()
    assert gone() is None
    assert cache.stats().clears == 1


def test_a_failure_stores_nothing():
    cache = ResourceCache()

    def fail():
        raise OSError("no handle")

    for _ in range(2):
        with pytest.raises(OSError, match="no handle"):
            cache.get("f", "a", fail)
    assert cache.stats() == rc.ResourceStats(misses=2)
    assert fill(cache, "a") == fill(cache, "a")


def start(*works):
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    return threads


def join(threads):
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_a_key_is_initialised_once_and_holds_up_no_other():
    cache = ResourceCache()
    begun, go = threading.Event(), threading.Event()
    made, results = [], []

    def slow():
        begun.set()
        assert go.wait(60)
        made.append(1)
        return Sized()

    threads = start(*[lambda: results.append(cache.get("f", "a", slow))] * 5)
    assert begun.wait(60)
    fill(cache, "b")  # while "a" is being made
    go.set()
    join(threads)
    assert len(made) == 1
    assert len(set(map(id, results))) == 1


def test_waiters_of_a_failure_try_themselves():
    cache = ResourceCache()
    tries, results, errors = [], [], []

    def flaky():
        tries.append(1)
        if len(tries) == 1:
            raise OSError("first")
        return Sized()

    def work():
        try:
            results.append(cache.get("f", "a", flaky))
        except OSError as error:
            errors.append(error)

    join(start(*[work] * 4))
    assert (len(tries), len(results), len(errors)) == (2, 3, 1)


def test_an_initialiser_may_need_another_but_not_itself():
    cache = ResourceCache()
    value = cache.get("f", "a", lambda: cache.get("f", "b", Sized))
    assert value is cache.get("f", "b", pytest.fail)
    with pytest.raises(rc.SessionError, match=r"^f: resource 'c' is needed to init"):
        cache.get("f", "c", lambda: cache.get("f", "c", Sized))
    assert fill(cache, "c")


def test_a_circle_of_threads_is_an_error_and_no_hang():
    cache = ResourceCache()
    both = threading.Barrier(2)
    errors = []

    def work(mine, other):
        def make():
            both.wait(60)
            return cache.get("f", other, Sized)

        try:
            cache.get("f", mine, make)
        except rc.SessionError as error:
            errors.append(str(error))

    join(start(lambda: work("a", "b"), lambda: work("b", "a")))
    assert errors
    assert all("is needed to initialise itself" in error for error in errors)


# In live ops


@pytest.fixture(params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request):
    device = jax.devices(request.param)[0]
    rc.clear_resources()
    with jax.default_device(device):
        yield f"{'cpu' if device.platform == 'cpu' else 'cuda'}:0"
    rc.set_resource_limits()
    rc.clear_resources()


def test_resources_outlive_a_call(device):
    made = []

    @rc.live_op(out=jax.ShapeDtypeStruct((), np.int32))
    def f(s, x, out, *, key):
        value = s.resource(key, lambda: made.append(key) or np.zeros(100))
        s.copy_bytes(out, s.upload(np.int32(value.nbytes)))

    before = rc.resource_stats().get(device, rc.ResourceStats())
    for _ in range(3):
        assert f(np.zeros(1, np.float32), key="a") == 800
    f(np.zeros(1, np.float32), key="b")
    assert made == ["a", "b"]
    after = rc.resource_stats()[device]
    assert (after.entries, after.bytes) == (2, 1600)
    assert (after.hits - before.hits, after.misses - before.misses) == (2, 2)
    rc.set_resource_limits(max_entries=1)
    assert rc.resource_stats()[device].entries == 1
    rc.clear_resources()
    assert rc.resource_stats()[device].entries == 0
    assert rc.resource_stats()[device].clears == after.clears + 1


def test_limits_are_checked():
    with pytest.raises(rc.ValidationError, match=r"max_entries=-1.*negative"):
        rc.set_resource_limits(-1)
