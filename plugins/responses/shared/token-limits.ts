/** Upper bounds of what answers may consume: credits are reserved for so much (docs/decisions/credits.md). */

import type { UsageAmounts } from '../../../src/contract/accounts/calls.ts';
import type {
  ChatMessage,
  FunctionTool,
  TextEngine,
  TextRequest,
  UserPart,
} from '../../../src/contract/engines/text.ts';

/** Tokens of an answer that names no limit, when the engine does not tell its context. */
const MAX_OUTPUT_TOKENS = 4096;
/** What the templates of models add: to a conversation, to each message or call in it, and to each tool. */
const CONVERSATION_TOKENS = 500;
const MESSAGE_TOKENS = 20;
const TOOL_TOKENS = 100;
/** Templates may write tools and schemas with more space between the words than JSON needs. */
const SPACED = 2;
/** An image at the finest resolution that open models read. */
const IMAGE_TOKENS = 16_384;

/** Most tokens of an answer: its limit, else all that fits, else as many as are held for those that name none. */
export function mostOutputTokens(maxTokens: number | undefined, { contextTokens }: TextEngine): number {
  return Math.min(maxTokens ?? contextTokens ?? MAX_OUTPUT_TOKENS, contextTokens ?? Number.POSITIVE_INFINITY);
}

/**
 * The limit with which an answer stays within what is held for it: its own; one that names none and that no known
 * context ends gets that which was assumed.
 */
export function heldLimit(maxTokens: number | undefined, { contextTokens }: TextEngine): number | undefined {
  return maxTokens ?? (contextTokens === undefined ? MAX_OUTPUT_TOKENS : undefined);
}

/** Most tokens that one answer may consume. */
export function mostTokens(
  request: Pick<TextRequest, 'messages' | 'tools' | 'output' | 'maxTokens'>,
  engine: TextEngine,
): UsageAmounts {
  const { contextTokens = Number.POSITIVE_INFINITY } = engine;
  return {
    inputTokens: Math.min(mostInputTokens(request), contextTokens),
    outputTokens: mostOutputTokens(request.maxTokens, engine),
  };
}

/** Most tokens of a question: no token is shorter than a byte of UTF-8. */
export function mostInputTokens({
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

/** Most tokens of a result of so many characters, as a message. */
export function maxResultTokens(characters: number): number {
  return MESSAGE_TOKENS + MAX_BYTES_PER_CHARACTER * characters;
}

/** Of a UTF-16 code unit. */
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

/** Sounds and files have fewer tokens than characters, unless a file unpacks to more; then its server refuses it. */
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
