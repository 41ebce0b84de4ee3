"""
Runs schemathesis, which generates valid and invalid requests from the OpenAPI document and checks the responses. Reads one
line of JSON (url of the document, key, seed, phases, and either seconds or examples per operation). Prints one JSON line per
kind of failed check, and a summary.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Without the check that valid requests are accepted, because a schema does not express rules between fields.
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
    "one_error_shape",
]
# Pages, metrics and WebSockets do not return JSON.
NOT_JSON = "^/$|^/swagger|^/metrics|^/v1/realtime|^/v1/transcribers"

settings = json.loads(sys.stdin.readline())
with tempfile.TemporaryDirectory() as folder:
    run = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", settings["url"]),
            *("--header", f"x-api-key: {settings['key']}"),
            *("--phases", settings["phases"]),
            *("--checks", ",".join(CHECKS)),
            *("--exclude-path-regex", NOT_JSON),
            *(("--max-time", str(settings["seconds"])) if "seconds" in settings else ("--max-examples", str(settings["examples"]))),
            # Time for a small model on a busy machine.
            *("--request-timeout", "60"),
            *("--seed", str(settings["seed"]), "--generation-database", "none"),
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
# 0: all checks passed, 1: failed checks. With other exit codes, the run was incomplete.
if run.returncode not in (0, 1) or generated is None or tested is None:
    sys.exit(run.stdout[-4000:] + run.stderr[-4000:])
for kind, failures in re.findall(r"❌ (\w+ .+): (\d+)$", run.stdout, re.MULTILINE):
    print(json.dumps({"kind": kind, "failures": int(failures)}))
if run.returncode == 1:
    print(run.stdout, file=sys.stderr)
print(json.dumps({"operations": int(tested[1]), "requests": int(generated[1]), "output": run.stdout}))
