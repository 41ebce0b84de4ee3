/** Upper bounds of token usage, for which credits are reserved (docs/decisions/credits.md). */

import type { UsageAmounts } from '../contract/accounts/calls.ts';
import type {
  ChatMessage,
  FunctionTool,
  TextEngine,
  TextRequest,
  UserPart,
} from '../contract/engines/text.ts';

/** Output tokens of a request without a limit, if the context size of the engine is unknown. */
const MAX_OUTPUT_TOKENS = 4096;
/** Tokens that chat templates add to a conversation, to each message or call in it, and to each tool. */
const CONVERSATION_TOKENS = 500;
const MESSAGE_TOKENS = 20;
const TOOL_TOKENS = 100;
/** Chat templates may write tools and schemas with more white space than JSON needs. */
const SPACED = 2;
/** Tokens of an image at the maximum resolution of open models. */
const IMAGE_TOKENS = 16_384;

/**
 * Returns the maximum number of output tokens: the limit of the request, otherwise the context size,
 * otherwise the default.
 */
export function maxOutputTokens(maxTokens: number | undefined, { contextTokens }: TextEngine): number {
  return Math.min(maxTokens ?? contextTokens ?? MAX_OUTPUT_TOKENS, contextTokens ?? Number.POSITIVE_INFINITY);
}

/**
 * Returns the output limit that keeps a request within its reservation: its own limit, or the default if
 * neither a limit nor the context size is known.
 */
export function reservedTokenLimit(
  maxTokens: number | undefined,
  { contextTokens }: TextEngine,
): number | undefined {
  return maxTokens ?? (contextTokens === undefined ? MAX_OUTPUT_TOKENS : undefined);
}

/** Returns the maximum token usage of one generation. */
export function maxTokenUsage(
  request: Pick<TextRequest, 'messages' | 'tools' | 'output' | 'maxTokens'>,
  engine: TextEngine,
): UsageAmounts {
  const { contextTokens = Number.POSITIVE_INFINITY } = engine;
  return {
    inputTokens: Math.min(maxInputTokens(request), contextTokens),
    outputTokens: maxOutputTokens(request.maxTokens, engine),
  };
}

/** Returns the maximum number of input tokens: a token has at least one byte of UTF-8. */
export function maxInputTokens({
  messages,
  tools,
  output,
}: Pick<TextRequest, 'messages' | 'tools' | 'output'>): number {
  let tokens = CONVERSATION_TOKENS;
  for (const message of messages) tokens += messageTokens(message);
  for (const tool of tools) tokens += toolTokens(tool);
  if (output.kind === 'json_schema') tokens += SPACED * bytes(JSON.stringify(output.schema));
  return tokens;
}

/** Returns the maximum number of tokens of a tool result with this number of characters, as a message. */
export function maxResultTokens(characters: number): number {
  return MESSAGE_TOKENS + MAX_BYTES_PER_CHARACTER * characters;
}

/** Per UTF-16 code unit. */
const MAX_BYTES_PER_CHARACTER = 3;

function messageTokens(message: ChatMessage): number {
  if (message.role === 'user') {
    return message.parts.reduce((sum, part) => sum + partTokens(part), MESSAGE_TOKENS);
  }
  const tokens = MESSAGE_TOKENS + bytes(message.text ?? '');
  if (message.role !== 'assistant') return tokens;
  return message.toolCalls.reduce(
    (sum, call) => sum + MESSAGE_TOKENS + bytes(call.id) + bytes(call.name) + SPACED * bytes(call.arguments),
    tokens,
  );
}

/**
 * Audio and files have fewer tokens than base64 characters. The upstream server rejects a file that
 * decompresses to more.
 */
function partTokens(part: UserPart): number {
  switch (part.kind) {
    case 'text':
      return bytes(part.text);
    case 'image':
      return IMAGE_TOKENS;
    case 'audio':
    case 'file':
      return part.base64.length;
  }
}

function toolTokens({ name, description = '', parameters = {} }: FunctionTool): number {
  return TOOL_TOKENS + bytes(name) + bytes(description) + SPACED * bytes(JSON.stringify(parameters));
}

function bytes(text: string): number {
  return Buffer.byteLength(text);
}
