"""
Runs the scenario of the text clients with the unmodified `openai` package: chat completions, responses and embeddings.
Reads its settings as one line of JSON and prints one JSON line per flow.
"""

import json
import sys
from collections.abc import Callable
from enum import Enum

from openai import APIStatusError, OpenAI, pydantic_function_tool
from pydantic import BaseModel, Field

settings = json.loads(sys.stdin.readline())
MODEL = settings["model"]
client = OpenAI(api_key=settings["key"], base_url=settings["base_url"], max_retries=0)

QUESTION = "Name three birds."
WEATHER = "What is the weather in Paris and in Oslo?"
COLOR = "Which color, and how many?"
TEXTS = ["The cat sat on the mat.", "A cat is sitting on a mat.", "Shares fell on Monday."]
SKY = {"Paris": "sunny", "Oslo": "rain"}


class City(Enum):
    PARIS = "Paris"
    OSLO = "Oslo"


class GetWeather(BaseModel):
    city: City = Field(description="Where.")


class Choice(BaseModel):
    color: str
    count: int


chat_tools = [pydantic_function_tool(GetWeather, name="get_weather")]
schema = chat_tools[0]["function"]["parameters"]
flat_tools = [{"type": "function", "name": "get_weather", "parameters": schema, "strict": True}]


def user(content: str) -> dict:
    return {"role": "user", "content": content}


def plain_call(call) -> dict:
    return {"name": call.name, "arguments": json.loads(call.arguments)}


def weather_in(arguments: str) -> str:
    city = json.loads(arguments)["city"]
    return f"{city}: {SKY[city]}"


def chat_generate() -> dict:
    response = client.chat.completions.create(model=MODEL, messages=[user(QUESTION)])
    used = response.usage
    return {
        "text": response.choices[0].message.content,
        "usage": {"input": used.prompt_tokens, "output": used.completion_tokens},
    }


def chat_stream() -> dict:
    pieces = []
    options = {"include_usage": True}
    with client.chat.completions.stream(
        model=MODEL, messages=[user(QUESTION)], stream_options=options
    ) as stream:
        for event in stream:
            # The first chunk contains only the role.
            if event.type == "content.delta" and event.delta != "":
                pieces.append(event.delta)
        used = stream.get_final_completion().usage
    usage = {"input": used.prompt_tokens, "output": used.completion_tokens}
    return {"text": "".join(pieces), "pieces": len(pieces), "usage": usage}


def chat_tools_flow() -> dict:
    messages = [user(WEATHER)]
    message = client.chat.completions.parse(model=MODEL, messages=messages, tools=chat_tools).choices[0].message
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": weather_in(call.function.arguments)}
        for call in message.tool_calls
    ]
    calls = [plain_call(call.function) for call in message.tool_calls]
    call_message = {
        "role": "assistant",
        "content": message.content,
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in message.tool_calls
        ],
    }
    messages = [*messages, call_message, *results]
    response = client.chat.completions.create(model=MODEL, messages=messages, tools=chat_tools)
    return {"calls": calls, "text": response.choices[0].message.content}


def chat_streamed_tools() -> dict:
    with client.chat.completions.stream(model=MODEL, messages=[user(WEATHER)], tools=chat_tools) as stream:
        message = stream.get_final_completion().choices[0].message
    return {"calls": [plain_call(call.function) for call in message.tool_calls]}


def chat_structured() -> dict:
    response = client.chat.completions.parse(model=MODEL, messages=[user(COLOR)], response_format=Choice)
    return {"object": response.choices[0].message.parsed.model_dump()}


def responses_generate() -> dict:
    response = client.responses.create(model=MODEL, input=QUESTION)
    return {"text": response.output_text, "usage": usage_of(response)}


def responses_stream() -> dict:
    pieces = []
    with client.responses.stream(model=MODEL, input=QUESTION) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                pieces.append(event.delta)
        response = stream.get_final_response()
    return {"text": "".join(pieces), "pieces": len(pieces), "usage": usage_of(response)}


def responses_tools() -> dict:
    first = client.responses.create(model=MODEL, input=WEATHER, tools=flat_tools)
    results = [
        {"type": "function_call_output", "call_id": call.call_id, "output": weather_in(call.arguments)}
        for call in calls_of(first)
    ]
    response = client.responses.create(model=MODEL, previous_response_id=first.id, input=results)
    return {"calls": [plain_call(call) for call in calls_of(first)], "text": response.output_text}


def responses_streamed_tools() -> dict:
    with client.responses.stream(model=MODEL, input=WEATHER, tools=flat_tools) as stream:
        response = stream.get_final_response()
    return {"calls": [plain_call(call) for call in calls_of(response)]}


def responses_structured() -> dict:
    response = client.responses.parse(model=MODEL, input=COLOR, text_format=Choice)
    return {"object": response.output_parsed.model_dump()}


def responses_chain() -> dict:
    first = client.responses.create(model=MODEL, input="My name is Ada.")
    response = client.responses.create(model=MODEL, input="What is my name?", previous_response_id=first.id)
    return {"text": response.output_text, "continued": response.previous_response_id == first.id}


def responses_stored() -> dict:
    response = client.responses.create(model=MODEL, input=QUESTION)
    text = client.responses.retrieve(response.id).output_text
    input_items = [item.content[0].text for item in client.responses.input_items.list(response.id)]
    client.responses.delete(response.id)
    status = error_of(lambda: client.responses.retrieve(response.id))["status"]
    return {"text": text, "inputItems": input_items, "statusAfterDelete": status}


def embeddings() -> dict:
    response = client.embeddings.create(model=settings["embed_model"], input=TEXTS)
    return {"vectors": [item.embedding for item in response.data]}


def calls_of(response) -> list:
    return [item for item in response.output if item.type == "function_call"]


def usage_of(response) -> dict:
    return {"input": response.usage.input_tokens, "output": response.usage.output_tokens}


def error_of(run: Callable[[], object]) -> dict:
    try:
        run()
    except APIStatusError as error:
        return {"status": error.status_code, "code": error.code}
    return {"status": 200}


FLOWS: dict[str, Callable[[], dict]] = {
    "chat.generate": chat_generate,
    "chat.stream": chat_stream,
    "chat.tools": chat_tools_flow,
    "chat.streamed-tools": chat_streamed_tools,
    "chat.structured": chat_structured,
    "chat.unknown-model": lambda: error_of(
        lambda: client.chat.completions.create(model="no-such-model", messages=[user(QUESTION)])
    ),
    "responses.generate": responses_generate,
    "responses.stream": responses_stream,
    "responses.tools": responses_tools,
    "responses.streamed-tools": responses_streamed_tools,
    "responses.structured": responses_structured,
    "responses.unknown-model": lambda: error_of(
        lambda: client.responses.create(model="no-such-model", input=QUESTION)
    ),
    "responses.chain": responses_chain,
    "responses.stored": responses_stored,
    "embeddings": embeddings,
}
for flow, run in FLOWS.items():
    try:
        result = run()
    except Exception as error:  # noqa: BLE001 - the test asserts the reported error
        result = {"failed": f"{type(error).__name__}: {error}"}
    print(json.dumps({"flow": flow, **result}), flush=True)
