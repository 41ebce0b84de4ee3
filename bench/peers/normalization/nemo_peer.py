"""Spoken forms by NVIDIA NeMo text processing. Reads JSON lines {"lang", "text"}; writes the same with "spoken"."""

import json
import os
import sys
import tempfile

from nemo_text_processing.text_normalization.normalize import Normalizer
from pywrapfst import FstOpError

# Building the grammars of a language takes up to two minutes. Each language has its own folder: the file names of NeMo are the
# same for Japanese and Mandarin, and for the verbalizers of English and Hindi.
CACHE = os.path.join(tempfile.gettempdir(), "nemo-grammars")
normalizers: dict[str, Normalizer] = {}
for line in sys.stdin:
    case = json.loads(line)
    language = case["lang"]
    if language not in normalizers:
        cache = os.path.join(CACHE, language)
        os.makedirs(cache, exist_ok=True)
        normalizers[language] = Normalizer(input_case="cased", lang=language, cache_dir=cache)
    try:
        spoken = normalizers[language].normalize(case["text"])
    except FstOpError:
        # The grammar has no path for this sentence: for other languages, NeMo then returns it as written.
        spoken = case["text"]
    print(json.dumps({**case, "spoken": spoken}, ensure_ascii=False), flush=True)
