/** BERT's uncased WordPiece tokenizer (Devlin et al. 2018) with the vocabulary of `bert-base-uncased`. */

import { Tokenizer } from '@huggingface/tokenizers';

/**
 * Longer texts are not tokenized, which would take long: they exceed the token limit, because a token seldom has more than
 * 20 characters.
 */
const MAX_CHARACTERS = 50_000;

export class WordPieceTokenizer {
  readonly size: number;
  readonly #tokenizer: Tokenizer;
  readonly #clsId: number;
  readonly #sepId: number;

  /**
   * @param vocabulary all tokens, ordered by id, in the format of TensorFlow.js: tokens at the start of a word have the
   *   prefix `▁`, continuation tokens have no prefix.
   * @throws Error when [UNK], [CLS] or [SEP] is missing.
   */
  constructor(vocabulary: readonly string[]) {
    const ids = new Map(vocabulary.map((token, id) => [toBertToken(token), id]));
    const idOf = (token: string) => {
      const id = ids.get(token);
      if (id === undefined) throw new Error(`the vocabulary lacks the token ${token}`);
      return id;
    };
    idOf('[UNK]');
    this.#clsId = idOf('[CLS]');
    this.#sepId = idOf('[SEP]');
    this.size = vocabulary.length;
    this.#tokenizer = new Tokenizer(
      {
        // No special tokens: `[SEP]` in a text is ordinary text.
        added_tokens: [],
        normalizer: {
          type: 'BertNormalizer',
          clean_text: true,
          handle_chinese_chars: true,
          strip_accents: null,
          lowercase: true,
        },
        pre_tokenizer: { type: 'BertPreTokenizer' },
        post_processor: null,
        decoder: null,
        model: {
          type: 'WordPiece',
          unk_token: '[UNK]',
          continuing_subword_prefix: '##',
          max_input_chars_per_word: 100,
          vocab: Object.fromEntries(ids),
        },
      },
      {},
    );
  }

  /**
   * Tokenizes an input and encloses it in [CLS] and [SEP], unless its ids are already enclosed.
   * @returns undefined for more than `maxTokens` tokens.
   */
  encode(input: string | readonly number[], maxTokens: number): readonly number[] | undefined {
    const ids = typeof input === 'string' ? this.#tokenize(input) : input;
    if (ids === undefined) return undefined;
    const enclosed =
      typeof input !== 'string' && ids.at(0) === this.#clsId && ids.at(-1) === this.#sepId && ids.length > 1
        ? ids
        : [this.#clsId, ...ids, this.#sepId];
    return enclosed.length <= maxTokens ? enclosed : undefined;
  }

  #tokenize(text: string): number[] | undefined {
    if (text.length > MAX_CHARACTERS) return undefined;
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }
}

function toBertToken(token: string): string {
  // This token has no equivalent in the format of TensorFlow.js.
  if (token === '▁') return '[unused0]';
  if (token.startsWith('▁')) return token.slice(1);
  return /^\[.+\]$/.test(token) ? token : `##${token}`;
}
