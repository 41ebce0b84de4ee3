import type { Samples } from '../pcm.ts';
import workletAddress from './microphone-worklet.ts?url';

/**
 * `talk` enables echo cancellation and noise suppression; `voice-clip` records unprocessed
 * audio.
 */
export type MicrophoneUse = 'talk' | 'voice-clip';

export interface MicrophoneListener {
  /** Called with each block of 80 ms. */
  onBlock(samples: Samples): void;
  /** Called once if the device is disconnected, with a user-facing message. */
  onEnd(words: string): void;
}

/** Sample rate for talk in Hz, the same as that of synthesized speech. */
const TALK_RATE_HZ = 24_000;

/** Captures the microphone in blocks of 16-bit samples. The caller closes it. */
export class Microphone {
  readonly #stream: MediaStream;
  readonly #context: AudioContext;
  readonly #worklet: AudioWorkletNode;

  /**
   * Requests microphone access.
   * @throws Error with a user-facing message if the microphone is unavailable; the reason of `signal` if it
   * was aborted.
   */
  static async open(
    use: MicrophoneUse,
    listener: MicrophoneListener,
    signal: AbortSignal,
  ): Promise<Microphone> {
    if (navigator.mediaDevices === undefined) {
      throw new Error('Browsers allow microphone access only over https or on localhost.');
    }
    const isProcessed = use === 'talk';
    const constraints = {
      echoCancellation: isProcessed,
      noiseSuppression: isProcessed,
      autoGainControl: isProcessed,
    };
    let stream: MediaStream | undefined;
    let captured: Captured | undefined;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, ...constraints } });
      signal.throwIfAborted();
      captured = capture(stream, use);
      await captured.context.audioWorklet.addModule(workletAddress);
      await captured.context.resume();
      signal.throwIfAborted();
      return new Microphone(stream, captured, listener);
    } catch (error) {
      release(stream, captured?.context);
      signal.throwIfAborted();
      throw new Error(reasonOf(error), { cause: error });
    }
  }

  private constructor(stream: MediaStream, { context, source }: Captured, listener: MicrophoneListener) {
    this.#stream = stream;
    this.#context = context;
    this.#worklet = new AudioWorkletNode(context, 'microphone', {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: 'explicit',
    });
    this.#worklet.port.onmessage = ({ data }) => listener.onBlock(data as Samples);
    for (const track of stream.getTracks()) {
      track.onended = () => listener.onEnd('The microphone was disconnected.');
    }
    source.connect(this.#worklet);
  }

  /** Sample rate of the blocks in Hz. */
  get rateHz(): number {
    return this.#context.sampleRate;
  }

  close(): void {
    this.#worklet.port.onmessage = null;
    release(this.#stream, this.#context);
  }
}

interface Captured {
  readonly context: AudioContext;
  readonly source: MediaStreamAudioSourceNode;
}

/** Firefox captures only at the sample rate of the device. */
function capture(stream: MediaStream, use: MicrophoneUse): Captured {
  if (use === 'talk') {
    const context = new AudioContext({ sampleRate: TALK_RATE_HZ });
    try {
      return { context, source: context.createMediaStreamSource(stream) };
    } catch {
      void context.close();
    }
  }
  const context = new AudioContext();
  return { context, source: context.createMediaStreamSource(stream) };
}

function release(stream: MediaStream | undefined, context: AudioContext | undefined): void {
  for (const track of stream?.getTracks() ?? []) {
    track.onended = null;
    track.stop();
  }
  void context?.close();
}

function reasonOf(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (name === 'NotAllowedError')
    return 'Microphone access was denied. Allow it for this page in the browser settings.';
  if (name === 'NotFoundError') return 'No microphone found.';
  if (name === 'NotReadableError') return 'Another application is using the microphone.';
  return `Microphone error: ${message}`;
}
