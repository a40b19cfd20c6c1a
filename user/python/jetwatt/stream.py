# SPDX-License-Identifier: LGPL-2.1-only
"""Every power sample and every minibatch, of a running job or from a trace.

    import jetwatt.stream

    with jetwatt.stream.trace("run.jwt") as stream:
        for m in stream.minibatches():
            print(m.joules, m.seconds)

Unlike the rest of the package, this module needs libjetwatt and the extension module
_jetwatt_stream. live() needs the kernel module, CAP_NET_ADMIN and CAP_PERFMON; with a process id
also CAP_BPF, if the kernel has BPF. NumPy is imported by sample_blocks() and minibatch_blocks() only.
"""
import asyncio
import errno
import math
import os
import select
import time
from typing import (Any, AsyncIterator, Callable, Dict, Generic, Iterator, List, NamedTuple, Optional, Tuple,
                    TypeVar, Union)

from .errors import JetwattError

try:
    from _jetwatt_stream import ffi as _ffi, lib as _lib
except ImportError as e:
    raise ImportError(
        "jetwatt.stream needs its extension module: %s\n"
        "  fix: on Debian, install the package python3-jetwatt-stream; elsewhere the packages libjetwatt1 and\n"
        "  python3-cffi-backend (or cffi of pip), and the wheel of user/python/native in a checkout of jetwatt" % e,
        name="_jetwatt_stream") from None

__all__ = ["Lost", "Minibatch", "Record", "Sample", "Stream", "live", "trace"]

T = TypeVar("T")
BLOCK_S = 1         # samples are collected for this time, because each block costs CPU time
SILENT_S = 15       # the longest age of a batch is 10 s
KINDS = ("training", "evaluation", "other")


class Sample(NamedTuple):
    """One power sample.

    t_ns: time of the sample, ns, CLOCK_MONOTONIC
    seq: sequence number of the sample
    gap: samples are missing before this one
    watts: power of each rail, W, by label; NaN: not read in this sample
    total_watts: power of the total, W, with the last value of each rail
    telemetry: last value, at most 3 s old, of each series, by its name, which ends with the unit, such as
        temp_mc (millidegrees Celsius), gpu_load_permille, fan1_rpm, oc1_events
    """
    t_ns: int
    seq: int
    gap: bool
    watts: Dict[str, float]
    total_watts: float
    telemetry: Dict[str, int]


class Minibatch(NamedTuple):
    """One minibatch, or an interval between minibatches.

    start_ns, end_ns: its begin and end, ns, CLOCK_MONOTONIC
    joules: energy of the total, J; NaN: unknown, for instance without samples for its time
    pid: process id
    kind: "training", also for inference; "evaluation"; or "other": it is no minibatch
    phase: number of the phase, 1 for the one that takes most of the time; 0: not known, as in live()
    marked: the program has marked the minibatch; otherwise it is inferred from waits for the GPU
    """
    start_ns: int
    end_ns: int
    joules: float
    pid: int
    kind: str
    phase: int
    marked: bool

    @property
    def seconds(self) -> float:
        """Duration, s."""
        return (self.end_ns - self.start_ns) * 1e-9

    @property
    def watts(self) -> float:
        """Mean power of the total, W."""
        return self.joules / self.seconds if self.end_ns > self.start_ns else math.nan


class Lost(NamedTuple):
    """What a stream has lost so far.

    samples: number of missing power samples
    waits: number of missing waits for the GPU, from which minibatches are inferred
    late: number of records that came too late to be delivered in order of time
    damaged: number of damaged or missing blocks of a trace
    """
    samples: int
    waits: int
    late: int
    damaged: int


Record = Union[Sample, Minibatch]


class _Records(Generic[T]):
    """Records of a stream, for `for` and for `async for`.

    take: returns the records of the last step, in order
    pause: time to collect data before a step, s
    """

    def __init__(self, stream: "Stream", take: Callable[[], List[T]], pause: float = 0) -> None:
        self._stream, self._take, self._pause = stream, take, pause
        self._ready: List[T] = []       # in reverse

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        while not self._ready:
            if not self._stream._wait():
                raise StopIteration
            if self._pause:
                time.sleep(self._pause)
                if not self._stream._handle:    # closed meanwhile
                    raise StopIteration
            self._step()
        return self._ready.pop()

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        while not self._ready:
            if not await self._stream._wait_async():
                raise StopAsyncIteration
            if self._pause:
                await asyncio.sleep(self._pause)
                if not self._stream._handle:
                    raise StopAsyncIteration
            self._step()
        return self._ready.pop()

    def _step(self) -> None:
        self._stream._step()
        self._ready = self._take()[::-1]


