import type { TtsEngine } from './engine.ts';

/** A speech model that needs much less computing time than the default one. */
export interface FastSpeech {
  /**
   * Downloads and loads the model with the first call.
   * @throws ModelFetchError if its files cannot be downloaded; Error if it cannot be loaded. The next call tries again.
   */
  open(): Promise<TtsEngine>;
}
