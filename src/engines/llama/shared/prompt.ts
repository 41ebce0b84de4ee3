/** Converts requests to the messages of a chat template and to a grammar. */

import { Grammar, literal } from '../../../../packages/json-schema-gbnf/src/index.ts';
import { invalidRequest, ServiceError } from '../../../contract/core/error.ts';
import type {
  ChatMessage,
  FunctionTool,
  TextRequest,
  ToolCall,
  UserPart,
} from '../../../contract/engines/text.ts';
import { BARE_CALLS, permitsBareCalls, textRule } from './bare-calls.ts';
import type { ChatTemplateMessage, ChatTemplateTool, Conversation } from './conversation.ts';
import { schemaRule } from './schema-rule.ts';
import { DEFAULT_TOOL_CALL_SYNTAX, type ToolCallSyntax } from './tool-call-syntax.ts';

/** Maximum number of calls in a response. */
const MAX_CALLS = 16;

export interface LlamaPrompt {
  readonly conversation: Conversation;
  /** `text_or_calls`: tool calls if the response starts like one, otherwise text. */
  readonly responseKind: 'text' | 'calls' | 'text_or_calls';
  readonly syntax: ToolCallSyntax;
  /** Other syntaxes in which the model may call a tool. */
  readonly bareCalls: readonly ToolCallSyntax[];
  /** Names of the tools that the response may call. */
  readonly toolNames: readonly string[];
}

/** Grammars of a response, in GBNF. */
export interface ResponseGrammar {
  /** Constrains the response; undefined: any text. */
  readonly whole: string | undefined;
  /** {@link whole} without tool calls: completes truncated JSON. Undefined if a truncated response is not completed. */
  readonly json: string | undefined;
}

/**
 * Converts a request to messages.
 * @param learned tool call syntax of the template. If undefined, tools are described in a system message.
 * @throws ServiceError `invalid_request` for an unsupported message part or an unknown tool.
 */
export function buildPrompt(request: TextRequest, learned: ToolCallSyntax | undefined): LlamaPrompt {
  const syntax = learned ?? DEFAULT_TOOL_CALL_SYNTAX;
  const messages = request.messages.flatMap((message, index) => templateMessages(message, index, learned));
  const callable = callableTools(request);
  if (callable.length === 0) {
    const conversation = { messages: merged(messages), tools: [] };
    return { conversation, responseKind: 'text', syntax, bareCalls: [], toolNames: [] };
  }
  const must = request.toolChoice !== 'auto';
  const responseKind: LlamaPrompt['responseKind'] = must ? 'calls' : 'text_or_calls';
  // JSON that the request asks for could be a bare call.
  const permitsBare = !must && request.output.kind === 'text' && permitsBareCalls(syntax.opens);
  const calls = {
    responseKind,
    syntax,
    bareCalls: permitsBare ? BARE_CALLS : [],
    toolNames: callable.map(({ name }) => name),
  } as const;
  if (learned) {
    const conversation = { messages: merged(messages), tools: callable.map(templateTool) };
    return { conversation, ...calls };
  }
  const content = toolsText(callable, must, request.parallelToolCalls);
  const system: ChatTemplateMessage = { role: 'system', content };
  return { conversation: { messages: merged([system, ...messages]), tools: [] }, ...calls };
}

/**
 * Builds the grammar that constrains the response.
 * @param room maximum tokens of the response, which limits otherwise unlimited strings.
 * @throws ServiceError `invalid_request` for an unsupported schema.
 */
export function buildGrammar(
  request: TextRequest,
  { responseKind, syntax, bareCalls }: LlamaPrompt,
  room: number,
): ResponseGrammar {
  const grammar = new Grammar(room);
  const output = responseKind === 'calls' ? undefined : outputRule(grammar, request);
  const json = output === undefined ? undefined : grammar.text(output);
  if (responseKind === 'text') return { whole: json, json };
  // A named function is called exactly once.
  const many = request.parallelToolCalls && typeof request.toolChoice !== 'object';
  const tools = callableTools(request).map((tool) => ({
    name: tool.name,
    rule: argumentsRule(grammar, tool),
  }));
  const syntaxes = [syntax, ...bareCalls];
  const calls = syntaxes.map((each) => callsRule(grammar, tools, each, many)).join(' | ');
  if (responseKind === 'calls') return { whole: grammar.text(calls), json };
  const text = textRule(
    syntax.opens,
    tools.map(({ name }) => name),
  );
  return { whole: grammar.text(`${calls} | ${output ?? text}`), json };
}

