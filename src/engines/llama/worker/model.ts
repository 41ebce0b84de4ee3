/** A language model with concurrent slots in this process. */

import { escapeControlTokens, findControlTokens } from '../shared/control-tokens.ts';
import {
  loadNative,
  type NativeCompletion,
  type NativeContext,
  type NativeResult,
  type NativeTool,
} from '../shared/native.ts';
import type { Conversation } from '../shared/prompt.ts';
import type { LlamaEnd, LlamaReply, LlamaSampling, LoadedLlama, LoadLlama } from '../shared/protocol.ts';
import { learnToolCallSyntax, type ToolCallSyntax } from '../shared/tool-call-syntax.ts';
import { completeJson } from './complete-json.ts';

/** Prompt tokens per step. Other responses wait for the end of a step, and so does a cancellation. */
const BATCH_TOKENS = { cpu: 32, cuda: 512 } as const;
/** Defaults of llama.cpp. */
const TEMPERATURE = 0.8;
const TOP_P = 0.95;
const TOP_K = 40;
const MIN_P = 0.05;

/** Loads a model and creates its slots. */
export async function loadLlama(load: LoadLlama): Promise<LlamaModel> {
  const { model, provider, slots, contextTokens, threads } = load;
  const context = await loadNative(provider, {
    model,
    n_ctx: contextTokens * slots,
    n_parallel: slots,
    n_threads: threads,
  });
  const { chatTemplates } = context.getModelInfo();
  if (!chatTemplates.jinja.default && !chatTemplates.llamaChat) {
    throw new Error(`The language model ${model} has no supported chat template.`);
  }
  context.enableParallelMode({ n_parallel: slots, n_batch: BATCH_TOKENS[provider] });
  const loaded = new LlamaModel(context, contextTokens, await tokenMs(context), load.chatTemplate);
  await loaded.detectControlTokens();
  return loaded;
}

/** Measures the prompt processing time of one token in ms. Resolves after the model has completed a step. */
async function tokenMs(context: NativeContext): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<NativeResult>();
  context.queueCompletion(
    {
      prompt: 'Ready when you are.',
      n_predict: 1,
      temperature: 0,
      top_k: 1,
      top_p: 1,
      min_p: 0,
      penalty_last_n: 0,
      penalty_present: 0,
      penalty_freq: 0,
      dry_multiplier: 0,
      stop: [],
    },
    (error, event) => {
      if (error) reject(error);
      else if (!('token' in event)) resolve(event);
    },
  );
  const { timings } = await promise;
  return timings.prompt_ms / Math.max(1, timings.prompt_n);
}

export class LlamaModel {
  readonly #context: NativeContext;
  readonly #jinja: boolean;
  readonly #contextTokens: number;
  readonly #template: string | undefined;
  readonly #toolCallSyntax: ToolCallSyntax | undefined;
  readonly #tokenMs: number;
  #controlWords: readonly string[] = [];
  /** Request ids of llama.cpp by the number of the response. */
  readonly #requests = new Map<number, number>();

