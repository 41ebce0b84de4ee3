import { useCallback, useEffect, useRef, useState } from 'react';
import type { ServiceClient } from '../../client/service-client.ts';
import { type ServiceError, toServiceError } from '../../client/service-error.ts';
import { LoudnessTrack } from '../display/loudness-track.ts';
import type { Samples } from '../pcm.ts';
import { wavFile } from '../wav.ts';
import { Player } from './player.ts';
import { SPEECH_RATE_HZ, type SpeechParams, speak } from './speech-request.ts';
import type { SpokenWord } from './spoken-words.ts';

export interface Speech {
  /** `playing`: all audio was received and is still playing. */
  readonly phase: 'idle' | 'requested' | 'receiving' | 'playing' | 'finished';
  readonly error: ServiceError | undefined;
  readonly isStopped: boolean;
  /** Seconds from the request to the first and to the last audio. */
  readonly firstS: number | undefined;
  readonly totalS: number | undefined;
  readonly lengthS: number;
  /** The words so far. */
  readonly words: readonly SpokenWord[];
  /** The complete audio as WAV, once the request is finished. */
  readonly file: Blob | undefined;
  /** What can be downloaded: the file of the response, or the streamed audio as WAV. */
  readonly download: { readonly file: Blob; readonly extension: string } | undefined;
  readonly requestId: string | null;
}

const NOTHING: Speech = {
  phase: 'idle',
  error: undefined,
  isStopped: false,
  firstS: undefined,
  totalS: undefined,
  lengthS: 0,
  words: [],
  file: undefined,
  download: undefined,
  requestId: null,
};

/**
 * Synthesizes and plays one text at a time. Cancelled when the component unmounts. `playedS` returns the seconds that the user
 * has heard; undefined when nothing is playing.
 */
export function useSpeech(client: ServiceClient) {
  const [speech, setSpeech] = useState(NOTHING);
  const [track] = useState(() => new LoudnessTrack());
  const running = useRef<SpeechSession>(undefined);
  useEffect(() => () => running.current?.close(), []);
  const start = useCallback(
    (params: SpeechParams) => {
      running.current?.close();
      track.clear();
      setSpeech({ ...NOTHING, phase: 'requested' });
      const tell = (change: Partial<Speech>) => setSpeech((before) => ({ ...before, ...change }));
      running.current = new SpeechSession(client, params, track, tell);
    },
    [client, track],
  );
  const stop = useCallback(() => running.current?.stop(), []);
  const playedS = useCallback(() => running.current?.playedS, []);
  return { speech, track, start, stop, playedS };
}

/** One request and its playback. */
class SpeechSession {
  readonly #abort = new AbortController();
  readonly #track: LoudnessTrack;
  readonly #tell: (change: Partial<Speech>) => void;
  readonly #startMs = performance.now();
  readonly #chunks: Samples[] = [];
  readonly #player = new Player(SPEECH_RATE_HZ, () => this.#silent());
  #rateHz = 0;
  readonly #format: SpeechParams['format'];
  #received: Blob | undefined;
  #words: readonly SpokenWord[] = [];
  #samples = 0;
  #hasAll = false;

  constructor(
    client: ServiceClient,
    params: SpeechParams,
    track: LoudnessTrack,
    tell: (change: Partial<Speech>) => void,
  ) {
    this.#track = track;
    this.#format = params.format;
    this.#tell = tell;
    void this.#run(client, params);
  }

  async #run(client: ServiceClient, params: SpeechParams): Promise<void> {
    const { signal } = this.#abort;
    const listener = {
      onResponse: (requestId: string | null) => this.#tell({ requestId, phase: 'receiving' }),
      onSamples: (samples: Samples, rateHz: number) => this.#take(samples, rateHz),
      onWords: (words: readonly SpokenWord[]) => {
        this.#words = [...this.#words, ...words];
        this.#tell({ words: this.#words });
      },
      onFile: (file: Blob) => {
        this.#received = file;
      },
    };
    try {
      await speak(client, params, listener, signal);
      this.#complete({ totalS: this.#elapsedS });
    } catch (error) {
      if (!signal.aborted) this.#complete({ error: toServiceError(error) });
    }
  }

  #take(samples: Samples, rateHz: number): void {
    if (samples.length === 0) return;
    if (this.#samples === 0) this.#tell({ firstS: this.#elapsedS });
    this.#rateHz = rateHz;
    this.#chunks.push(samples);
    this.#samples += samples.length;
    this.#player.play(samples, rateHz);
    this.#track.add(samples, rateHz);
    this.#tell({ lengthS: this.#samples / rateHz });
  }

  /** All audio was received. */
  #complete(change: Partial<Speech>): void {
    this.#hasAll = true;
    const file = this.#samples === 0 ? undefined : wavFile(this.#chunks, this.#rateHz);
    const extension = this.#received === undefined ? 'wav' : this.#format;
    const downloaded = this.#received ?? file;
    const download = downloaded && { file: downloaded, extension };
    this.#tell({ ...change, file, download, phase: this.#player.playing ? 'playing' : 'finished' });
  }

  #silent(): void {
    if (this.#hasAll) this.#tell({ phase: 'finished' });
  }

  get playedS(): number | undefined {
    return this.#player.playing ? this.#player.playedMs / 1000 : undefined;
  }

  get #elapsedS(): number {
    return (performance.now() - this.#startMs) / 1000;
  }

  /** Stops the request and the playback; received audio is retained. */
  stop(): void {
    this.#abort.abort();
    this.#player.stop();
    if (!this.#hasAll) this.#complete({ isStopped: true });
    this.#tell({ phase: 'finished' });
  }

  close(): void {
    this.#abort.abort();
    this.#player.close();
  }
}
