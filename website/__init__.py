"""What builds the web site, and what is read from the notebooks on the way.

Imported before nbformat: jsonschema would build 38 grammars with the library that is named below, in three
seconds and in each process, to check international addresses, which no notebook has.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)
