/**
 * What a model says to a conversation, in as many answers as its calls of the service's own tools need: it calls
 * one, the tool runs, the model reads what it gave and goes on (spec 4.5, `tools`).
 */

import type { UsageAmounts } from '../../../src/contract/accounts/calls.ts';
import type { Clock } from '../../../src/contract/core/clock.ts';
import { invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import { type Id, newId } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { OperationContext } from '../../../src/contract/engines/operation.ts';
import type {
  ChatMessage,
  TextEngine,
  TextEvent,
  TextRequest,
  TokenUsage,
  ToolChoice,
} from '../../../src/contract/engines/text.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import { codePoints } from '../../../src/kit/validation/code-points.ts';
import type { TextCall } from '../shared/text-call.ts';
import {
  heldLimit,
  maxResultTokens,
  mostInputTokens,
  mostOutputTokens,
  mostTokens,
} from '../shared/token-limits.ts';
import type { BuiltInResult, BuiltInTool, BuiltInTools } from './items/built-in-tools.ts';
import { withoutOldest } from './messages.ts';
import type { ResponseAsk } from './schema.ts';
import type { ResponseFact } from './stream/state.ts';

/** Most characters of a tool's result that the model reads. */
export const MAX_RESULT_CHARACTERS = 20_000;
const NO_MORE_CALLS = 'This call was not made: the response has reached the most calls that it may make.';

export interface AnswersParts {
  readonly ask: ResponseAsk;
  readonly engine: TextEngine;
  readonly messages: readonly ChatMessage[];
  readonly order: OperationContext;
  readonly tools: BuiltInTools;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A call in one answer. */
interface MadeCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  arguments: string;
}

/** One answer. */
interface Answer {
  text: string;
  readonly calls: MadeCall[];
  /** What was not told yet: the first call of a tool of the service, and all that came after it. */
  readonly held: (MadeCall | TextEvent)[];
  end: Extract<TextEvent, { kind: 'end' }> | undefined;
}

export class Answers implements AsyncDisposable {
  readonly #parts: AnswersParts;
  /** By the name under which the model knows them. */
  readonly #tools = new Map<string, BuiltInTool>();
  readonly #container: Id<'container'> = newId('container');
  #messages: readonly ChatMessage[];
  #runsLeft: number;
  #tokens: TokenUsage = { input: 0, output: 0, cached: 0, reasoning: 0 };
  /** The answer that is being made, which has no count yet. */
  #uncounted: { readonly messages: readonly ChatMessage[]; characters: number } | undefined;
  #begun = false;
  /** Whether the model was told that there are no more runs. */
  #toldNoMore = false;
  #bounded = false;

  private constructor(parts: AnswersParts) {
    this.#parts = parts;
    this.#messages = parts.messages;
    this.#runsLeft = parts.ask.maxToolCalls;
  }

  /** @throws ServiceError `invalid_request` for a tool that is not set up or whose name is taken. */
  static async open(parts: AnswersParts): Promise<Answers> {
    const answers = new Answers(parts);
    try {
      answers.#openTools();
      return answers;
    } catch (error) {
      await answers[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Whether the model has said anything. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  /** Most that all answers together may consume: each reads what those before it said and their tools gave. */
  most(): UsageAmounts {
    const { ask, engine } = this.#parts;
    const question = { messages: this.#messages, tools: this.#offered(), output: ask.output };
    if (this.#tools.size === 0) return mostTokens({ ...question, maxTokens: ask.maxTokens }, engine);
    // After those that run tools one may call in vain, and the last one speaks.
    const rounds = ask.maxToolCalls + 2;
    const { contextTokens = Number.POSITIVE_INFINITY } = engine;
    const unlimited = rounds * mostOutputTokens(ask.maxTokens, engine);
    const outputTokens = Math.min(ask.maxTokens ?? unlimited, unlimited);
    const results = (ask.maxToolCalls + 1) * maxResultTokens(MAX_RESULT_CHARACTERS);
    const grown = mostInputTokens(question) + outputTokens + results;
    return { inputTokens: rounds * Math.min(contextTokens, grown), outputTokens };
  }

  /** Adds what was consumed to a call: answers that were broken off by an estimate. */
  countInto(call: TextCall): void {
    call.count(this.#tokens);
    if (this.#uncounted) call.estimate(this.#uncounted, this.#uncounted.characters);
  }

  /**
   * What happens, with an `ended` as the last.
   * @param bounded whether no answer may be longer than {@link most} says.
   */
  async *facts(signal: AbortSignal, bounded: boolean): AsyncGenerator<ResponseFact, void, undefined> {
    this.#bounded = bounded;
    let choice = this.#firstChoice();
    for (;;) {
      const answer: Answer = { text: '', calls: [], held: [], end: undefined };
      yield* this.#answer(answer, choice, signal);
      const { end } = answer;
      if (end === undefined) throw new Error('the engine ended without an end');
      this.#count(end.tokens);
      const reason = end.reason === 'tool_calls' ? 'stop' : end.reason;
      if (answer.held.length === 0 || reason !== 'stop') return yield this.#ended(reason);
      const runsLeft = this.#runsLeft;
      const results = yield* this.#run(answer.held, signal);
      const { ask } = this.#parts;
      // Calls of the client's functions wait for the client.
      if (answer.calls.some(({ name }) => !this.#tools.has(name))) return yield this.#ended('stop');
      if (ask.maxTokens !== undefined && this.#tokens.output >= ask.maxTokens)
        return yield this.#ended('length');
      // A model that calls on although it was told has no more to say.
      if (runsLeft === 0 && this.#toldNoMore) return yield this.#ended('stop');
      this.#toldNoMore = runsLeft === 0;
      this.#messages = [...this.#messages, saidBy(answer), ...results];
      // What had to be called was.
      choice = 'auto';
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const tool of this.#tools.values()) await tool.close();
  }

  #openTools(): void {
    const { ask, tools, order } = this.#parts;
    for (const { type, settings, field } of ask.tools.builtIn) {
      const tool = openTool(tools, field, type, settings, order.caller.keyId);
      const { name } = tool.tool;
      this.#tools.set(name, tool);
      if (!ask.tools.functions.some((each) => each.name === name)) continue;
      const message = `No function may be named '${name}' beside '${field}'.`;
      throw invalidRequest(message, 'tools', 'invalid_value');
    }
  }

  /** One answer, told until its first call of a tool of the service. */
  async *#answer(
    answer: Answer,
    choice: ToolChoice,
    signal: AbortSignal,
  ): AsyncGenerator<ResponseFact, void, undefined> {
    const { calls, held } = answer;
    for await (const event of this.#generated(choice, signal)) {
      this.#begun = true;
      if (event.kind === 'end') {
        answer.end = event;
        return;
      }
      if (this.#uncounted && 'text' in event) this.#uncounted.characters += codePoints(event.text);
      if (event.kind === 'text') answer.text += event.text;
      if (event.kind === 'tool_call') {
        const { index, name } = event;
        // Ours: engines may give the calls of each answer the same ids.
        const call: MadeCall = { index, id: newId('toolCall'), name, arguments: '' };
        calls.push(call);
        const tool = this.#tools.get(name);
        if (held.length > 0 || tool) held.push(call);
        if (held.length === 1 && tool && this.#runsLeft > 0) yield this.#named(tool);
      } else if (event.kind === 'tool_arguments') {
        const call = calls.find(({ index }) => index === event.index);
        if (call) call.arguments += event.text;
      } else if (held.length > 0) held.push(event);
      if (held.length === 0) yield event;
    }
  }

  /** Tells what was held: tools run one after the other, all else is told as it is. Gives the tools' results. */
  async *#run(
    held: Answer['held'],
    signal: AbortSignal,
  ): AsyncGenerator<ResponseFact, ChatMessage[], undefined> {
    const results: ChatMessage[] = [];
    for (const [at, piece] of held.entries()) {
      if ('kind' in piece) {
        if (piece.kind !== 'end') yield piece;
        continue;
      }
      const { index, id, name, arguments: written } = piece;
      const tool = this.#tools.get(name);
      if (tool === undefined) {
        yield { kind: 'tool_call', index, id, name };
        yield { kind: 'tool_arguments', index, text: written };
        continue;
      }
      if (this.#runsLeft === 0) {
        results.push({ role: 'tool', toolCallId: id, text: NO_MORE_CALLS });
        continue;
      }
      this.#runsLeft -= 1;
      if (at > 0) yield this.#named(tool);
      const input = inputOf(tool, written);
      if (input !== undefined) yield { kind: 'tool_begun', input };
      const result = input === undefined ? unreadable(tool) : await this.#result(tool, input, signal);
      const text = result.text.slice(0, MAX_RESULT_CHARACTERS);
      yield { kind: 'tool_ended', result, forModel: { name, arguments: written, text } };
      results.push({ role: 'tool', toolCallId: id, text });
    }
    return results;
  }

  async #result(tool: BuiltInTool, input: string, signal: AbortSignal): Promise<BuiltInResult> {
    try {
      return await tool.run(input, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#parts.log.error('a tool failed', error, { tool: tool.type });
      return { status: 'failed', text: 'The tool failed.' };
    }
  }

  /** Events of one answer; if that was asked for, the oldest messages go until the rest fits. */
  async *#generated(choice: ToolChoice, signal: AbortSignal): AsyncGenerator<TextEvent, void, undefined> {
    const { engine, ask } = this.#parts;
    for (;;) {
      const request = this.#request(choice);
      let begun = false;
      try {
        for await (const event of engine.generate(request, signal)) {
          if (!begun) this.#uncounted = { messages: request.messages, characters: 0 };
          begun = true;
          yield event;
        }
        return;
      } catch (error) {
        const shorter = withoutOldest(this.#messages, ask.instructions === undefined ? 0 : 1);
        if (begun || !ask.truncates || !isTooLong(error) || shorter === undefined) throw error;
        this.#messages = shorter;
      }
    }
  }

  #request(choice: ToolChoice): TextRequest {
    const { ask, engine, order } = this.#parts;
    const { output, sampling, reasoningEffort, parallelToolCalls } = ask;
    const tools = this.#offered();
    const left = ask.maxTokens === undefined ? undefined : ask.maxTokens - this.#tokens.output;
    return {
      messages: this.#messages,
      tools,
      toolChoice: tools.length === 0 ? 'none' : choice,
      parallelToolCalls,
      output,
      sampling,
      stop: [],
      maxTokens: this.#bounded ? heldLimit(left, engine) : left,
      reasoningEffort,
      priority: order.priority,
      fairnessKey: order.caller.keyId,
    };
  }

  #offered() {
    const { functions } = this.#parts.ask.tools;
    if (this.#runsLeft === 0) return functions;
    return [...functions, ...[...this.#tools.values()].map(({ tool }) => tool)];
  }

  #firstChoice(): ToolChoice {
    const { choice } = this.#parts.ask.tools;
    if (typeof choice === 'string' || 'name' in choice) return choice;
    const named = [...this.#tools.values()].find(({ type }) => type === choice.builtIn);
    return named === undefined ? 'auto' : { name: named.tool.name };
  }

  #named({ type }: BuiltInTool): ResponseFact {
    return { kind: 'tool_named', type, container: this.#container };
  }

  #count({ input, output, cached, reasoning }: TokenUsage): void {
    const sum = this.#tokens;
    this.#tokens = {
      input: sum.input + input,
      output: sum.output + output,
      cached: sum.cached + cached,
      reasoning: sum.reasoning + reasoning,
    };
    this.#uncounted = undefined;
  }

  #ended(reason: 'stop' | 'length' | 'content_filter'): ResponseFact {
    const at = unixSeconds(this.#parts.clock);
    return { kind: 'ended', reason, tokens: this.#tokens, at };
  }
}

function openTool(tools: BuiltInTools, field: string, ...asked: Parameters<BuiltInTools['open']>) {
  try {
    return tools.open(...asked);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { kind, message, code } = error;
    throw new ServiceError(kind, message, { param: error.param ?? `${field}.type`, code });
  }
}

/** What the tool is given, or undefined when the model wrote something else. */
function inputOf({ type }: BuiltInTool, written: string): string | undefined {
  try {
    const value: unknown = JSON.parse(written)[type === 'web_search' ? 'query' : 'code'];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function unreadable({ type }: BuiltInTool): BuiltInResult {
  const field = type === 'web_search' ? 'query' : 'code';
  return { status: 'failed', text: `The arguments must be a JSON object with the string '${field}'.` };
}

function saidBy({ text, calls }: Answer): ChatMessage {
  const toolCalls = calls.map(({ id, name, arguments: written }) => ({ id, name, arguments: written }));
  return { role: 'assistant', text: text === '' ? undefined : text, toolCalls };
}

function isTooLong(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'context_length_exceeded';
}
