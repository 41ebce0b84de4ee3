/** What a request means to a model that knows only messages, text and a grammar. */

import { invalidRequest, ServiceError } from '../../contract/error.ts';
import type { ChatMessage, FunctionTool, TextRequest, UserPart } from '../../contract/text.ts';
import { CALL_CLOSES, CALL_OPENS, callText, NAME_ENDS, resultText, toolsText } from './call-text.ts';
import { JsonGrammar, literal } from './json-grammar.ts';
import type { PlainMessage } from './llama-protocol.ts';

/** Most calls of one answer. */
const MOST_CALLS = 16;

export interface LlamaQuestion {
  readonly messages: readonly PlainMessage[];
  /** What the answer may be; absent: any text. */
  readonly grammar: string | undefined;
  /** What the answer is: `either` is calls when it begins as one. */
  readonly answer: 'text' | 'calls' | 'either';
}

/**
 * Puts a request into messages and a grammar.
 * @throws ServiceError `invalid_request` for a part or a schema that cannot be had.
 */
export function questionOf(request: TextRequest): LlamaQuestion {
  const messages = request.messages.flatMap(plainMessages);
  const { tools, toolChoice, parallelToolCalls: many } = request;
  if (tools.length === 0 || toolChoice === 'none') {
    return { messages: merged(messages), grammar: outputGrammar(request), answer: 'text' };
  }
  const named = typeof toolChoice === 'object';
  const callable = named ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  if (callable.length === 0) {
    throw invalidRequest('tool_choice names a tool that is not there.', 'tool_choice');
  }
  const how = toolChoice === 'auto' ? 'auto' : 'required';
  const system: PlainMessage = { role: 'system', content: toolsText(callable, how, many) };
  return {
    messages: merged([system, ...messages]),
    grammar: callsGrammar(request, callable, how, many),
    answer: how === 'auto' ? 'either' : 'calls',
  };
}

function plainMessages(message: ChatMessage, index: number): PlainMessage[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.text }];
    case 'user':
      return [{ role: 'user', content: message.parts.map((part) => partText(part, index)).join('\n') }];
    case 'assistant': {
      const calls = message.toolCalls.map(callText);
      return [{ role: 'assistant', content: [message.text ?? '', ...calls].filter(Boolean).join('\n') }];
    }
    case 'tool':
      return [{ role: 'user', content: resultText(message.text) }];
  }
}

function partText(part: UserPart, index: number): string {
  if (part.kind === 'text') return part.text;
  throw invalidRequest(
    `messages[${index}]: this model takes no parts of kind '${part.kind}'; allowed: text.`,
    'messages',
    'unsupported_value',
  );
}

/** Neighbours of one role become one message: many templates want roles to take turns. */
function merged(messages: readonly PlainMessage[]): PlainMessage[] {
  const all: PlainMessage[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if (last?.role !== message.role) all.push(message);
    else all[all.length - 1] = { role: last.role, content: `${last.content}\n${message.content}` };
  }
  return all;
}

function outputGrammar(request: TextRequest): string | undefined {
  if (request.output.kind === 'text') return undefined;
  const grammar = new JsonGrammar();
  return grammar.text(outputRule(grammar, request));
}

function outputRule(grammar: JsonGrammar, { output }: TextRequest): string {
  // Whether a text is a call shows at once: a text does not begin like one.
  if (output.kind === 'text') return '([^<\\x09-\\x0D\\x20] [^\\x00]*)?';
  return output.kind === 'json' ? 'object' : grammar.schema(output.schema, 'response_format');
}

function callsGrammar(
  request: TextRequest,
  tools: readonly FunctionTool[],
  how: 'auto' | 'required',
  many: boolean,
): string {
  const grammar = new JsonGrammar();
  const each = tools.map((tool) => {
    const opens = literal(`${CALL_OPENS}${tool.name}${NAME_ENDS}`);
    return `${opens} ${argumentsRule(grammar, tool)} ${literal(CALL_CLOSES)}`;
  });
  const call = grammar.add('call', each.join(' | '));
  const calls = many ? `${call} ("\\n" ${call}){0,${MOST_CALLS - 1}}` : call;
  return grammar.text(how === 'required' ? calls : `${calls} | ${outputRule(grammar, request)}`);
}

/** @throws ServiceError `invalid_request` for strict parameters that cannot be followed. */
function argumentsRule(grammar: JsonGrammar, { parameters, strict }: FunctionTool): string {
  if (parameters === undefined) return 'object';
  try {
    // Arguments are an object, whatever else the schema says.
    return grammar.schema({ allOf: [{ type: 'object' }, parameters] }, 'tools', parameters);
  } catch (error) {
    if (strict || !(error instanceof ServiceError)) throw error;
    return 'object';
  }
}
