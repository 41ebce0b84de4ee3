import { useCallback, useEffect, useRef, useState } from 'react';
import { LoudnessTrack } from '../display/loudness-track.ts';
import type { Samples } from '../pcm.ts';
import { Microphone } from './microphone.ts';
import { RecordingBuffer } from './recording-buffer.ts';

export interface Recorded {
  readonly file: File;
  readonly seconds: number;
  /** User-facing advice about the level. */
  readonly advice: string | undefined;
}

export interface Recorder {
  readonly phase: 'idle' | 'opening' | 'recording';
  readonly seconds: number;
  /** Why the microphone is unavailable. */
  readonly error: string | undefined;
  /** Loudness of the recording. */
  readonly track: LoudnessTrack;
  start(): void;
  stop(): void;
}

const IDLE = { phase: 'idle', seconds: 0, error: undefined } as const;

/**
 * Records unprocessed microphone audio. Stops at `maxSeconds` and when the component unmounts.
 * @param onRecorded called with the finished recording.
 */
export function useRecorder(maxSeconds: number, onRecorded: (recorded: Recorded) => void): Recorder {
  const [state, setState] = useState<Pick<Recorder, 'phase' | 'seconds' | 'error'>>(IDLE);
  const [track] = useState(() => new LoudnessTrack());
  const running = useRef<RecordingSession>(undefined);
  const done = useRef(onRecorded);
  done.current = onRecorded;
  useEffect(() => () => running.current?.close(), []);
  const start = useCallback(() => {
    running.current?.close();
    track.clear();
    setState({ ...IDLE, phase: 'opening' });
    running.current = new RecordingSession(maxSeconds, {
      onBlock(block, buffer) {
        track.add(block, buffer.rateHz);
        setState({ ...IDLE, phase: 'recording', seconds: buffer.seconds });
      },
      onEnd(buffer) {
        setState(IDLE);
        if (buffer.seconds === 0) return;
        done.current({
          file: buffer.file('recording.wav'),
          seconds: buffer.seconds,
          advice: buffer.advice(),
        });
      },
      onError: (error) => setState({ ...IDLE, error }),
    });
  }, [maxSeconds, track]);
  const stop = useCallback(() => running.current?.stop(), []);
  return { ...state, track, start, stop };
}

interface RecordingListener {
  onBlock(block: Samples, buffer: RecordingBuffer): void;
  onEnd(buffer: RecordingBuffer): void;
  onError(words: string): void;
}

/** One recording, from the request for the microphone to its end. */
class RecordingSession {
  readonly #abort = new AbortController();
  readonly #maxSeconds: number;
  readonly #listener: RecordingListener;
  #microphone: Microphone | undefined;
  #buffer: RecordingBuffer | undefined;

  constructor(maxSeconds: number, listener: RecordingListener) {
    this.#maxSeconds = maxSeconds;
    this.#listener = listener;
    void this.#open();
  }

  async #open(): Promise<void> {
    const { signal } = this.#abort;
    const listener = {
      onBlock: (block: Samples) => this.#take(block),
      onEnd: (words: string) => this.#fail(words),
    };
    try {
      const microphone = await Microphone.open('voice-clip', listener, signal);
      this.#microphone = microphone;
      this.#buffer = new RecordingBuffer(microphone.rateHz, this.#maxSeconds);
    } catch (error) {
      if (!signal.aborted) this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  #take(block: Samples): void {
    const buffer = this.#buffer;
    if (buffer === undefined) return;
    buffer.add(block);
    this.#listener.onBlock(block, buffer);
    if (buffer.isFull) this.stop();
  }

  #fail(words: string): void {
    this.close();
    this.#listener.onError(words);
  }

  /** Finishes the recording; cancels it if the microphone is not open yet. */
  stop(): void {
    const buffer = this.#buffer ?? new RecordingBuffer(1, 0);
    this.close();
    this.#listener.onEnd(buffer);
  }

  /** Discards the recording without a notification. */
  close(): void {
    this.#abort.abort();
    this.#microphone?.close();
    this.#microphone = undefined;
    this.#buffer = undefined;
  }
}