class Stream:
    """Power samples and minibatches; made by live() or trace().

    A stream is a context manager. It has one position: if two of its iterators are used in turn, each gets
    the records of its own steps. Only one thread may use it at a time.

    rails: labels of the rails
    total: labels of the rails whose sum is the total
    """

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._ended = False
        rail = _ffi.new("const struct jetwatt_rail **")
        n = _lib.jetwatt_stream_rails(handle, rail)
        self.rails = [_ffi.string(rail[0][r].label).decode("utf-8", "replace") for r in range(n)]
        self.total = [self.rails[r] for r in range(n) if rail[0][r].in_total]
        self._in_total = [r for r in range(n) if rail[0][r].in_total]
        name = _ffi.new("char[]", _lib.JETWATT_TELEMETRY_NAME_LEN)
        self._slots = [_ffi.string(_lib.jetwatt_telemetry_name(s, name)).decode() for s in range(_lib.SLOTS)]

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """End the stream, and free what it uses. Its iterators then end."""
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            _lib.jetwatt_stream_close(handle)

    def fileno(self) -> int:
        """Return the descriptor that is readable when records may have arrived; -1: a trace, or closed."""
        return int(_lib.jetwatt_stream_fd(self._handle)) if self._handle else -1

    @property
    def lost(self) -> Lost:
        """What the stream has lost so far; 0 after close()."""
        lost = _ffi.new("struct jetwatt_stream_lost *")
        if self._handle:
            _lib.jetwatt_stream_lost(self._handle, lost)
        return Lost(lost.samples, lost.waits, lost.late, lost.damaged)

    def samples(self) -> "_Records[Sample]":
        """Return the samples, for `for` and `async for`; minibatches are left out."""
        return _Records(self, self._take_samples)

    def minibatches(self) -> "_Records[Minibatch]":
        """Return the minibatches, for `for` and `async for`; samples are left out.

        Of a trace they are those of `jetwatt report`, and come after its last sample. Of a running job
        they are found as they end, at the latest a second later; without marks, after 24 waits.
        """
        return _Records(self, self._take_minibatches)

    def records(self) -> "_Records[Record]":
        """Return samples and minibatches, for `for` and `async for`.

        Of a running job they are in order of their (end) times; of a trace, minibatches come only when all
        its blocks have been read.
        """
        return _Records(self, self._take_records)

    def sample_blocks(self) -> "_Records[Any]":
        """Return NumPy arrays of samples: of a trace about a second each; of a board, what has arrived since the
        previous block, at least a second.

        The dtype is structured: t_ns, seq, gap, total_w, and the power of each rail in W as LABEL_w (NaN:
        not read in this sample); then the telemetry by name (NaN: unknown). See Sample.
        """
        dtype = self._sample_dtype()
        return _Records(self, lambda: self._take_block(self._sample_block, dtype), BLOCK_S if self.fileno() >= 0 else 0)

    def minibatch_blocks(self) -> "_Records[Any]":
        """Return NumPy arrays of minibatches; of a trace, one with all.

        The dtype is structured: start_ns, end_ns, joules, pid, kind (index into KINDS), phase, marked. See
        Minibatch.
        """
        import numpy
        names = (("start_ns", "u8", "start_ns"), ("end_ns", "u8", "end_ns"), ("joules", "f8", "uj"),
                 ("pid", "u4", "tgid"), ("kind", "u4", "kind"), ("phase", "u4", "phase"),
                 ("marked", "u4", "marked"))
        kind = "struct jetwatt_stream_minibatch"
        dtype = numpy.dtype({"names": [n for n, _, _ in names], "formats": [f for _, f, _ in names],
                             "offsets": [_ffi.offsetof(kind, m) for _, _, m in names],
                             "itemsize": _ffi.sizeof(kind)})
        return _Records(self, lambda: self._take_block(self._minibatch_block, dtype))

    # --- steps -----------------------------------------------------------------------------------

    def _wait(self) -> bool:
        """Wait until a step may have records. Return: False: the stream has ended."""
        fd = self.fileno()
        if fd >= 0 and not self._ended:
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            if not poll.poll(SILENT_S * 1000):
                raise self._silent()
        return bool(self._handle) and not self._ended

    async def _wait_async(self) -> bool:
        fd = self.fileno()
        if fd < 0 or self._ended:
            await asyncio.sleep(0)      # a trace is read from a file: let other tasks run
            return bool(self._handle) and not self._ended
        loop = asyncio.get_running_loop()
        readable = loop.create_future()
        loop.add_reader(fd, lambda: readable.done() or readable.set_result(None))
        try:
            await asyncio.wait_for(readable, SILENT_S)
        except asyncio.TimeoutError:
            raise self._silent() from None
        finally:
            loop.remove_reader(fd)
        return bool(self._handle)

    @staticmethod
    def _silent() -> JetwattError:
        return JetwattError("the stream broke off", "the module sends no samples any more",
                            "was the module unloaded? run jetwatt doctor")

    def _step(self) -> None:
        n = _lib.jetwatt_stream_step(self._handle)
        self._ended = n <= 0
        if n < 0:
            raise _error("cannot read the stream", self._handle, n)

    def _power(self) -> Tuple[Any, int]:
        n = _ffi.new("size_t *")
        return _lib.jetwatt_stream_power(self._handle, n), n[0]

    def _found(self) -> Tuple[Any, int]:
        n = _ffi.new("size_t *")
        return _lib.jetwatt_stream_minibatches(self._handle, n), n[0]

    def _take_samples(self) -> List[Sample]:
        at, n = self._power()
        return [self._sample(at[i]) for i in range(n)]

    def _sample(self, p: Any) -> Sample:
        uw, valid, value = p.uw, p.valid, p.telemetry.value
        return Sample(
            p.time_ns, p.seq, bool(p.gap),
            {label: uw[r] * 1e-6 if valid >> r & 1 else math.nan for r, label in enumerate(self.rails)},
            sum(uw[r] for r in self._in_total) * 1e-6,
            {name: value[s] for s, name in enumerate(self._slots) if value[s] != -1 << 63})

    def _take_minibatches(self) -> List[Minibatch]:
        at, n = self._found()
        return [Minibatch(m.start_ns, m.end_ns, m.uj * 1e-6, m.tgid, KINDS[m.kind], m.phase, bool(m.marked))
                for m in (at[i] for i in range(n))]

    def _take_records(self) -> List[Record]:
        records: List[Record] = [*self._take_samples(), *self._take_minibatches()]
        records.sort(key=lambda r: r.t_ns if isinstance(r, Sample) else r.end_ns)
        return records

    # --- NumPy -----------------------------------------------------------------------------------

    @staticmethod
    def _take_block(make: Callable[[Any], Any], dtype: Any) -> List[Any]:
        block = make(dtype)
        return [block] if len(block) else []

    def _sample_dtype(self) -> Any:
        """Return the dtype of struct jetwatt_stream_row."""
        import numpy
        return numpy.dtype([("t_ns", "u8"), ("seq", "u8"), ("gap", "?"), ("total_w", "f8")] +
                           [(label + "_w", "f8") for label in self.rails] +
                           [(name, "f8") for name in self._slots], align=True)

    def _sample_block(self, dtype: Any) -> Any:
        import numpy
        block = numpy.empty(self._power()[1], dtype)
        _lib.jetwatt_stream_rows(self._handle, len(self.rails), _ffi.from_buffer(block))
        return block

    def _minibatch_block(self, dtype: Any) -> Any:
        import numpy
        at, n = self._found()
        raw = self._raw(at, n, dtype)
        block = numpy.empty(n, [(name, dtype[name]) for name in dtype.names])
        for name in dtype.names:
            block[name] = raw[name]
        block["joules"] *= 1e-6
        return block

    @staticmethod
    def _raw(at: Any, n: int, dtype: Any) -> Any:
        """Return an array that is valid until the next step."""
        import numpy
        return numpy.frombuffer(_ffi.buffer(at, n * dtype.itemsize), dtype) if n else numpy.empty(0, dtype)


