/** The weights, tokenizer and chat template of a language model. */

import { setImmediate as nextTick } from 'node:timers/promises';
import type { OrtProvider } from '../../../contract/core/settings.ts';
import type { Conversation } from '../shared/conversation.ts';
import { type GgufValue, readGgufMetadata } from '../shared/gguf-metadata.ts';
import { permitsPieces, textPieces } from '../shared/text-pieces.ts';
import {
  minTokens,
  NO_TOKEN_BOUNDS,
  type TokenBounds,
  type TokenCount,
  tokenBounds,
} from '../shared/token-bounds.ts';
import { ChatTemplate, correctedTemplate } from './chat-template.ts';
import { type LlamaBinding, loadBinding, type NativeGrammarState, type NativeModel } from './native.ts';

/** Length of a piece of a prompt. It is converted in about 30 ms. */
const PIECE_LENGTH = 2048;
/** More layers than any model has: the GPU computes all of them. */
const ALL_LAYERS = 999;

export interface LlamaModelOptions {
  /** Path of a GGUF file. */
  readonly file: string;
  readonly provider: OrtProvider;
  /** Jinja template that replaces the template of the file. */
  readonly chatTemplate: string | undefined;
}

/**
 * Loads a model. A damaged file may terminate the process.
 * @throws Error when llama.cpp, a device or a chat template is missing, or the file is not a supported GGUF file.
 */
export async function loadLlamaModel(options: LlamaModelOptions): Promise<LlamaModel> {
  const { file, provider } = options;
  const metadata = await readGgufMetadata(file);
  const template = options.chatTemplate ?? metadata.get('tokenizer.chat_template');
  if (typeof template !== 'string') throw new Error(`The language model ${file} has no chat template.`);
  const binding = await loadBinding(provider);
  const gpuLayers = provider === 'cuda' ? ALL_LAYERS : 0;
  const native = new binding.AddonModel(file, { addonExports: binding, gpuLayers, useMmap: true });
  if (!(await native.init())) throw new Error(`llama.cpp cannot read ${file}.`);
  return new LlamaModel(binding, native, template, metadata);
}

export class LlamaModel {
  readonly binding: LlamaBinding;
  readonly native: NativeModel;
  readonly template: ChatTemplate;
  /** Maximum context length in tokens; undefined if the file does not name it. */
  readonly trainedTokens: number | undefined;
  readonly tokenBounds: TokenBounds;
  readonly #permitsPieces: boolean;
  readonly #beginToken: number | undefined;
  /** Control tokens that are part of a tool call and therefore have a text. */
  readonly #syntaxTokens: ReadonlySet<number>;

  constructor(
    binding: LlamaBinding,
    native: NativeModel,
    template: string,
    metadata: ReadonlyMap<string, GgufValue>,
  ) {
    this.binding = binding;
    this.native = native;
    const trained = Number(metadata.get(`${metadata.get('general.architecture')}.context_length`));
    this.trainedTokens = trained > 0 ? trained : undefined;
    this.#beginToken = native.shouldPrependBosToken() ? native.tokenBos() : undefined;
    this.template = new ChatTemplate({
      template: new binding.AddonJinjaRenderer(correctedTemplate(template)),
      beginToken: native.getTokenString(native.tokenBos()),
      endToken: native.getTokenString(native.tokenEos()),
      countTokens: (text) => this.tokenize(text).length,
    });
    const { opens = '', between = '', closes = '' } = this.template.toolCallSyntax ?? {};
    this.#syntaxTokens = new Set([opens, between, closes].flatMap((text) => [...this.tokenize(text)]));
    const texts = this.#tokenTexts(Number(metadata.get('tokenizer.ggml.tokens') ?? 0));
    this.tokenBounds = boundsOf(texts);
    // `gpt2`: byte-pair encoding. Other tokenizers treat the start of a text differently.
    this.#permitsPieces = metadata.get('tokenizer.ggml.model') === 'gpt2' && permitsPieces(texts);
  }

  /**
   * Tokens of a conversation up to the start of the response.
   * Long texts are converted in pieces, between which the event loop runs, so that steps of other responses can start.
   * @param maxTokens the conversion stops when there are more.
   * @returns their number if there are too many; undefined if the chat template does not support the conversation.
   */
  async promptTokens(
    conversation: Conversation,
    maxTokens: number,
  ): Promise<Uint32Array | TokenCount | undefined> {
    const text = this.template.render(conversation);
    if (text === undefined) return undefined;
    const least = minTokens([text], this.tokenBounds);
    if (least > maxTokens) return `at least ${least}`;
    const converted: Uint32Array[] = [];
    let tokens = 0;
    for (const piece of this.#permitsPieces ? textPieces(text, PIECE_LENGTH) : [text]) {
      if (converted.length > 0) await nextTick();
      const next = converted.length === 0 ? this.tokenize(piece) : this.native.tokenize(piece, true);
      converted.push(next);
      tokens += next.length;
      if (tokens > maxTokens) return `at least ${tokens}`;
    }
    return concatenated(converted, tokens);
  }

  /** Tokens of a text, in which the text of a control token is one token. */
  tokenize(text: string): Uint32Array {
    const tokens = this.native.tokenize(text, true);
    const begin = this.#beginToken;
    return begin === undefined || tokens[0] === begin ? tokens : Uint32Array.of(begin, ...tokens);
  }

  /** Text of the tokens of a response. An incomplete character becomes U+FFFD. */
  detokenize(tokens: readonly number[]): string {
    const special = tokens.some((token) => this.#syntaxTokens.has(token));
    return this.native.detokenize(Uint32Array.from(tokens), special);
  }

  /** @param size number of tokens of the vocabulary; 0 if the file does not name them. */
  #tokenTexts(size: number): readonly string[] {
    return Array.from({ length: size }, (_, token) => this.native.detokenize(Uint32Array.of(token), true));
  }

  /** @throws Error for an invalid grammar. */
  grammarState(gbnf: string): NativeGrammarState {
    const { AddonGrammar, AddonGrammarEvaluationState } = this.binding;
    const grammar = new AddonGrammar(gbnf, { addonExports: this.binding, rootRuleName: 'root' });
    return new AddonGrammarEvaluationState(this.native, grammar);
  }
}

function boundsOf(texts: readonly string[]): TokenBounds {
  if (texts.length === 0) return NO_TOKEN_BOUNDS;
  const { bytes, spaceBytes, wordBytes } = tokenBounds(texts);
  // Some tokenizers omit the space before the first word of a text.
  return { bytes: bytes + 1, spaceBytes: spaceBytes + 1, wordBytes };
}

function concatenated(parts: readonly Uint32Array[], length: number): Uint32Array {
  const whole = new Uint32Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
