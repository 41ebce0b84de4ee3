/** What an inference process is told to load. Plain data: it crosses to the process as a message. */

export interface PiperSpec {
  readonly kind: 'piper';
  /** Path of the voice's graph. */
  readonly model: string;
  /** Path of the voice's settings. */
  readonly settings: string;
}

export type ModelSpec = PiperSpec;
