"""Open matplotlib figures become results: at plt.show() and at a cell's end.

matplotlib is imported by the user or not at all. A hook waits for pyplot, since
the show() of a backend without a screen does nothing.
"""

import importlib.machinery
import io
import sys

from . import mime

PYPLOT = "matplotlib.pyplot"


class Figures:
    """Shows figures with `show(value, data)`."""

    def __init__(self, show):
        self._show = show
        sys.meta_path.insert(0, _PyplotHook(self._patch))

    def flush(self):
        """Show every open figure once, and close it."""
        for manager in _managers():
            figure = manager.canvas.figure
            self._show(figure, represent(figure))
        self.close()

    @staticmethod
    def close():
        """Close every open figure."""
        for manager in _managers():
            _helpers().Gcf.destroy(manager)

    def _patch(self, pyplot):
        def show(*args, **kwargs):
            """Show all open figures."""
            self.flush()

        pyplot.show = show


def represent(figure):
    """Represent a figure as text and as a picture."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", bbox_inches="tight")
    return {mime.TEXT: repr(figure), "image/png": picture.getvalue()}


def is_figure(value):
    module = sys.modules.get("matplotlib.figure")
    return module is not None and isinstance(value, module.Figure)


def forget(figure):
    """Close a figure that has been shown as a value."""
    for manager in _managers():
        if manager.canvas.figure is figure:
            _helpers().Gcf.destroy(manager)


def _helpers():
    return sys.modules.get("matplotlib._pylab_helpers")


def _managers():
    helpers = _helpers()
    return helpers.Gcf.get_all_fig_managers() if helpers else []


class _PyplotHook:
    """Finds pyplot as everybody does, and patches it once it is loaded."""

    def __init__(self, patch):
        self._patch = patch

    def find_spec(self, name, path=None, target=None):
        if name != PYPLOT:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None:
            _after(spec.loader, self._patch)
        return spec


def _after(loader, patch):
    run = loader.exec_module

    def exec_module(module):
        run(module)
        patch(module)

    loader.exec_module = exec_module
