"""CUDA C++ in a Python string, called like any `jnp` function."""

from importlib.metadata import version as _version

from ._cache import CacheStats as CacheStats
from ._cache import cache_stats as cache_stats
from ._cache import clear_caches as clear_caches
from ._device import FunctionAttributes as FunctionAttributes
from ._device import Occupancy as Occupancy
from ._errors import BackendError as BackendError
from ._errors import CompileError as CompileError
from ._errors import RawCudaError as RawCudaError
from ._errors import SessionError as SessionError
from ._errors import SignatureError as SignatureError
from ._errors import UnsupportedError as UnsupportedError
from ._errors import ValidationError as ValidationError
from ._export import export_safety_checks as export_safety_checks
from ._export import register as register
from ._kernel import Kernel as Kernel
from ._kernel import kernel as kernel
from ._launch import LaunchConfig as LaunchConfig
from ._module import Function as Function
from ._module import Module as Module
from ._module import compile_nvrtc as compile_nvrtc
from ._module import load_cubin as load_cubin
from ._module import load_ptx as load_ptx
from ._nvrtc import NvrtcOptions as NvrtcOptions
from ._op import Op as Op
from ._op import op as op
from ._refs import DeviceBytes as DeviceBytes
from ._refs import Output as Output
from ._refs import TensorMut as TensorMut
from ._refs import TensorRef as TensorRef
from ._runtime import RuntimeIdentity as RuntimeIdentity
from ._runtime import runtime_identity as runtime_identity
from ._scalars import KernelArg as KernelArg
from ._scope import StreamRef as StreamRef
from ._session import Session as Session
from ._signature import KernelSignature as KernelSignature
from ._signature import Parameter as Parameter

__version__ = _version("jax-rawcuda")
