/** A speech model that is downloaded and loaded when it is needed for the first time. */

import type { TtsEngine } from '../../contract/engines/engine.ts';
import type { FastSpeech } from '../../contract/engines/fast-speech.ts';
import type { SharedDownload } from './shared-download.ts';

export interface OnDemandSpeechOptions {
  readonly download: SharedDownload;
  /** Loads the model from its files on disk. */
  readonly load: () => Promise<TtsEngine>;
}

export class OnDemandSpeech implements FastSpeech {
  readonly #options: OnDemandSpeechOptions;
  #opening: Promise<TtsEngine> | undefined;

  constructor(options: OnDemandSpeechOptions) {
    this.#options = options;
  }

  open(): Promise<TtsEngine> {
    this.#opening ??= this.#load();
    return this.#opening;
  }

  async #load(): Promise<TtsEngine> {
    const { download, load } = this.#options;
    try {
      if (!download.isOnDisk()) await download.run();
      return await load();
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  /** Stops the download. */
  close(): Promise<void> {
    return this.#options.download.close();
  }
}
