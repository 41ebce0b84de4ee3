"""Chat and embeddings with LlamaIndex. Settings on standard input, one JSON line per result."""

import json
import sys

from llama_index.core.llms import ChatMessage
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.llms.openai_like import OpenAILike

settings = json.loads(sys.stdin.readline())
SERVER = {"api_key": settings["key"], "api_base": settings["baseURL"]}


def report(check, **result):
    print(json.dumps({"check": check, **result}), flush=True)


chat = OpenAILike(model=settings["chat"], is_chat_model=True, **SERVER)
messages = [ChatMessage(role="user", content="Say hello.")]
report("chat", text=chat.chat(messages).message.content)
report("streamed chat", text="".join(part.delta for part in chat.stream_chat(messages)))
embeddings = OpenAIEmbedding(model_name=settings["embeddings"], **SERVER)
report("embeddings", vectors=embeddings.get_text_embedding_batch(settings["texts"]))
