"""Values and their representations, as a result carries them.

A representation is a MIME type with its data; a result has short names for the
ones that a browser can show, and always a text.
"""

import json
import sys
from binascii import b2a_base64

from . import errors

# Longer texts are cut, and longer values are given no JSON.
MAX_TEXT = 1 << 20

TEXT = "text/plain"
JSON = "application/json"

SHORT_NAMES = {
    TEXT: "text",
    "text/html": "html",
    "image/png": "png",
    "image/jpeg": "jpeg",
    "image/svg+xml": "svg",
    "text/latex": "latex",
    "text/markdown": "markdown",
    "application/javascript": "javascript",
    "text/javascript": "javascript",
}

METHODS = {
    "_repr_html_": "text/html",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_svg_": "image/svg+xml",
    "_repr_latex_": "text/latex",
    "_repr_markdown_": "text/markdown",
    "_repr_json_": JSON,
    "_repr_javascript_": "application/javascript",
}

_encode_json = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


def bundle(value):
    """Represent a value by the methods that its type has for it."""
    data = {}
    kind = type(value)
    if hasattr(kind, "_repr_mimebundle_"):
        data.update(_call(value._repr_mimebundle_, include=None, exclude=None) or {})
    for method, mime in METHODS.items():
        if mime in data or not hasattr(kind, method):
            continue
        shown = _call(getattr(value, method))
        if shown is not None:
            data[mime] = shown
    if TEXT not in data:
        data[TEXT] = repr(value)
    return data


def _call(method, **options):
    """Call a method that may give data alone, or data and metadata.

    A rich representation that fails is told on stderr: the text is still there.
    """
    try:
        shown = method(**options)
    except NotImplementedError:
        return None
    except Exception as exc:
        errors.print_to(sys.stderr, exc)
        return None
    return shown[0] if isinstance(shown, tuple) and shown else shown


def result(value, data):
    """Give the fields of a result, and the names of those that were dropped."""
    fields, dropped = {"text": ""}, []
    for mime, name in SHORT_NAMES.items():
        if data.get(mime) is not None:
            fields[name] = _text(data[mime], base64=name in ("png", "jpeg"))
    if len(fields["text"]) > MAX_TEXT:
        fields["text"] = fields["text"][:MAX_TEXT]
        dropped.append("text")
    elif JSON in data:
        _add_json(fields, data[JSON])
    elif isinstance(value, (dict, list)):
        _add_json(fields, value)
    return fields, dropped


def _text(data, base64):
    if not base64:
        return data if type(data) is str else str(data)
    if isinstance(data, bytes):
        return b2a_base64(data, newline=False).decode("ascii")
    return "".join(str(data).split())


def _add_json(fields, value):
    """Add the value as JSON text, if it has such a form: NaN and sets have none."""
    try:
        fields["json"] = _encode_json(value)
    except (TypeError, ValueError, RecursionError):
        pass
