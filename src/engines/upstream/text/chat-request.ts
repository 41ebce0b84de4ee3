/** Builds the request body for `/v1/chat/completions` of vLLM, SGLang, llama.cpp and Ollama (partner-and-upstreams B). */

import type { ChatMessage, OutputFormat, TextRequest, UserPart } from '../../../contract/engines/text.ts';

/** Optional features of a server. */
interface ChatFeatures {
  /** Supports `stream_options`. */
  readonly streamOptions: boolean;
}

/** Builds the body of a streaming request with usage. Fields with default values are omitted. */
export function chatRequestBody(model: string, request: TextRequest, features: ChatFeatures): object {
  const { sampling, stop, maxTokens, reasoningEffort } = request;
  return {
    model,
    messages: request.messages.map(wireMessage),
    stream: true,
    ...(features.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...toolFields(request),
    ...outputFields(request.output),
    temperature: sampling.temperature,
    top_p: sampling.topP,
    seed: sampling.seed,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    stop: stop.length === 0 ? undefined : stop,
    // The older name of `max_completion_tokens`, which all servers support.
    max_tokens: maxTokens,
    reasoning_effort: reasoningEffort,
  };
}

/** Some servers ignore `tool_choice: none`, so the tools are omitted in this case. */
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

/** The chat templates of some models support only strings, so a single text part is sent as a string. */
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
