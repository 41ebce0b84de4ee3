/** The messages between an inference process and its eSpeak process, after the load. */

/** The files of eSpeak NG: the wheel of the model cache, which is unpacked once on a machine. */
export interface LoadEspeakLibrary {
  readonly modelsDir: string;
}

export interface ToEspeak {
  /** Language of eSpeak, such as `fr-fr`. */
  readonly voice: string;
  /** Texts without punctuation. */
  readonly clauses: readonly string[];
}

/** The phonemes of each clause, in IPA with `^` between the letters of one sound; or undefined for an unknown voice. */
export interface FromEspeak {
  readonly clauses: readonly string[] | undefined;
}

/** Characters of all clauses of a request. A sentence of synthesis has at most 600 before its numbers are written out. */
export const MAX_REQUEST_CHARACTERS = 32_000;
