"""Gathers: rows of tables in files, every framework's operators by name, errors that name the index.

    garner.Table("model.gguf#token_embd.weight")[ids]
    garner.gather("openvino.Gather-8", data, indices)
    garner.take(a, ids, axis=0)

The library is loaded by the first call. Sizes are in bytes where their names say so, else in elements.
"""

from ._files import Array, Explanation, Finding, explain, gather_file, infer, info, lint
from ._native import Cancelled, ClosedError, DTypeError, Error, FileError, InternalError, OperatorError, OverlapError, ShapeError
from ._native import FileNotFoundError as FileNotFoundError, IndexError as IndexError  # not in __all__: they would hide Python's
from ._ops import Operator, answers, embedding, embedding_bag, gather, gather_nd, operators, take, take_along_axis
from ._table import Table

__version__ = "0.1.0"

__all__ = [
    "Array", "Cancelled", "ClosedError", "DTypeError", "Error", "Explanation", "FileError", "Finding", "InternalError", "Operator", "OperatorError",
    "OverlapError", "ShapeError", "Table", "answers", "embedding", "embedding_bag", "explain", "gather", "gather_file", "gather_nd",
    "infer", "info", "lint", "operators", "take", "take_along_axis",
]  # fmt: skip

for _error in (Cancelled, ClosedError, DTypeError, Error, FileError, FileNotFoundError, IndexError, InternalError, OperatorError, OverlapError, ShapeError):
    _error.__module__ = __name__
del _error
