"""
Schemathesis makes requests of every kind from the API's own documentation, right and wrong ones, and judges the
answers. Reads one line of JSON (url of the document, key, seed, phases, and one of seconds and examples of each
operation), tells one line for each kind of fault and one of the whole.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Whether a request that fits its schema is accepted is no question: rules between fields are no part of a schema.
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
    "one_error_shape",
]
# Pages, numbers and sockets are no JSON.
NOT_JSON = "^/$|^/swagger|^/metrics|^/v1/realtime|^/v1/transcribers"

ask = json.loads(sys.stdin.readline())
with tempfile.TemporaryDirectory() as folder:
    run = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", ask["url"]),
            *("--header", f"x-api-key: {ask['key']}"),
            *("--phases", ask["phases"]),
            *("--checks", ",".join(CHECKS)),
            *("--exclude-path-regex", NOT_JSON),
            *(("--max-time", str(ask["seconds"])) if "seconds" in ask else ("--max-examples", str(ask["examples"]))),
            # A small model on a busy machine.
            *("--request-timeout", "60"),
            *("--seed", str(ask["seed"]), "--generation-database", "none"),
            *("--continue-on-failure", "--no-color"),
        ],
        cwd=folder,
        env={
            **os.environ,
            "SCHEMATHESIS_HOOKS": "rules",
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
generated = re.search(r"(\d+) generated", run.stdout)
tested = re.search(r"Tested: (\d+)", run.stdout)
# 0: no fault, 1: faults. Whatever else ended it, nothing was judged.
if run.returncode not in (0, 1) or generated is None or tested is None:
    sys.exit(run.stdout[-4000:] + run.stderr[-4000:])
for kind, faults in re.findall(r"❌ (\w+ .+): (\d+)$", run.stdout, re.MULTILINE):
    print(json.dumps({"kind": kind, "faults": int(faults)}))
if run.returncode == 1:
    print(run.stdout, file=sys.stderr)
print(json.dumps({"operations": int(tested[1]), "requests": int(generated[1]), "output": run.stdout}))
