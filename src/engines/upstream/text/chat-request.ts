/** A request as servers take it at `/v1/chat/completions`: vLLM, SGLang, llama.cpp, Ollama (partner-and-upstreams B). */

import type { ChatMessage, OutputFormat, TextRequest, UserPart } from '../../../contract/engines/text.ts';

/** What a server may not know, until it has said so. */
interface ChatDialect {
  /** Takes `stream_options`. */
  readonly streamOptions: boolean;
}

/** The body; it asks for a stream with its usage. Nothing is named that has its default. */
export function chatBody(model: string, request: TextRequest, dialect: ChatDialect): object {
  const { sampling, stop, maxTokens, reasoningEffort } = request;
  return {
    model,
    messages: request.messages.map(wireMessage),
    stream: true,
    ...(dialect.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...toolFields(request),
    ...outputFields(request.output),
    temperature: sampling.temperature,
    top_p: sampling.topP,
    seed: sampling.seed,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    stop: stop.length === 0 ? undefined : stop,
    // The older name is the one that all of them know.
    max_tokens: maxTokens,
    reasoning_effort: reasoningEffort,
  };
}

/** Some servers ignore a choice of none, so then there are no tools. */
function toolFields({ tools, toolChoice, parallelToolCalls }: TextRequest): object {
  if (tools.length === 0 || toolChoice === 'none') return {};
  const choice =
    typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.name } };
  return {
    tools: tools.map(({ name, description, parameters, strict }) => ({
      type: 'function',
      function: { name, description, parameters, ...(strict ? { strict } : {}) },
    })),
    ...(choice === 'auto' ? {} : { tool_choice: choice }),
    ...(parallelToolCalls ? {} : { parallel_tool_calls: false }),
  };
}

function outputFields(output: OutputFormat): object {
  switch (output.kind) {
    case 'text':
      return {};
    case 'json':
      return { response_format: { type: 'json_object' } };
    case 'json_schema': {
      const { name, schema, strict } = output;
      return { response_format: { type: 'json_schema', json_schema: { name, schema, strict } } };
    }
  }
}

function wireMessage(message: ChatMessage): object {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text };
    case 'user':
      return { role: 'user', content: wireContent(message.parts) };
    case 'assistant': {
      const { text, toolCalls } = message;
      if (toolCalls.length === 0) return { role: 'assistant', content: text ?? '' };
      return {
        role: 'assistant',
        content: text ?? null,
        tool_calls: toolCalls.map(({ id, name, arguments: given }) => ({
          id,
          type: 'function',
          function: { name, arguments: given },
        })),
      };
    }
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.text };
  }
}

/** Templates of some models take only a text, so one text is sent as that. */
function wireContent(parts: readonly UserPart[]): string | object[] {
  const [first] = parts;
  return parts.length === 1 && first?.kind === 'text' ? first.text : parts.map(wirePart);
}

function wirePart(part: UserPart): object {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: part.url, detail: part.detail } };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.base64, format: part.format } };
    case 'file':
      return { type: 'file', file: { file_data: part.base64, filename: part.filename } };
  }
}