/** Tools that the response may call. */
function callableTools({ tools, toolChoice }: TextRequest): readonly FunctionTool[] {
  if (toolChoice === 'none') return [];
  if (typeof toolChoice !== 'object') return tools;
  const named = tools.filter(({ name }) => name === toolChoice.name);
  if (named.length > 0 || tools.length === 0) return named;
  throw invalidRequest("'tool_choice' names an unknown tool.", 'tool_choice');
}

function templateMessages(
  message: ChatMessage,
  index: number,
  learned: ToolCallSyntax | undefined,
): ChatTemplateMessage[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.text }];
    case 'user':
      return [{ role: 'user', content: message.parts.map((part) => partText(part, index)).join('\n') }];
    case 'assistant': {
      const { text = '', toolCalls } = message;
      if (toolCalls.length === 0) return [{ role: 'assistant', content: text }];
      if (learned) return [{ role: 'assistant', content: text, tool_calls: toolCalls.map(templateCall) }];
      return [{ role: 'assistant', content: [text, callsText(toolCalls)].filter(Boolean).join('\n') }];
    }
    case 'tool':
      return learned
        ? [{ role: 'tool', content: message.text, tool_call_id: message.toolCallId }]
        : [{ role: 'user', content: `<tool_response>${message.text}</tool_response>` }];
  }
}

function partText(part: UserPart, index: number): string {
  if (part.kind === 'text') return part.text;
  throw invalidRequest(
    `messages[${index}]: this model does not support message parts of kind '${part.kind}'; allowed: text.`,
    'messages',
    'unsupported_value',
  );
}

/** Merges adjacent messages of one role, because many templates require alternating roles. */
function merged(messages: readonly ChatTemplateMessage[]): ChatTemplateMessage[] {
  const all: ChatTemplateMessage[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    const same = last?.role === message.role && message.role !== 'tool';
    if (!same || last.tool_calls || message.tool_calls) all.push(message);
    else all[all.length - 1] = { role: last.role, content: `${last.content}\n${message.content}` };
  }
  return all;
}

function templateTool({
  name,
  description = '',
  parameters = { type: 'object', properties: {} },
}: FunctionTool): ChatTemplateTool {
  return { type: 'function', function: { name, description, parameters } };
}

/** Templates require JSON arguments. Truncated arguments are wrapped in an object. */
function templateCall({ id, name, arguments: text }: ToolCall) {
  let object = text;
  try {
    JSON.parse(text);
  } catch {
    object = JSON.stringify({ text });
  }
  return { id, type: 'function', function: { name, arguments: object } } as const;
}

/** System message that describes the tools, for templates without support for tools. */
function toolsText(tools: readonly FunctionTool[], must: boolean, many: boolean): string {
  const definitions = tools.map(({ name, description, parameters }) =>
    JSON.stringify({ name, description, parameters }),
  );
  return [
    'You have these functions, one on each line:',
    ...definitions,
    must
      ? `Answer with nothing but ${many ? 'calls' : 'a call'} like this:`
      : 'To call one, answer with nothing but this:',
    callsText([{ name: 'NAME', arguments: '{}' }]),
  ].join('\n');
}

/** Renders calls in the default syntax. Invalid JSON arguments are inserted unchanged. */
function callsText(calls: readonly Pick<ToolCall, 'name' | 'arguments'>[]): string {
  const { opens, nameEnds, between, closes } = DEFAULT_TOOL_CALL_SYNTAX;
  const each = calls.map((call) => `${call.name}${nameEnds}${call.arguments}`);
  return `${opens}${each.join(between)}${closes}`;
}

/** Rule of a response without tool calls; undefined: any text. */
function outputRule(grammar: Grammar, { output }: TextRequest): string | undefined {
  if (output.kind === 'text') return undefined;
  return output.kind === 'json' ? 'object' : schemaRule(grammar, output.schema, 'response_format');
}

function callsRule(
  grammar: Grammar,
  tools: readonly { readonly name: string; readonly rule: string }[],
  { opens, nameEnds, between, closes }: ToolCallSyntax,
  many: boolean,
): string {
  const each = tools.map(({ name, rule }) => `${literal(`${name}${nameEnds}`)} ${rule}`);
  const call = grammar.add('call', each.join(' | '));
  const more = many ? `(${literal(between)} ${call}){0,${MAX_CALLS - 1}} ` : '';
  return `${literal(opens)} ${call} ${more}${literal(closes)}`;
}

/** @throws ServiceError `invalid_request` for unsupported strict parameters. */
function argumentsRule(grammar: Grammar, { parameters, strict }: FunctionTool): string {
  if (parameters === undefined) return 'object';
  try {
    // Arguments are always an object, even if the schema allows other types.
    return schemaRule(grammar, { allOf: [{ type: 'object' }, parameters] }, 'tools', parameters);
  } catch (error) {
    if (strict || !(error instanceof ServiceError)) throw error;
    return 'object';
  }
}
