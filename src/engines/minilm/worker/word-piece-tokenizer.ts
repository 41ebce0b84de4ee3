/** BERT's uncased WordPiece (Devlin et al. 2018), as `bert-base-uncased` has it, by Hugging Face's tokenizers. */

import { Tokenizer } from '@huggingface/tokenizers';

/**
 * Characters beyond which a text is not looked at: a token seldom has more than 20, and a text of so many would
 * take long to read.
 */
const MAX_CHARACTERS = 50_000;

/** Texts to token ids. */
export class WordPieces {
  readonly size: number;
  readonly #tokenizer: Tokenizer;
  readonly #begin: number;
  readonly #end: number;

  /**
   * @param vocabulary every token by its id, in the form of TensorFlow.js: tokens that begin a word have `▁` before
   *   them, those that go on with one have nothing.
   * @throws Error when it lacks a token that every text needs.
   */
  constructor(vocabulary: readonly string[]) {
    const ids = new Map(vocabulary.map((token, id) => [bertForm(token), id]));
    const idOf = (token: string) => {
      const id = ids.get(token);
      if (id === undefined) throw new Error(`the vocabulary has no ${token}`);
      return id;
    };
    idOf('[UNK]');
    this.#begin = idOf('[CLS]');
    this.#end = idOf('[SEP]');
    this.size = vocabulary.length;
    this.#tokenizer = new Tokenizer(
      {
        // None is added: `[SEP]` in a text is four words.
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
   * The tokens of a text between those that begin and end one; undefined when they are more than `most`.
   * Ids that are enclosed already stay as they are.
   */
  idsOf(input: string | readonly number[], most: number): readonly number[] | undefined {
    const ids = typeof input === 'string' ? this.#encoded(input) : input;
    if (ids === undefined) return undefined;
    const enclosed =
      typeof input !== 'string' && ids.at(0) === this.#begin && ids.at(-1) === this.#end && ids.length > 1
        ? ids
        : [this.#begin, ...ids, this.#end];
    return enclosed.length <= most ? enclosed : undefined;
  }

  #encoded(text: string): number[] | undefined {
    if (text.length > MAX_CHARACTERS) return undefined;
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }
}

function bertForm(token: string): string {
  // The one token whose name the other form has no place for.
  if (token === '▁') return '[unused0]';
  if (token.startsWith('▁')) return token.slice(1);
  return /^\[.+\]$/.test(token) ? token : `##${token}`;
}
