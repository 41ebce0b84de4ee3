/** A language model in this process: conversations in, texts out, several at once. */

import { learnControlWords, withoutControlWords } from '../shared/control-tokens.ts';
import {
  loadNative,
  type NativeCompletion,
  type NativeContext,
  type NativeResult,
  type NativeTool,
} from '../shared/native.ts';
import type { Conversation } from '../shared/prompt.ts';
import type { FromLlama, LlamaEnd, LlamaSampling, LoadedLlama, LoadLlama } from '../shared/protocol.ts';
import { type CallWords, learnCallWords } from '../shared/tool-call-syntax.ts';
import { endOfCut } from './complete-json.ts';

/** Tokens of questions that are read at once: the others wait that long for their next token, an abort for its end. */
const BATCH_TOKENS = { cpu: 32, cuda: 512 } as const;
/** llama.cpp's own defaults. */
const TEMPERATURE = 0.8;
const TOP_P = 0.95;
const TOP_K = 40;
const MIN_P = 0.05;

/** Loads a model and opens its slots. */
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
    throw new Error(`The language model ${model} has no chat template that can be used.`);
  }
  context.enableParallelMode({ n_parallel: slots, n_batch: BATCH_TOKENS[provider] });
  const loaded = new LlamaModel(context, contextTokens, await tokenMs(context), load.chatTemplate);
  await loaded.learnControlWords();
  return loaded;
}

/** Milliseconds in which this machine reads a token: a few are read. Resolves when the model has computed. */
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
  readonly #callWords: CallWords | undefined;
  readonly #tokenMs: number;
  #controlWords: readonly string[] = [];
  /** The library's number of each answer that is being written. */
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
      this.#callWords = learnCallWords((messages, tools) => this.#render({ messages, tools }, false));
    }
  }

  /** Before the first conversation: no message may speak for the template. */
  async learnControlWords(): Promise<void> {
    const probe = { messages: [{ role: 'user', content: 'probe' }], tools: [] } as const;
    this.#controlWords = await learnControlWords(
      this.#promptOf(probe) ?? '',
      async (text) => (await this.#context.tokenize(text)).tokens.length,
    );
  }

  get loaded(): LoadedLlama {
    return { contextTokens: this.#contextTokens, callWords: this.#callWords, tokenMs: this.#tokenMs };
  }

  /** Tokens of a conversation; undefined when the template refuses it. */
  async measure(conversation: Conversation): Promise<number | undefined> {
    const prompt = this.#promptOf(conversation);
    if (prompt === undefined) return undefined;
    return (await this.#context.tokenize(prompt)).tokens.length;
  }

  /** Begins an answer to a conversation that was measured. */
  begin(
    answer: number,
    conversation: Conversation,
    sampling: LlamaSampling,
    send: (message: FromLlama) => void,
  ): void {
    const prompt = this.#promptOf(conversation);
    if (prompt === undefined) {
      send({ kind: 'refused', answer });
      return;
    }
    let said = '';
    const { requestId } = this.#context.queueCompletion(
      { prompt, ...this.#completion(sampling) },
      (error, event) => {
        // What was forgotten may have one more token.
        if (this.#requests.get(answer) !== requestId) return;
        if (!error && 'token' in event) {
          if (sampling.ending !== undefined) said += event.token;
          send({ kind: 'said', answer, text: event.token });
          return;
        }
        this.#requests.delete(answer);
        const end = error || 'token' in event ? { kind: 'failed' as const, answer } : endOf(answer, event);
        if (end.kind === 'ended' && !end.complete && sampling.ending !== undefined) {
          const text = endOfCut(sampling.ending, said);
          if (text) send({ kind: 'said', answer, text });
        }
        send(end);
      },
    );
    this.#requests.set(answer, requestId);
  }

  /** Ends an answer; undefined when it had ended. */
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

  /** Stops an answer. Resolves when the model has computed since: the library never says that it let go of one. */
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

  /** @throws Error for a conversation that the template refuses. */
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

  /** Without control words, in whatever text there is. */
  #plain<Part>(parts: readonly Part[]): readonly Part[] {
    const text = JSON.stringify(parts);
    const plain = withoutControlWords(text, this.#controlWords);
    // Hardly ever there are any: then nothing is read again.
    return plain === text ? parts : JSON.parse(plain);
  }

  #completion(sampling: LlamaSampling): Omit<NativeCompletion, 'prompt'> {
    const { temperature = TEMPERATURE, topP = TOP_P, seed, grammar } = sampling;
    return {
      n_predict: sampling.maxTokens,
      temperature,
      // Zero is the likeliest token, whatever the library makes of it.
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

function endOf(answer: number, result: NativeResult): FromLlama {
  const complete = result.stopped_eos || result.stopped_word;
  // A batch that could not be computed ends without a reason.
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

/** The library makes a grammar of its own of each tool, which is not used, and fails at patterns that it does not know. */
function withoutPatterns(tool: NativeTool): NativeTool {
  const text = JSON.stringify(tool, (key, value: unknown) =>
    key === 'pattern' && typeof value === 'string' ? undefined : value,
  );
  return JSON.parse(text);
}
