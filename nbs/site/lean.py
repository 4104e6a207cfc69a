"""Imported before nbformat: jsonschema would build 38 grammars with this library, in three seconds and in
each process, to check international addresses, which no notebook has."""

import sys

sys.modules.setdefault("rfc3987_syntax", None)
