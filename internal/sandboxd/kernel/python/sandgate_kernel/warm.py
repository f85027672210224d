"""A kernel that starts before anybody has a cell for it.

Modules are imported ahead. Once it is warm, the sandbox may be checkpointed, and
many may go on from there: what they had drawn at random until then they have
in common, so the first cell of each begins with drawing anew.

Nothing here may depend on the workspace, which is another one in each of them.
"""

import gc
import os
import sys
from importlib import import_module

from . import errors


def preload(modules):
    """Import modules, and give those that failed with what they raised."""
    sys.path[:] = [entry for entry in sys.path if entry]  # without the workspace
    try:
        failed = [told for told in map(_import, modules or ()) if told]
    finally:
        sys.path.insert(0, "")
    if ssl := sys.modules.get("_ssl"):
        _stir(ssl)  # the first time takes long
    gc.collect()
    return failed


def _import(name):
    try:
        import_module(name)
    except BaseException as exc:  # a module may even exit
        return {"module": name, "message": errors.brief(exc)}
    return None


def renew(environment):
    """Become one of a kind again, with the environment that is wanted by now."""
    for name, value in environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    for name, draw in _RANDOM.items():
        module = sys.modules.get(name)
        if module is None:
            continue
        try:
            draw(module)
        except Exception as exc:  # somebody's own module by this name
            errors.print_to(sys.stderr, exc)


def _forget_names(tempfile):
    tempfile._name_sequence = None


def _forget_node(uuid):
    uuid._node = uuid._last_timestamp = None


def _change_key(process):
    process.current_process().authkey = os.urandom(32)


def _stir(ssl):
    entropy = os.urandom(64)
    ssl.RAND_add(entropy, float(len(entropy)))


# What draws anew, of the modules that are loaded. The order of hashes and the
# layout of the memory cannot be drawn anew.
_RANDOM = {
    "random": lambda random: random.seed(),
    "numpy.random": lambda random: random.seed(),
    "tempfile": _forget_names,
    "uuid": _forget_node,
    "multiprocessing.process": _change_key,
    "_ssl": _stir,
}
