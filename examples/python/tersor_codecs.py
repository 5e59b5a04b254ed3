# SPDX-License-Identifier: Apache-2.0
"""tersor's codecs on NumPy arrays, through libtersor_codecs.so and ctypes.

    import tersor_codecs
    tersor_codecs.load("lib/libtersor_codecs.so")
    codec = tersor_codecs.Codec("quantize(bits=4)")
    payload = codec.encode(x)                 # x: float32 or float16, {samples, tokens, hidden} or fewer dimensions
    y = codec.decode(payload, x.shape, x.dtype)
"""
import ctypes

import numpy as np

ABI_VERSION = 1
DTYPES = {np.dtype(np.float32): 0, np.dtype(np.float16): 1}


class Message(ctypes.Structure):
    """tersor_message of tersor_codecs.h."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("samples", ctypes.c_int64), ("tokens", ctypes.c_int64),
                ("hidden", ctypes.c_int64), ("dtype", ctypes.c_uint32), ("phase", ctypes.c_uint32),
                ("seed", ctypes.c_uint64), ("step", ctypes.c_uint32), ("call", ctypes.c_uint16),
                ("site", ctypes.c_uint16), ("direction", ctypes.c_uint32), ("rank", ctypes.c_uint32),
                ("ranks", ctypes.c_uint32), ("threads", ctypes.c_uint32), ("sample_ids", ctypes.c_void_p),
                ("sample_id_count", ctypes.c_size_t), ("workspace", ctypes.c_void_p),
                ("workspace_bytes", ctypes.c_size_t), ("element_offset", ctypes.c_int64),
                ("second_round", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class TersorError(Exception):
    """Status and sentence of a failed call."""

    def __init__(self, status):
        super().__init__(_library.tersor_last_error().decode())
        self.status = status


_library = None


def load(path):
    """Loads the library once; every other name of this module needs it."""
    global _library
    library = ctypes.CDLL(path)
    if library.tersor_abi_version() != ABI_VERSION:
        raise ImportError(f"{path} has version {library.tersor_abi_version()} of the interface, this module {ABI_VERSION}")
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    message, sizes = ctypes.POINTER(Message), ctypes.POINTER(ctypes.c_size_t)
    for name in ("tersor_version", "tersor_last_error", "tersor_list_json", "tersor_codec_canonical"):
        getattr(library, name).restype = ctypes.c_char_p
    library.tersor_codec_canonical.argtypes = [pointer]
    library.tersor_load_plugin.argtypes = [ctypes.c_char_p]
    library.tersor_codec_create.argtypes = [ctypes.c_char_p, ctypes.POINTER(pointer)]
    library.tersor_codec_destroy.argtypes = [pointer]
    library.tersor_codec_destroy.restype = None
    library.tersor_state_create.argtypes = [pointer, message, ctypes.POINTER(pointer)]
    library.tersor_state_destroy.argtypes = [pointer]
    library.tersor_state_destroy.restype = None
    library.tersor_payload_bytes.argtypes = [pointer, message, pointer, sizes]
    library.tersor_encode.argtypes = [pointer, message, pointer, pointer, pointer, size, sizes]
    library.tersor_decode_tensor.argtypes = [pointer, message, pointer, pointer, size, pointer]
    _library = library


def check(status):
    if status != 0:
        raise TersorError(status)


def version():
    return _library.tersor_version().decode()


def list_json():
    return _library.tersor_list_json().decode()


def load_plugin(path):
    check(_library.tersor_load_plugin(path.encode()))


def message_of(shape, dtype, **fields):
    """Three dimensions as they are; fewer are rows of one token, more are images."""
    shape = tuple(shape)
    if len(shape) != 3:
        shape = (1, 1, int(np.prod(shape))) if len(shape) < 2 else (shape[0], 1, int(np.prod(shape[1:])))
    return Message(ctypes.sizeof(Message), *shape, DTYPES[np.dtype(dtype)], **fields)


class Codec:
    """A codec with a sender's and a receiver's state, where it keeps one; states belong to one shape."""

    def __init__(self, spec):
        self._handle = ctypes.c_void_p()
        self._states = {}
        check(_library.tersor_codec_create(spec.encode(), ctypes.byref(self._handle)))

    def __del__(self):
        if _library is None or not self._handle:
            return
        for state in self._states.values():
            _library.tersor_state_destroy(state)
        _library.tersor_codec_destroy(self._handle)

    def __str__(self):
        return _library.tersor_codec_canonical(self._handle).decode()

    def _state(self, end, message):
        key = (end, message.samples, message.tokens, message.hidden, message.dtype)
        if key not in self._states:
            state = ctypes.c_void_p()
            check(_library.tersor_state_create(self._handle, ctypes.byref(message), ctypes.byref(state)))
            self._states[key] = state
        return self._states[key]

    def encode(self, array, **fields):
        """The payload as bytes; fields are those of tersor_message, e.g. seed=1, step=2."""
        array = np.ascontiguousarray(array)
        message = message_of(array.shape, array.dtype, **fields)
        state, size = self._state("sender", message), ctypes.c_size_t()
        check(_library.tersor_payload_bytes(self._handle, ctypes.byref(message), state, ctypes.byref(size)))
        payload = ctypes.create_string_buffer(max(1, size.value))
        check(_library.tersor_encode(self._handle, ctypes.byref(message), state, array.ctypes.data, payload, size,
                                     ctypes.byref(size)))
        return payload.raw[:size.value]

    def decode(self, payload, shape, dtype, **fields):
        out = np.empty(shape, dtype)
        message = message_of(shape, dtype, **fields)
        check(_library.tersor_decode_tensor(self._handle, ctypes.byref(message), self._state("receiver", message),
                                            payload, len(payload), out.ctypes.data))
        return out
