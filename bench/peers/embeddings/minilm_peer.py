"""Peer: all-MiniLM-L6-v2 in ONNX Runtime with Hugging Face tokenizers. Writes one JSON line for each input line.

The texts of a request are sorted by length, and each run of the graph is padded to its longest text.

Usage: minilm_peer.py MODEL.onnx VOCABULARY.json THREADS
Lines in: {"requests": lists of texts, "rows": maximum texts of one run of the graph}
Lines out: {"ms": duration of each request, "vectors": of the texts of the last request}
"""

import json
import re
import sys
import time

import numpy
import onnxruntime
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors


def bert_token(token):
    """The vocabulary has the format of TensorFlow.js: tokens at the start of a word have the prefix U+2581."""
    if token == "\u2581":
        return "[unused0]"
    if token.startswith("\u2581"):
        return token[1:]
    return token if re.fullmatch(r"\[.+\]", token) else "##" + token


def open_tokenizer(path):
    with open(path) as file:
        ids = {bert_token(token): id for id, token in enumerate(json.load(file))}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    return tokenizer


tokenizer = open_tokenizer(sys.argv[2])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(sys.argv[3])
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])


def embed(texts, rows):
    encoded = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    order = sorted(range(len(encoded)), key=lambda index: len(encoded[index]))
    vectors = numpy.zeros((len(texts), 384), dtype=numpy.float32)
    for start in range(0, len(order), rows):
        batch = order[start : start + rows]
        shape = (len(batch), len(encoded[batch[-1]]))
        ids, mask = numpy.zeros(shape, dtype=numpy.int64), numpy.zeros(shape, dtype=numpy.int64)
        for row, index in enumerate(batch):
            ids[row, : len(encoded[index])] = encoded[index]
            mask[row, : len(encoded[index])] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        (states,) = session.run(["last_hidden_state"], inputs)
        sums = numpy.einsum("rth,rt->rh", states, mask.astype(numpy.float32))
        vectors[batch] = sums / numpy.linalg.norm(sums, axis=1, keepdims=True)
    return vectors


for line in sys.stdin:
    request = json.loads(line)
    durations, vectors = [], None
    for texts in request["requests"]:
        start = time.perf_counter()
        vectors = embed(texts, request["rows"])
        durations.append((time.perf_counter() - start) * 1000)
    print(json.dumps({"ms": durations, "vectors": vectors.tolist()}), flush=True)
