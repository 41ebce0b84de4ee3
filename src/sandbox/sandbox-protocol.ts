/**
 * What the serving process and a Python process say to each other: lines of JSON over its standard input and
 * output, because JSON from a process that somebody may have taken over is only text.
 */

/** Longest program, in characters. */
export const MAX_CODE_CHARACTERS = 200_000;
/** What a program may print, in bytes of UTF-8; the rest is dropped. */
export const MAX_LOG_BYTES = 64 * 1024;
/** Longest `repr()` of a value and longest traceback, in characters. */
export const MAX_REPR_CHARACTERS = 8192;

export interface ToPython {
  readonly code: string;
}

export type FromPython =
  /** Python has started and nothing of the machine is left in reach. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'printed'; readonly text: string }
  | {
      readonly kind: 'ended';
      readonly result?: string | undefined;
      readonly error?: string | undefined;
      /** Whether it printed more than it may. */
      readonly cut: boolean;
    };

/** One message as a line. */
export function lineOf(message: ToPython | FromPython): string {
  return `${JSON.stringify(message)}\n`;
}