  constructor(context: NativeContext, contextTokens: number, tokenMs: number, template?: string) {
    this.#context = context;
    this.#tokenMs = tokenMs;
    const { chatTemplates, metadata } = context.getModelInfo();
    this.#jinja = chatTemplates.jinja.default;
    const trained = Number(metadata[`${metadata['general.architecture']}.context_length`]);
    this.#contextTokens = trained > 0 ? Math.min(trained, contextTokens) : contextTokens;
    this.#template = template;
    if (this.#jinja) {
      this.#toolCallSyntax = learnToolCallSyntax((messages, tools) =>
        this.#render({ messages, tools }, false),
      );
    }
  }

  /** Must be called before the first conversation, so that control tokens in messages are escaped. */
  async detectControlTokens(): Promise<void> {
    const probe = { messages: [{ role: 'user', content: 'probe' }], tools: [] } as const;
    this.#controlWords = await findControlTokens(
      this.#promptOf(probe) ?? '',
      async (text) => (await this.#context.tokenize(text)).tokens.length,
    );
  }

  get loaded(): LoadedLlama {
    return {
      contextTokens: this.#contextTokens,
      toolCallSyntax: this.#toolCallSyntax,
      tokenMs: this.#tokenMs,
    };
  }

  /** Number of tokens of a conversation; undefined if the template does not support it. */
  async measure(conversation: Conversation): Promise<number | undefined> {
    const prompt = this.#promptOf(conversation);
    if (prompt === undefined) return undefined;
    return (await this.#context.tokenize(prompt)).tokens.length;
  }

  /** Starts the response to a measured conversation. */
  begin(
    answer: number,
    conversation: Conversation,
    sampling: LlamaSampling,
    send: (message: LlamaReply) => void,
  ): void {
    const prompt = this.#promptOf(conversation);
    if (prompt === undefined) {
      send({ kind: 'unsupported', answer });
      return;
    }
    let said = '';
    const { requestId } = this.#context.queueCompletion(
      { prompt, ...this.#completion(sampling) },
      (error, event) => {
        // A cancelled request may still produce one token.
        if (this.#requests.get(answer) !== requestId) return;
        if (!error && 'token' in event) {
          if (sampling.ending !== undefined) said += event.token;
          send({ kind: 'said', answer, text: event.token });
          return;
        }
        this.#requests.delete(answer);
        const end = error || 'token' in event ? { kind: 'failed' as const, answer } : endOf(answer, event);
        if (end.kind === 'ended' && !end.complete && sampling.ending !== undefined) {
          const text = completeJson(sampling.ending, said);
          if (text) send({ kind: 'said', answer, text });
        }
        send(end);
      },
    );
    this.#requests.set(answer, requestId);
  }

  /** Completes a response early; undefined if it has already ended. */
  enough(answer: number): LlamaEnd | undefined {
    const id = this.#requests.get(answer);
    if (id === undefined) return undefined;
    const { requests } = this.#context.getParallelStatus();
    const progress = requests.find(({ request_id }) => request_id === id);
    this.#cancel(answer, id);
    return {
      complete: true,
      inputTokens: progress?.prompt_length ?? 0,
      cachedTokens: 0,
      outputTokens: progress?.tokens_generated ?? 0,
    };
  }

  /** Cancels a response. Resolves after another step, because llama.cpp does not confirm a cancellation. */
  async forget(answer: number): Promise<void> {
    const id = this.#requests.get(answer);
    if (id === undefined) return;
    this.#cancel(answer, id);
    await tokenMs(this.#context);
  }

  #cancel(answer: number, request: number): void {
    this.#requests.delete(answer);
    this.#context.cancelRequest(request);
  }

  #promptOf(conversation: Conversation): string | undefined {
    try {
      return this.#render(conversation, true);
    } catch {
      return undefined;
    }
  }

  /** @throws Error for a conversation that the template does not support. */
  #render({ messages, tools }: Conversation, opensAnswer: boolean): string {
    const chat = this.#context.getFormattedChat(this.#plain(messages), this.#template, {
      jinja: this.#jinja,
      add_generation_prompt: opensAnswer,
      enable_thinking: false,
      ...(tools.length > 0 && {
        tools: this.#plain(tools.map(withoutPatterns)),
        tool_choice: 'auto',
        parallel_tool_calls: true,
      }),
    });
    return typeof chat === 'string' ? chat : chat.prompt;
  }

  /** Escapes control tokens in all strings of the values. */
  #plain<Part>(parts: readonly Part[]): readonly Part[] {
    const text = JSON.stringify(parts);
    const plain = escapeControlTokens(text, this.#controlWords);
    // Usually there are none, and the values are returned unchanged.
    return plain === text ? parts : JSON.parse(plain);
  }

  #completion(sampling: LlamaSampling): Omit<NativeCompletion, 'prompt'> {
    const { temperature = TEMPERATURE, topP = TOP_P, seed, grammar } = sampling;
    return {
      n_predict: sampling.maxTokens,
      temperature,
      // A temperature of 0 means greedy sampling.
      top_k: temperature === 0 ? 1 : TOP_K,
      top_p: topP,
      min_p: MIN_P,
      ...(seed !== undefined && { seed }),
      penalty_last_n: this.#contextTokens,
      penalty_present: sampling.presencePenalty,
      penalty_freq: sampling.frequencyPenalty,
      dry_multiplier: 0,
      ...(grammar !== undefined && { grammar }),
      stop: sampling.stop,
    };
  }
}

function endOf(answer: number, result: NativeResult): LlamaReply {
  const complete = result.stopped_eos || result.stopped_word;
  // After a failed step, llama.cpp reports no stop reason.
  if (!complete && !result.stopped_limit && !result.context_full) return { kind: 'failed', answer };
  const { cache_n: cachedTokens, prompt_n: read } = result.timings;
  return {
    kind: 'ended',
    answer,
    complete,
    inputTokens: read + cachedTokens,
    cachedTokens,
    outputTokens: result.tokens_predicted,
  };
}

/** Removes patterns: the binding converts tools to an unused grammar and fails for unsupported patterns. */
function withoutPatterns(tool: NativeTool): NativeTool {
  const text = JSON.stringify(tool, (key, value: unknown) =>
    key === 'pattern' && typeof value === 'string' ? undefined : value,
  );
  return JSON.parse(text);
}
