/**
 * Runs a model in a loop with the built-in tools: the model calls a tool, the tool runs, and the model
 * continues with the result (spec 4.5, `tools`).
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
import { estimatedTokens, type TextTokens } from '../../../src/generate/text-usage.ts';
import {
  maxInputTokens,
  maxOutputTokens,
  maxResultTokens,
  maxTokenUsage,
  reservedTokenLimit,
} from '../../../src/generate/token-limits.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import { codePoints } from '../../../src/kit/validation/code-points.ts';
import type { BuiltInResult, BuiltInTool, BuiltInTools } from './items/built-in-tools.ts';
import { withoutOldest } from './messages.ts';
import type { ResponseParams } from './schema.ts';
import type { ResponseAction } from './stream/state.ts';

/** Maximum length of a tool result that is passed to the model. */
export const MAX_RESULT_CHARACTERS = 20_000;
const CALL_LIMIT_REACHED =
  'This call was not made: the response has reached its maximum number of tool calls.';

export interface ToolLoopDeps {
  readonly params: ResponseParams;
  readonly engine: TextEngine;
  readonly messages: readonly ChatMessage[];
  readonly context: OperationContext;
  readonly tools: BuiltInTools;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A tool call in one output of the model. */
interface PendingCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  arguments: string;
}

/** One output of the model. */
interface ModelOutput {
  text: string;
  readonly calls: PendingCall[];
  /** The first built-in tool call and everything after it, which is reported after the output is complete. */
  readonly deferred: (PendingCall | TextEvent)[];
  end: Extract<TextEvent, { kind: 'end' }> | undefined;
}

export class ToolLoop implements AsyncDisposable {
  readonly #deps: ToolLoopDeps;
  /** Tools by the function name that the model uses. */
  readonly #tools = new Map<string, BuiltInTool>();
  readonly #container: Id<'cntr_'> = newId('cntr_');
  #messages: readonly ChatMessage[];
  #runsLeft: number;
  #tokens: TokenUsage = { input: 0, output: 0, cached: 0, reasoning: 0 };
  /** The generation in progress, whose tokens are not counted yet. */
  #uncounted: { readonly messages: readonly ChatMessage[]; characters: number } | undefined;
  #started = false;
  /** Whether the model has been informed that the call limit is reached. */
  #limitReported = false;
  #isBounded = false;

  private constructor(deps: ToolLoopDeps) {
    this.#deps = deps;
    this.#messages = deps.messages;
    this.#runsLeft = deps.params.maxToolCalls;
  }

