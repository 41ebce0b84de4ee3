/** The interface of a language of text to speech. Each language has a folder that implements it. */

/** A spoken word with its punctuation. */
export interface SpokenFormWord {
  /** Not empty, without white space. Some words consist of a dash only. */
  readonly text: string;
  /** Position in the source text of what the word comes from. */
  readonly source: number;
}

/** The phonemes of a text in the symbols of a model, with punctuation. */
export interface Pronunciation {
  /** Empty if the text has no speakable content. */
  readonly phonemes: string;
  /**
   * For each symbol of the phonemes, the position in the text of the word that it belongs to; undefined for punctuation
   * and spaces between words.
   */
  readonly sources: readonly (number | undefined)[];
}

/** Grapheme-to-phoneme conversion, including the normalization of the text. */
export interface G2p {
  /** Linear in the length of the text. @throws the errors of {@link EspeakNg}. */
  phonemize(text: string): Promise<Pronunciation>;
}

/** The symbols that a model supports. */
export interface SymbolSet {
  has(symbol: string): boolean;
}

/**
 * eSpeak NG: returns the phonemes of each clause in IPA, with stress marks and with `^` between the letters of one sound.
 * @param voice language of eSpeak, such as `pt-br`.
 * @param clauses without punctuation.
 * @throws Error if it cannot answer.
 */
export type EspeakNg = (voice: string, clauses: readonly string[]) => Promise<readonly string[]>;

/** What a conversion to the symbols of Kokoro needs. */
export interface G2pResources {
  /** Symbols of the model. Others are dropped. */
  readonly symbols: SymbolSet;
  /** Paths of the files of a catalog entry, by name. @throws Error for a missing file. */
  readonly files: (entry: string) => Readonly<Record<string, string>>;
  readonly espeak: EspeakNg;
  /** The conversion of American English, for words in Latin letters within another script. */
  readonly english: () => Promise<G2p>;
}

/** A voice of Kokoro that voices of other languages get a share of. */
export interface AccentVoice {
  readonly name: string;
  /** Share of the voice, above 0 and at most 1. */
  readonly share: number;
  /** Median pitch of its speech in Hz, so that other voices keep theirs. Absent: it is not understood at another pitch. */
  readonly pitchHz?: number;
}

/** What voices of other languages need so that their speech in a language is understood (docs/decisions/accents.md). */
export interface KokoroAccent {
  /** For female voices, and for male ones. */
  readonly female: AccentVoice;
  readonly male: AccentVoice;
}

/** A language: its front end of text to speech. */
export interface TextFrontEnd {
  /** BCP 47 tag, such as `pt-BR`. */
  readonly language: string;
  /** English name. */
  readonly name: string;
  /** Further tags in lower case that this language also speaks: `pt`. Regions that no language names need none. */
  readonly aliases: readonly string[];
  /** Letters of its script, as a global pattern; absent: Latin. */
  readonly letters?: RegExp;
  /** Language of eSpeak NG. */
  readonly espeakVoice: string;
  /**
   * Voice of Kokoro for requests that name the language and no voice. The first letter of its name marks all voices of the
   * language, unless it {@link borrowsKokoroVoice}.
   */
  readonly kokoroVoice: string;
  /** Kokoro has no voice of the language: `kokoroVoice` is one of a language that sounds similar. */
  readonly borrowsKokoroVoice?: true;
  /** Absent: voices of other languages are understood as they are. */
  readonly kokoroAccent?: KokoroAccent;
  /** The spoken form of a text: numbers, dates, amounts and abbreviations in words. Does not throw. Linear. */
  words(text: string): SpokenFormWord[];
  /** Opens the conversion to the symbols of Kokoro. @throws Error for a missing dictionary. */
  openKokoroG2p(resources: G2pResources): Promise<G2p>;
}
