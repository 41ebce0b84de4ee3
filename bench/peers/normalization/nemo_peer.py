"""Spoken forms by NVIDIA NeMo text processing. Reads JSON lines {"lang", "text"}; writes the same with "spoken"."""

import json
import os
import sys
import tempfile

from nemo_text_processing.text_normalization.normalize import Normalizer

# Building the grammars of a language takes up to two minutes.
CACHE = os.path.join(tempfile.gettempdir(), "nemo-grammars")
normalizers: dict[str, Normalizer] = {}
for line in sys.stdin:
    case = json.loads(line)
    language = case["lang"]
    if language not in normalizers:
        normalizers[language] = Normalizer(input_case="cased", lang=language, cache_dir=CACHE)
    spoken = normalizers[language].normalize(case["text"])
    print(json.dumps({**case, "spoken": spoken}, ensure_ascii=False), flush=True)
