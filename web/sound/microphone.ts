import workletAddress from './microphone-worklet.ts?url';
import type { Samples } from './pcm.ts';

/** What the microphone is for: talk is cleaned of echo and noise, a pattern of a voice is left as it is. */
export type MicrophoneUse = 'talk' | 'pattern';

export interface MicrophoneListener {
  /** Takes each block of 80 ms. */
  onBlock(samples: Samples): void;
  /** Told once if the device goes away, with a sentence for the person. */
  onEnd(words: string): void;
}

/** Talk is recorded at the rate of the service's own speech. */
const TALK_RATE_HZ = 24_000;

/** The microphone as blocks of 16-bit samples. Whoever opened it closes it. */
export class Microphone {
  readonly #stream: MediaStream;
  readonly #context: AudioContext;
  readonly #worklet: AudioWorkletNode;

  /**
   * Asks the person for the microphone.
   * @throws Error with a sentence for the person when there is none to be had; the reason of `signal` when it was aborted.
   */
  static async open(
    use: MicrophoneUse,
    listener: MicrophoneListener,
    signal: AbortSignal,
  ): Promise<Microphone> {
    if (navigator.mediaDevices === undefined) {
      throw new Error(
        'Browsers give the microphone only to pages that come over https or from this machine.',
      );
    }
    const cleaned = use === 'talk';
    const wishes = { echoCancellation: cleaned, noiseSuppression: cleaned, autoGainControl: cleaned };
    let stream: MediaStream | undefined;
    let captured: Captured | undefined;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, ...wishes } });
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
      track.onended = () => listener.onEnd('The microphone was taken away.');
    }
    source.connect(this.#worklet);
  }

  /** Of the blocks. */
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

/** Firefox captures at the rate of the device only. */
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
  if (name === 'NotAllowedError') return 'The microphone was refused. Allow it for this page in the browser.';
  if (name === 'NotFoundError') return 'There is no microphone.';
  if (name === 'NotReadableError') return 'Another program holds the microphone.';
  return `The microphone does not work: ${message}`;
}
