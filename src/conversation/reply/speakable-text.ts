/**
 * Converts the Markdown of a language model to text that can be spoken, while it arrives: markers, link targets, tags and emoji
 * are removed, and lines of lists, headings and tables become sentences. Code blocks are not spoken.
 */

/** Maximum length of a link or tag that is held until it is complete. */
const MAX_OPEN_CHARACTERS = 300;

const FENCE = /^ {0,3}(```|~~~)/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const TABLE_RULE = /^[\s:|-]*-[\s:|-]*$/;
/** Quote marks, then a heading, list item or task at the start of a line. */
const BLOCK_MARKER = /^\s*(?:>\s?)*((?:#{1,6}\s+|[-*+•]\s+|\d{1,3}[.)]\s+)(?:\[[ xX]\]\s+)?)?/;
/** A start of a line that may still become a block marker, a fence, a rule or a table. */
const OPEN_LINE_START = /^[\s>]*(?:#{0,6}|[-*+•_`~\s]*|\d{0,3}[.)]?)\s*$/;
/** The start of a link, image, tag, emphasis or escape, whose meaning depends on the following text. */
const OPEN_CONSTRUCT =
  /(?:!?\[[^\]\n]*(?:\](?:\([^)\n]*)?)?|!|<[^<>\n]*|[*_~`]+|\\|[\p{Extended_Pictographic}\u{1F1E6}-\u{1F1FF}](?:\p{Emoji_Modifier}|\u{FE0F}|\u{200D}|\p{Extended_Pictographic})*)$/u;
/** A pictograph with its modifiers and those joined to it, or a letter of a flag. */
const EMOJI =
  /[\p{Extended_Pictographic}\u{1F1E6}-\u{1F1FF}](?:\p{Emoji_Modifier}|\u{FE0F}|\u{200D}|\p{Extended_Pictographic})*/gu;
const SENTENCE_END = /[.!?:;,…。！？।][)"'”’»]*$/u;
const WORD_CHARACTER = /[\p{L}\p{N}]/u;

type LineKind =
  /** The start of the line does not decide yet what it is. */
  | 'undecided'
  | 'paragraph'
  /** A heading or list item, which ends like a sentence. */
  | 'item'
  | 'table';

export class SpeakableText {
  /** Received text of the current line that is not converted yet. */
  #line = '';
  #kind: LineKind = 'undecided';
  /** Whether a code block is open, and its marker. */
  #fence: string | undefined;
  /** End of the converted text of the current line. */
  #converted = '';

  /** Adds text. @returns the speakable text that it completes. */
  push(text: string): string {
    const [first = '', ...lines] = text.split('\n');
    let output = this.#add(first);
    for (const line of lines) output += this.#endLine() + this.#add(line);
    return output;
  }

  /** Ends the text. @returns the rest. A later push starts a new text. */
  end(): string {
    const rest = this.#endLine();
    this.#fence = undefined;
    return rest.trimEnd();
  }

  /** Converts the part of the current line that later text cannot change. */
  #add(text: string): string {
    this.#line += text;
    if (this.#kind === 'undecided') {
      const isOpen = OPEN_LINE_START.test(this.#line) || FENCE.test(this.#line);
      if (this.#fence !== undefined || isOpen) return '';
      this.#startLine();
    }
    // The line below the header of a table is not spoken, which its end decides.
    if (this.#kind === 'table') return '';
    const openAt = OPEN_CONSTRUCT.exec(this.#line)?.index ?? this.#line.length;
    const isTooLong = this.#line.length - openAt > MAX_OPEN_CHARACTERS;
    return this.#convert(isTooLong ? this.#line.length : openAt);
  }

  #endLine(): string {
    const output = this.#restOfLine();
    this.#line = '';
    this.#kind = 'undecided';
    this.#converted = '';
    return output;
  }

  #restOfLine(): string {
    if (this.#kind === 'undecided') {
      const fence = FENCE.exec(this.#line)?.[1];
      if (this.#fence !== undefined) {
        if (fence === this.#fence) this.#fence = undefined;
        return '';
      }
      this.#fence = fence;
      if (fence !== undefined || RULE.test(this.#line)) return '';
      this.#startLine();
    }
    if (this.#kind === 'table') {
      if (TABLE_RULE.test(this.#line)) return '';
      const cells = this.#line.split('|').map((cell) => cell.trim());
      this.#line = cells.filter((cell) => cell !== '').join(', ');
    }
    const rest = this.#convert(this.#line.length);
    const needsStop = this.#kind !== 'paragraph' && this.#converted !== '';
    const stop = needsStop && !SENTENCE_END.test(this.#converted) ? '.' : '';
    return `${rest.trimEnd()}${stop}\n`;
  }

  /** Removes the block marker of the line. */
  #startLine(): void {
    const [marker = '', item] = BLOCK_MARKER.exec(this.#line) ?? [];
    this.#line = this.#line.slice(marker.length);
    const isTable = this.#line.startsWith('|');
    this.#kind = isTable ? 'table' : item === undefined ? 'paragraph' : 'item';
  }

  /** Converts the first characters of the pending line. */
  #convert(length: number): string {
    const spoken = withoutMarkup(this.#line.slice(0, length), this.#converted);
    this.#line = this.#line.slice(length);
    this.#converted = `${this.#converted}${spoken}`.trimEnd().slice(-8);
    return spoken;
  }
}

/** Removes inline markers, link targets, tags and emoji. @param before preceding text of the line. */
function withoutMarkup(text: string, before: string): string {
  return text
    .replace(/!?\[([^\]\n]*)\]\([^)\n]*\)/g, '$1')
    .replace(/\[\^?\d{1,3}\]/g, '')
    .replace(/<(https?:\/\/[^<>\s]+)>/g, '$1')
    .replace(/<\/?[a-zA-Z][^<>]*>/g, '')
    .replace(
      /\\([\\`*_{}[\]()#+.!~|>-])|\*+|_+|~~|`+/g,
      (mark, escaped: string | undefined, at, whole) =>
        escaped ??
        (isOperator(mark, at === 0 ? before : whole.slice(0, at), whole.slice(at + mark.length)) ? mark : ''),
    )
    .replace(EMOJI, '');
}

/** Whether a mark is a character of the text: a multiplication sign, or an underscore inside a name. */
function isOperator(mark: string, before: string, after: string): boolean {
  const [left, right] = [before.at(-1) ?? '', after.at(0) ?? ''];
  if (mark === '*') return /[\d\s)]/.test(left) && /[\d\s(]/.test(right) && /\d\s*$/.test(before);
  return mark.startsWith('_') && WORD_CHARACTER.test(left) && WORD_CHARACTER.test(right);
}
