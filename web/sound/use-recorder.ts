import { useCallback, useEffect, useRef, useState } from 'react';
import { LoudnessTrack } from './loudness-track.ts';
import { Microphone } from './microphone.ts';
import type { Samples } from './pcm.ts';
import { Tape } from './tape.ts';

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
  readonly fault: string | undefined;
  /** Loudness of the recording. */
  readonly track: LoudnessTrack;
  start(): void;
  stop(): void;
}

const IDLE = { phase: 'idle', seconds: 0, fault: undefined } as const;

/**
 * Records unprocessed microphone audio. Stops at `maxSeconds` and when the component unmounts.
 * @param onRecorded called with the finished recording.
 */
export function useRecorder(maxSeconds: number, onRecorded: (recorded: Recorded) => void): Recorder {
  const [state, setState] = useState<Pick<Recorder, 'phase' | 'seconds' | 'fault'>>(IDLE);
  const [track] = useState(() => new LoudnessTrack());
  const running = useRef<Take>(undefined);
  const done = useRef(onRecorded);
  done.current = onRecorded;
  useEffect(() => () => running.current?.close(), []);
  const start = useCallback(() => {
    running.current?.close();
    track.clear();
    setState({ ...IDLE, phase: 'opening' });
    running.current = new Take(maxSeconds, {
      onBlock(block, tape) {
        track.add(block, tape.rateHz);
        setState({ ...IDLE, phase: 'recording', seconds: tape.seconds });
      },
      onEnd(tape) {
        setState(IDLE);
        if (tape.seconds === 0) return;
        done.current({ file: tape.file('recording.wav'), seconds: tape.seconds, advice: tape.advice() });
      },
      onFault: (fault) => setState({ ...IDLE, fault }),
    });
  }, [maxSeconds, track]);
  const stop = useCallback(() => running.current?.stop(), []);
  return { ...state, track, start, stop };
}

interface TakeListener {
  onBlock(block: Samples, tape: Tape): void;
  onEnd(tape: Tape): void;
  onFault(words: string): void;
}

/** One recording, from the request for the microphone to its end. */
class Take {
  readonly #abort = new AbortController();
  readonly #maxSeconds: number;
  readonly #listener: TakeListener;
  #microphone: Microphone | undefined;
  #tape: Tape | undefined;

  constructor(maxSeconds: number, listener: TakeListener) {
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
      const microphone = await Microphone.open('pattern', listener, signal);
      this.#microphone = microphone;
      this.#tape = new Tape(microphone.rateHz, this.#maxSeconds);
    } catch (error) {
      if (!signal.aborted) this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  #take(block: Samples): void {
    const tape = this.#tape;
    if (tape === undefined) return;
    tape.add(block);
    this.#listener.onBlock(block, tape);
    if (tape.isFull) this.stop();
  }

  #fail(words: string): void {
    this.close();
    this.#listener.onFault(words);
  }

  /** Finishes the recording; cancels it if the microphone is not open yet. */
  stop(): void {
    const tape = this.#tape ?? new Tape(1, 0);
    this.close();
    this.#listener.onEnd(tape);
  }

  /** Discards the recording without a notification. */
  close(): void {
    this.#abort.abort();
    this.#microphone?.close();
    this.#microphone = undefined;
    this.#tape = undefined;
  }
}
