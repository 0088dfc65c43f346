# SPDX-License-Identifier: Apache-2.0
"""The program that ssh starts on the other host: ``start.py STATE``. Any Python 3 can read this file."""

import json
import os
import sys


def main():  # type: ignore[no-untyped-def] # noqa: ANN201 - an old Python must get this far, to say that it is old
    """Serve, or print the reason why not in place of the greeting."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this is where it is checked
        version = "%d.%d" % sys.version_info[:2]  # noqa: UP031 - as above
        error = "its python3 is " + version + ", and Tare needs 3.11 or newer: name another one with python"
        print(json.dumps({"error": error}), flush=True)  # noqa: T201 - this is the answer
        return 1
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - as above
    sys.path.insert(0, os.path.dirname(os.path.dirname(here)))  # noqa: PTH120 - as above
    from tare.far.agent import serve  # noqa: PLC0415 - the path is set now

    return serve(sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())  # type: ignore[no-untyped-call]
