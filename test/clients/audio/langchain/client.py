"""Chat and embeddings with LangChain. Settings on standard input, one JSON line per result."""

import json
import sys

from langchain_openai import ChatOpenAI, OpenAIEmbeddings

settings = json.loads(sys.stdin.readline())
SERVER = {"api_key": settings["key"], "base_url": settings["baseURL"]}


def report(check, **result):
    print(json.dumps({"check": check, **result}), flush=True)


chat = ChatOpenAI(model=settings["chat"], **SERVER)
report("chat", text=chat.invoke("Say hello.").content)
report("streamed chat", text="".join(chunk.content for chunk in chat.stream("Say hello.")))
# Sends token ids of cl100k_base, not the text.
embeddings = OpenAIEmbeddings(model=settings["embeddings"], **SERVER)
report("embeddings", vectors=embeddings.embed_documents(settings["texts"]))