def _error(what: str, handle: Any, err: int, why: str = "", fix: str = "") -> JetwattError:
    """Return the error of a call that has returned the negative errno @err."""
    text = "" if not handle else _ffi.string(_lib.jetwatt_stream_error(handle)).decode("utf-8", "replace")
    return JetwattError(what, why or text or os.strerror(-err), fix)


def _open(what: str, call: Callable[[Any], int], why: Dict[int, str], fix: Dict[int, str]) -> Stream:
    handle = _ffi.new("struct jetwatt_stream **")
    err = call(handle)
    if not err:
        return Stream(handle[0])
    error = _error(what, handle[0], err, why.get(err, ""), fix.get(err, ""))
    _lib.jetwatt_stream_close(handle[0])
    raise error


def live(pid: Optional[int] = None, *, rate_hz: int = 0) -> Stream:
    """Subscribe to the samples of the kernel module, at once.

    pid: watch this process and its children, and find their marked minibatches, or else those of the
        one with the most waits; the stream ends when `pid` ends. None: samples only, without end
    rate_hz: sampling rate, Hz, of all programs that use the module, until the stream is closed; 0: as it is
    """
    root = "run as root, or with CAP_NET_ADMIN, CAP_PERFMON and, for minibatches, CAP_BPF"
    return _open("cannot read samples", lambda s: int(_lib.jetwatt_stream_live(s, pid or 0, rate_hz)), {},
                 {-errno.EPERM: root, -errno.ENOENT: "sudo modprobe jetwatt",
                  -errno.ESRCH: "give the id of a running process"})


def trace(path: str) -> Stream:
    """Open a trace (.jwt) of `jetwatt record`.

    path: the file; it may still be written, and is then read up to its last complete block
    """
    name = os.fspath(path)
    why = {-e: os.strerror(e) for e in errno.errorcode}
    why[-errno.ENODATA] = "it is not a trace"
    why[-errno.EPROTO] = "a newer version wrote it"
    return _open("cannot read " + name, lambda s: int(_lib.jetwatt_stream_trace(s, os.fsencode(name))), why,
                 {-errno.ENODATA: "jetwatt record -o FILE writes traces", -errno.EPROTO: "update jetwatt",
                  -errno.EACCES: "a trace belongs to the user who recorded it: run as root, or chown it"})
