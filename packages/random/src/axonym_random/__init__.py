"""Counter-based random numbers: keys, and the distributions that are drawn from them.

Numbers are pure functions of keys. Equal keys give equal numbers: on every backend, compiled or
not, mapped or not. So a key is used once, and `split` or `fold_in` make others of it:

    >>> import axonym_random as random
    >>> key = random.key(0)
    >>> key, now = random.split(key)
    >>> random.normal(now, (2, 3)).shape
    (2, 3)

Random bits, and with them `uniform`, `randint` and `permutation`, agree to the last bit; of what is
computed of them with transcendental functions, backends may round the last digits differently.
"""

from __future__ import annotations

from . import errors as errors
from . import initializers as initializers
from ._continuous import exponential as exponential
from ._continuous import gumbel as gumbel
from ._continuous import laplace as laplace
from ._continuous import logistic as logistic
from ._continuous import normal as normal
from ._continuous import truncated_normal as truncated_normal
from ._discrete import bernoulli as bernoulli
from ._discrete import categorical as categorical
from ._discrete import rademacher as rademacher
from ._keys import KeyDType as KeyDType
from ._sampling import choice as choice
from ._sampling import permutation as permutation
from ._streams import PRNGKey as PRNGKey
from ._streams import bits as bits
from ._streams import clone as clone
from ._streams import fold_in as fold_in
from ._streams import key as key
from ._streams import key_data as key_data
from ._streams import key_impl as key_impl
from ._streams import split as split
from ._streams import wrap_key_data as wrap_key_data
from ._uniform import randint as randint
from ._uniform import uniform as uniform

__all__ = [
    "KeyDType",
    "PRNGKey",
    "bernoulli",
    "bits",
    "categorical",
    "choice",
    "clone",
    "exponential",
    "fold_in",
    "gumbel",
    "key",
    "key_data",
    "key_impl",
    "laplace",
    "logistic",
    "normal",
    "permutation",
    "rademacher",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
    "wrap_key_data",
]
