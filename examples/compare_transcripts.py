"""
Compares the transcripts of two servers, for example of OpenAI and of this service, on your own recordings:

    pip install openai
    OPENAI_API_KEY=… KEY=… python3 compare_transcripts.py recording.mp3 …

Prints, for each file, the length of both transcripts and the share of words that differ (word error rate, with the first server as the
reference), and with --show the differing words. Case and punctuation are ignored.
"""

import argparse
import difflib
import os
import re
import sys
import time

from openai import OpenAI, OpenAIError


def words_of(text: str) -> list[str]:
    """Words without case and punctuation. Scripts without spaces are compared by character."""
    text = text.lower().replace("’", "'")
    return re.findall(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+(?:'[^\W_]+)*", text)


def word_errors(reference: list[str], other: list[str]) -> int:
    """Levenshtein distance in words."""
    row = list(range(len(other) + 1))
    for i, expected in enumerate(reference, 1):
        diagonal, row[0] = row[0], i
        for j, actual in enumerate(other, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (expected != actual))
    return row[-1]


def differences(reference: list[str], other: list[str]) -> list[str]:
    matcher = difflib.SequenceMatcher(a=reference, b=other, autojunk=False)
    return [
        f"    {' '.join(reference[a1:a2]) or '–'}  →  {' '.join(other[b1:b2]) or '–'}"
        for kind, a1, a2, b1, b2 in matcher.get_opcodes()
        if kind != "equal"
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares the transcripts of two servers.")
    parser.add_argument("files", nargs="+", help="recordings")
    parser.add_argument("--reference-url", default="https://api.openai.com/v1")
    parser.add_argument("--reference-model", default="whisper-1")
    parser.add_argument("--url", default="http://localhost:8080/v1")
    parser.add_argument("--model", default="whisper-1")
    parser.add_argument("--language", help="spoken language, such as en; default: detected")
    parser.add_argument("--show", action="store_true", help="print the differing words")
    options = parser.parse_args()
    missing = [name for name in ("OPENAI_API_KEY", "KEY") if not os.environ.get(name)]
    if missing:
        parser.error(f"set the environment variable {' and '.join(missing)}")

    servers = [
        (OpenAI(base_url=options.reference_url, api_key=os.environ["OPENAI_API_KEY"]), options.reference_model),
        (OpenAI(base_url=options.url, api_key=os.environ["KEY"]), options.model),
    ]
    fields = {"language": options.language} if options.language else {}

    print("reference  this  differ  time       file")
    all_errors = all_words = failures = 0
    for path in options.files:
        transcripts, seconds = [], []
        try:
            for client, model in servers:
                started = time.monotonic()
                with open(path, "rb") as file:
                    result = client.audio.transcriptions.create(model=model, file=file, **fields)
                seconds.append(time.monotonic() - started)
                transcripts.append(words_of(result.text))
        except (OSError, OpenAIError) as error:
            failures += 1
            print(f"{path}: {error}", file=sys.stderr)
            continue
        reference, other = transcripts
        errors = word_errors(reference, other)
        all_errors += errors
        all_words += len(reference)
        share = errors / max(1, len(reference))
        times = f"{seconds[0]:.1f}/{seconds[1]:.1f} s"
        print(f"{len(reference):9}  {len(other):4}  {share:6.1%}  {times:9}  {path}")
        if options.show:
            print(*differences(reference, other), sep="\n")
    print(f"{all_errors} of {all_words} words differ ({all_errors / max(1, all_words):.1%})")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
