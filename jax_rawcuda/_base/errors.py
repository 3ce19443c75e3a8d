"""Every exception that jax_rawcuda raises, and the shape of its message."""

from __future__ import annotations


class RawCudaError(Exception):
    """Base of all errors raised by jax_rawcuda."""


class ValidationError(RawCudaError, ValueError):
    """A value is outside its legal range: a launch limit, a shape, a span."""


class SignatureError(RawCudaError, TypeError):
    """The operands do not match the kernel's parameter list."""


class SessionError(RawCudaError, RuntimeError):
    """A session, or something it handed out, is used outside its scope."""


class UnsupportedError(RawCudaError, NotImplementedError):
    """The request is legal CUDA or JAX, but this platform or version cannot do it."""


def counted(number: int, noun: str) -> str:
    """Writes `1 operand` or `2 operands`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def no_derivative(op_name: str) -> UnsupportedError:
    """Makes the error of an op that is differentiated without a rule."""
    return UnsupportedError(
        f"{op_name} has no differentiation rule. Give it one, with its defvjp(fwd, "
        "bwd) or defjvp(rule), or pass what needs no derivative through "
        "jax.lax.stop_gradient."
    )


def no_transpose(op_name: str) -> UnsupportedError:
    """Makes the error of an op that stands where only linear ones can stand."""
    return UnsupportedError(
        f"{op_name} has no transpose, which reverse mode needs of what a jvp rule does "
        "to tangents, and jax.linear_transpose of all. If it is linear, call "
        f"rc.linear({op_name}, transpose=...) there; if not, give what is "
        "differentiated a rule for reverse mode, with defvjp(fwd, bwd)."
    )


class BackendError(RawCudaError, RuntimeError):
    """The CUDA driver, NVRTC or XLA refused a request.

    Attributes:
      code: The driver's or NVRTC's own error name, such as `CUDA_ERROR_INVALID_IMAGE`,
        or None when there is none.
    """

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type[BackendError], tuple[str, str | None]]:
        return type(self), (self.args[0], self.code)


class CheckError(BackendError):
    """Checked mode has found a mistake in a kernel."""


class CompileError(RawCudaError):
    """The compiler rejected a source text.

    Attributes:
      log: The compiler's whole log.
      source: The text that was compiled.
      options: The compiler's flags, in order.
      arch: The target, such as `sm_90`.
    """

    def __init__(
        self,
        message: str,
        log: str = "",
        source: str = "",
        options: tuple[str, ...] = (),
        arch: str = "",
    ) -> None:
        super().__init__(message)
        self.log = log
        self.source = source
        self.options = options
        self.arch = arch

    def __reduce__(
        self,
    ) -> tuple[type[CompileError], tuple[str, str, str, tuple[str, ...], str]]:
        return type(self), (
            self.args[0],
            self.log,
            self.source,
            self.options,
            self.arch,
        )


# Tracebacks and pickles name what users import, wherever a class is defined.
for _error in (
    RawCudaError,
    ValidationError,
    SignatureError,
    SessionError,
    UnsupportedError,
    BackendError,
    CheckError,
    CompileError,
):
    _error.__module__ = "jax_rawcuda"
