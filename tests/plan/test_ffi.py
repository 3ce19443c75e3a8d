"""The extension on its own: registration, and plans without kernels that run."""

from __future__ import annotations

import dataclasses
import gc
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.plan_bytes import (
    CUBIN,
    HOST_PTX,
    batch_axis,
    call,
    copy,
    encode,
    fill,
    function,
    operand,
    result,
    synchronize,
)
from support.process import run_command, run_python

from jax_rawcuda import _ffi
from jax_rawcuda._xla import registration as _registration

F32 = jnp.float32


def shape(*dimensions: int, dtype=F32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(dimensions, dtype)


def test_registration_happens_once():
    _registration.register()
    _registration.register()
    _registration._register_handlers()  # what a second process-wide copy would do
    threads = [threading.Thread(target=_registration.register) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_an_older_jaxlib_is_refused_before_anything_is_queued(monkeypatch):
    monkeypatch.setattr(_registration, "_registered", False)
    monkeypatch.setattr(_registration, "xla_ffi_version", lambda: (0, 1))
    monkeypatch.setattr(_ffi, "handlers", lambda: pytest.fail("registered"))
    with pytest.raises(ImportError, match=r"has 0\.1\. Upgrade jax and jaxlib"):
        _registration.register()


def test_registration_before_the_backend_starts():
    program = """
        import jax, jax_rawcuda
        from jax_rawcuda._xla import registration as _registration
        _registration.register()
        print(jax.numpy.arange(3).sum())
    """
    assert run_python(program).stdout.strip() == "3"


def test_copy_and_fill():
    encoded = encode(
        [
            fill(result(0), 16, 4, 0x3F800000),
            copy(result(0, 4), operand(0, 8), 8),
            fill(result(1), 3, 1, 0xAB),
            fill(result(1, 4), 4, 2, 0x1234),
            synchronize(),
        ],
        operands=[16],
        results=[16, 8],
    )
    out = [shape(4), shape(8, dtype=jnp.uint8)]
    a, b = jax.jit(lambda x: call(encoded, out, x))(jnp.arange(4, dtype=F32))
    np.testing.assert_array_equal(a, [1, 2, 3, 1])
    np.testing.assert_array_equal(b[:3], [0xAB] * 3)
    np.testing.assert_array_equal(b[4:], [0x34, 0x12] * 2)


def test_batch_axes_step_by_their_strides():
    # Result (i, j) = operand 0 (i) followed by operand 1 (j); both one float each.
    encoded = encode(
        [copy(result(0), operand(0), 4), copy(result(0, 4), operand(1), 4)],
        operands=[4, 4],
        results=[8],
        batch=[batch_axis(3, 4, 0, 16), batch_axis(2, 0, 4, 8)],
    )
    x, y = jnp.arange(3, dtype=F32), 10 + jnp.arange(2, dtype=F32)
    got = jax.jit(lambda *xs: call(encoded, shape(3, 2, 2), *xs))(x, y)
    want = [[[i, 10 + j] for j in range(2)] for i in range(3)]
    np.testing.assert_array_equal(got, want)


def test_an_empty_batch_does_nothing():
    encoded = encode(
        [copy(result(0), operand(0), 4)],
        operands=[4],
        results=[4],
        batch=[batch_axis(0, 4, 4)],
    )
    got = jax.jit(lambda x: call(encoded, shape(2), x))(jnp.zeros(0, F32))
    assert got.shape == (2,)


def test_an_aliased_result_is_updated_in_place():
    encoded = encode([fill(result(0), 4, 4, 0)], operands=[16], results=[16])
    step = jax.jit(lambda x: call(encoded, shape(4), x, aliases={0: 0}))
    x = jnp.arange(4, dtype=F32) + 1
    np.testing.assert_array_equal(step(x), [0, 2, 3, 4])
    np.testing.assert_array_equal(x, [1, 2, 3, 4])


@pytest.mark.parametrize("target", [_registration.TARGET, _registration.SYNC_TARGET])
def test_both_targets_exist(target):
    encoded = encode([fill(result(0), 4, 4, 0)], results=[4])
    got = jax.jit(lambda: call(encoded, shape(1), target=target))()
    np.testing.assert_array_equal(got, [0])


def fails(encoded, results, *operands, match, **attributes):
    _registration.register()
    bound = jax.ffi.ffi_call(_registration.TARGET, results)
    with pytest.raises(jax.errors.JaxRuntimeError, match=match):
        jax.jit(lambda *xs: bound(*xs, **encoded.attributes | attributes))(*operands)


@pytest.mark.parametrize("attribute", ["plan", "images", "digest"])
def test_a_damaged_program_is_refused(attribute):
    encoded = encode(
        [fill(result(0), 4, 4, 7)], results=[4], images=[(HOST_PTX, b"text")]
    )
    value = encoded.attributes[attribute]
    damaged = value[::-1] if attribute == "digest" else value[:-1] + b"\x80"
    match = "INVALID_ARGUMENT: ValueError: the program is damaged: the SHA-256"
    fails(encoded, shape(1), match=match, **{attribute: damaged})


def test_a_program_without_a_digest_is_refused():
    encoded = encode([fill(result(0), 4, 4, 7)], results=[4])
    match = "attribute 'digest' of the custom call"
    fails(encoded, shape(1), match=match, digest=np.int64(1))


def test_buffers_smaller_than_the_plan_are_refused():
    x = jnp.zeros(2, F32)
    encoded = encode(name="copy", operands=[8], results=[12])
    match = "INVALID_ARGUMENT: copy: result 0 has 8 bytes; the plan needs 12"
    fails(encoded, shape(2), x, match=match)
    encoded = encode(name="copy", operands=[12], results=[8])
    fails(encoded, shape(2), x, match="operand 0 has 8 bytes; the plan needs 12")
    fails(encoded, shape(2), match="0 operands; the plan has 1")


def test_a_newer_layout_is_refused():
    match = "UNIMPLEMENTED: jax_rawcuda: .* layout 3; this version reads layout 2"
    fails(encode(results=[4]), shape(1), match=match, abi=np.int64(3))


def test_damaged_attributes_are_refused():
    encoded = encode(results=[4], name="op")
    other = dataclasses.replace(encoded, plan=b"zzzz")
    fails(other, shape(1), match="does not begin with 'JRC1'")
    fails(encoded, shape(1), match="attribute 'plan'", plan=np.int64(1))


def test_a_damaged_image_is_refused():
    encoded = encode(
        results=[4],
        images=[(HOST_PTX, b"damaged" * 50)],
        functions=[function("k", [])],
    )
    zeros = bytes(len(encoded.images))
    match = "op: module image 0: ValueError: the compressed image is damaged"
    fails(dataclasses.replace(encoded, images=zeros), shape(1), match=match)
    other = encode(images=[(HOST_PTX, b"demaged" * 50)]).images
    other = dataclasses.replace(encoded, images=other)
    fails(other, shape(1), match="image's SHA-256 is not")


def test_a_debug_setting_that_is_not_understood(monkeypatch):
    _registration.register()
    encoded = encode()
    monkeypatch.setenv("JAX_RAWCUDA_DEBUG", "yes")
    refused = _ffi.load_program("cpu", encoded.plan, encoded.images)
    assert refused == ("invalid", "JAX_RAWCUDA_DEBUG='yes': 0 or 1 is needed.")
    for understood in ("", "0", "1"):
        monkeypatch.setenv("JAX_RAWCUDA_DEBUG", understood)
        program = _ffi.load_program("cpu", encoded.plan, encoded.images)
        assert program.run(0, 0, []) == ("", "")


def test_a_cubin_is_refused_on_the_cpu():
    encoded = encode(
        results=[4], images=[(CUBIN, b"elf")], functions=[function("k", [])]
    )
    fails(encoded, shape(1), match="UNIMPLEMENTED: op: kernel 'k' is a cubin")


def test_an_image_is_inflated_once_and_dropped_with_its_executables():
    jax.clear_caches()
    gc.collect()  # what other tests have left
    encoded = encode(
        [fill(result(0), 4, 4, 0)], results=[4], images=[(HOST_PTX, b"once")]
    )

    def twice():
        return [call(encoded, shape(1)), call(encoded, shape(1, dtype=jnp.int32))]

    before = _ffi.counters()
    compiled = jax.jit(twice).lower().compile()
    after = _ffi.counters()
    assert after["instantiate"] - before["instantiate"] == 2
    assert after["inflate"] - before["inflate"] == 1
    assert after["images"] - before["images"] == 1
    del compiled
    jax.clear_caches()
    gc.collect()
    assert _ffi.counters()["images"] == before["images"]


def test_a_hook_that_raises_becomes_an_error(monkeypatch):
    def refuse(ptx, kernel, variables, checked):
        raise NotImplementedError(f"{kernel}: {ptx.decode()}")

    encoded = encode(
        results=[4], images=[(HOST_PTX, b"wgmma")], functions=[function("k", [])]
    )
    _registration.register()
    _ffi.set_hooks(_registration.inflate, refuse, _registration.verify)
    try:
        match = "UNIMPLEMENTED: NotImplementedError: k: wgmma"
        fails(encoded, shape(1), match=match)
    finally:
        hooks = _registration.inflate, _registration.load_host_kernel
        _ffi.set_hooks(*hooks, _registration.verify)


def test_threads_share_one_executable():
    n = 1 << 16
    encoded = encode(
        [copy(result(0), operand(0), 4 * n)], operands=[4 * n], results=[4 * n]
    )
    step = jax.jit(lambda x: call(encoded, shape(n), x))
    wrong: list[int] = []

    def work(i: int) -> None:
        for k in range(20):
            x = jnp.full(n, i * 100 + k, F32)
            if not bool((step(x) == x).all()):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_module_links_no_cuda_library():
    listing = run_command("ldd", _ffi.__file__).stdout
    assert "cuda" not in listing
    assert "nvrtc" not in listing


def test_driver_status_is_text():
    status = _ffi.driver_status()
    assert status == "" or status.endswith((".", ")"))


def test_host_symbols_are_addresses():
    assert all(address > 0 for address in _ffi.host_symbols().values())
