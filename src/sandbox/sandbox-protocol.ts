/**
 * Protocol between the main process and a Python process: JSON lines over standard input and output. Unlike structured
 * clone IPC, JSON from a compromised process is safe to parse.
 */

/** Maximum program length in characters. */
export const MAX_CODE_CHARACTERS = 200_000;
/** Maximum output of a program in bytes of UTF-8; the rest is discarded. */
export const MAX_LOG_BYTES = 64 * 1024;
/** Maximum length of `repr()` of a value and of a traceback, in characters. */
export const MAX_REPR_CHARACTERS = 8192;

export interface ToPython {
  readonly code: string;
}

export type FromPython =
  /** Python has started, perhaps from its memory snapshot, and the process is confined. */
  | { readonly kind: 'ready'; readonly restored: boolean }
  | { readonly kind: 'output'; readonly text: string }
  | {
      readonly kind: 'finished';
      readonly result?: string | undefined;
      readonly error?: string | undefined;
      /** Whether the output was truncated. */
      readonly truncated: boolean;
    };

/** Serializes a message as a line. */
export function lineOf(message: ToPython | FromPython): string {
  return `${JSON.stringify(message)}\n`;
}