  /** @throws ServiceError `invalid_request` for a tool that is not configured or whose name is in use. */
  static async open(deps: ToolLoopDeps): Promise<ToolLoop> {
    const toolLoop = new ToolLoop(deps);
    try {
      toolLoop.#openTools();
      return toolLoop;
    } catch (error) {
      await toolLoop[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Whether the model has generated anything. */
  get hasStarted(): boolean {
    return this.#started;
  }

  /** Returns the maximum usage of all generations. Each reads the previous outputs and the tool results. */
  maxUsage(): UsageAmounts {
    const { params, engine } = this.#deps;
    const question = { messages: this.#messages, tools: this.#offered(), output: params.output };
    if (this.#tools.size === 0) return maxTokenUsage({ ...question, maxTokens: params.maxTokens }, engine);
    // After the generations that run tools, one may call a tool beyond the limit, and the last one generates
    // text.
    const rounds = params.maxToolCalls + 2;
    const { contextTokens = Number.POSITIVE_INFINITY } = engine;
    const unlimited = rounds * maxOutputTokens(params.maxTokens, engine);
    const outputTokens = Math.min(params.maxTokens ?? unlimited, unlimited);
    const results = (params.maxToolCalls + 1) * maxResultTokens(MAX_RESULT_CHARACTERS);
    const grown = maxInputTokens(question) + outputTokens + results;
    return { inputTokens: rounds * Math.min(contextTokens, grown), outputTokens };
  }

  /** Tokens of all generations. Those of an interrupted generation are estimated. */
  get tokens(): TextTokens {
    const { input, output } = this.#tokens;
    if (this.#uncounted === undefined) return { input, output };
    const estimate = estimatedTokens(this.#uncounted, this.#uncounted.characters);
    return { input: input + estimate.input, output: output + estimate.output };
  }

  /**
   * Yields the actions of the response. The last one is `finished`.
   * @param isBounded whether the usage must not exceed {@link maxUsage}.
   */
  async *actions(signal: AbortSignal, isBounded: boolean): AsyncGenerator<ResponseAction, void, undefined> {
    this.#isBounded = isBounded;
    let choice = this.#firstChoice();
    for (;;) {
      const output: ModelOutput = { text: '', calls: [], deferred: [], end: undefined };
      yield* this.#generate(output, choice, signal);
      const { end } = output;
      if (end === undefined) throw new Error('the engine ended without a final event');
      this.#count(end.tokens);
      const reason = end.reason === 'tool_calls' ? 'stop' : end.reason;
      if (output.deferred.length === 0 || reason !== 'stop') return yield this.#finishAction(reason);
      const runsLeft = this.#runsLeft;
      const results = yield* this.#runTools(output.deferred, signal);
      const { params } = this.#deps;
      // Client functions are run by the client.
      if (output.calls.some(({ name }) => !this.#tools.has(name))) return yield this.#finishAction('stop');
      if (params.maxTokens !== undefined && this.#tokens.output >= params.maxTokens)
        return yield this.#finishAction('length');
      // The model called a tool again although the limit is reached.
      if (runsLeft === 0 && this.#limitReported) return yield this.#finishAction('stop');
      this.#limitReported = runsLeft === 0;
      this.#messages = [...this.#messages, assistantMessage(output), ...results];
      // A forced choice applies only to the first generation.
      choice = 'auto';
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const tool of this.#tools.values()) await tool.close();
  }

  #openTools(): void {
    const { params, tools, context } = this.#deps;
    for (const { type, settings, field } of params.tools.builtIn) {
      const tool = openTool(tools, field, type, settings, context.caller.keyId);
      const { name } = tool.tool;
      this.#tools.set(name, tool);
      if (!params.tools.functions.some((each) => each.name === name)) continue;
      const message = `No function may be named '${name}' together with '${field}'.`;
      throw invalidRequest(message, 'tools', 'invalid_value');
    }
  }

  /** Runs one generation and reports its events up to the first built-in tool call. */
  async *#generate(
    output: ModelOutput,
    choice: ToolChoice,
    signal: AbortSignal,
  ): AsyncGenerator<ResponseAction, void, undefined> {
    const { calls, deferred } = output;
    for await (const event of this.#generated(choice, signal)) {
      this.#started = true;
      if (event.kind === 'end') {
        output.end = event;
        return;
      }
      if (this.#uncounted && 'text' in event) this.#uncounted.characters += codePoints(event.text);
      if (event.kind === 'text') output.text += event.text;
      if (event.kind === 'tool_call') {
        const { index, name } = event;
        // Engines may reuse call ids in each generation, so new ids are assigned.
        const call: PendingCall = { index, id: newId('call_'), name, arguments: '' };
        calls.push(call);
        const tool = this.#tools.get(name);
        if (deferred.length > 0 || tool) deferred.push(call);
        if (deferred.length === 1 && tool && this.#runsLeft > 0) yield this.#toolNamed(tool);
      } else if (event.kind === 'tool_arguments') {
        const call = calls.find(({ index }) => index === event.index);
        if (call) call.arguments += event.text;
      } else if (deferred.length > 0) deferred.push(event);
      if (deferred.length === 0) yield event;
    }
  }

  /** Reports the deferred events and runs the tools one after another. Returns the tool results. */
  async *#runTools(
    deferred: ModelOutput['deferred'],
    signal: AbortSignal,
  ): AsyncGenerator<ResponseAction, ChatMessage[], undefined> {
    const results: ChatMessage[] = [];
    for (const [at, piece] of deferred.entries()) {
      if ('kind' in piece) {
        if (piece.kind !== 'end') yield piece;
        continue;
      }
      const { index, id, name, arguments: argumentText } = piece;
      const tool = this.#tools.get(name);
      if (tool === undefined) {
        yield { kind: 'tool_call', index, id, name };
        yield { kind: 'tool_arguments', index, text: argumentText };
        continue;
      }
      if (this.#runsLeft === 0) {
        results.push({ role: 'tool', toolCallId: id, text: CALL_LIMIT_REACHED });
        continue;
      }
      this.#runsLeft -= 1;
      if (at > 0) yield this.#toolNamed(tool);
      const input = parseToolInput(tool, argumentText);
      if (input !== undefined) yield { kind: 'tool_started', input };
      const result = input === undefined ? invalidArguments(tool) : await this.#result(tool, input, signal);
      const text = result.text.slice(0, MAX_RESULT_CHARACTERS);
      yield { kind: 'tool_finished', result, forModel: { name, arguments: argumentText, text } };
      results.push({ role: 'tool', toolCallId: id, text });
    }
    return results;
  }

  async #result(tool: BuiltInTool, input: string, signal: AbortSignal): Promise<BuiltInResult> {
    try {
      return await tool.run(input, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#deps.log.error('built-in tool failed', error, { tool: tool.type });
      return { status: 'failed', text: 'The tool failed.' };
    }
  }

  /**
   * Yields the events of one generation. If truncation is enabled, the oldest messages are removed until the
   * rest fits.
   */
  async *#generated(choice: ToolChoice, signal: AbortSignal): AsyncGenerator<TextEvent, void, undefined> {
    const { engine, params } = this.#deps;
    for (;;) {
      const request = this.#request(choice);
      let started = false;
      try {
        for await (const event of engine.generate(request, signal)) {
          if (!started) this.#uncounted = { messages: request.messages, characters: 0 };
          started = true;
          yield event;
        }
        return;
      } catch (error) {
        const shorter = withoutOldest(this.#messages, params.instructions === undefined ? 0 : 1);
        if (started || !params.truncates || !isTooLong(error) || shorter === undefined) throw error;
        this.#messages = shorter;
      }
    }
  }

  #request(choice: ToolChoice): TextRequest {
    const { params, engine, context } = this.#deps;
    const { output, sampling, reasoningEffort, parallelToolCalls } = params;
    const tools = this.#offered();
    const left = params.maxTokens === undefined ? undefined : params.maxTokens - this.#tokens.output;
    return {
      messages: this.#messages,
      tools,
      toolChoice: tools.length === 0 ? 'none' : choice,
      parallelToolCalls,
      output,
      sampling,
      stop: [],
      maxTokens: this.#isBounded ? reservedTokenLimit(left, engine) : left,
      reasoningEffort,
      priority: context.priority,
      fairnessKey: context.caller.keyId,
    };
  }

  #offered() {
    const { functions } = this.#deps.params.tools;
    if (this.#runsLeft === 0) return functions;
    return [...functions, ...[...this.#tools.values()].map(({ tool }) => tool)];
  }

  #firstChoice(): ToolChoice {
    const { choice } = this.#deps.params.tools;
    if (typeof choice === 'string' || 'name' in choice) return choice;
    const toolNamed = [...this.#tools.values()].find(({ type }) => type === choice.builtIn);
    return toolNamed === undefined ? 'auto' : { name: toolNamed.tool.name };
  }

  #toolNamed({ type }: BuiltInTool): ResponseAction {
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

  #finishAction(reason: 'stop' | 'length' | 'content_filter'): ResponseAction {
    const at = unixSeconds(this.#deps.clock);
    return { kind: 'finished', reason, tokens: this.#tokens, at };
  }
}

function openTool(tools: BuiltInTools, field: string, ...openParams: Parameters<BuiltInTools['open']>) {
  try {
    return tools.open(...openParams);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { kind, message, code } = error;
    throw new ServiceError(kind, message, { param: error.param ?? `${field}.type`, code });
  }
}

/** Returns the input of the tool, or undefined if the arguments are not valid. */
function parseToolInput({ type }: BuiltInTool, argumentText: string): string | undefined {
  try {
    const value: unknown = JSON.parse(argumentText)[type === 'web_search' ? 'query' : 'code'];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function invalidArguments({ type }: BuiltInTool): BuiltInResult {
  const field = type === 'web_search' ? 'query' : 'code';
  return { status: 'failed', text: `The arguments must be a JSON object with the string '${field}'.` };
}

function assistantMessage({ text, calls }: ModelOutput): ChatMessage {
  const toolCalls = calls.map(({ id, name, arguments: argumentText }) => ({
    id,
    name,
    arguments: argumentText,
  }));
  return { role: 'assistant', text: text === '' ? undefined : text, toolCalls };
}

function isTooLong(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'context_length_exceeded';
}
