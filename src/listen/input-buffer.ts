import { LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import { type AudioFormat, bytesOf, LISTEN_FORMAT, sampleBytes } from './audio-format.ts';
import { AudioQueue } from './audio-queue.ts';
import { SampleReader } from './sample-reader.ts';

/**
 * The buffered audio of a stream in one format. Bytes are kept as received until a detector or a turn needs them. They are then
 * decoded and resampled once, and all of them read the same samples. Positions count samples at 16 kHz since the format was set.
 */
export class InputBuffer {
  readonly format: AudioFormat;
  /** The audio that is not converted yet. Positions count received samples. */
  readonly #received: SampleReader;
  #converted: AudioQueue;
  /** Where the conversion started: the same position in both kinds of samples. */
  #origin: { readonly sample: number; readonly received: number };

  /** @param receivedSamples number of samples of the format before those of this buffer. */
  constructor(format: AudioFormat, receivedSamples = 0) {
    this.format = format;
    this.#received = new SampleReader(new AudioQueue(format, receivedSamples));
    this.#origin = { sample: this.endSample, received: receivedSamples };
    this.#converted = new AudioQueue(LISTEN_FORMAT, this.#origin.sample);
  }

  /** The audio that is converted, until {@link takeFrom} removes it. Its bytes must not be modified. */
  get converted(): AudioQueue {
    return this.#converted;
  }

  /** Position of the oldest retained sample. */
  get startSample(): number {
    return this.#converted.startSample;
  }

  /** Position after the last whole received sample, converted or not. */
  get endSample(): number {
    return Math.round((this.receivedSamples * LISTEN_RATE_HZ) / this.format.rateHz);
  }

  /** Number of whole samples of the format so far, buffered or not. */
  get receivedSamples(): number {
    return this.#received.queue.endSample;
  }

  /** Whether not even one received sample is buffered. */
  get isEmpty(): boolean {
    return this.bufferedBytes < sampleBytes(this.format);
  }

  /** Bytes as received of the retained audio, including a partial sample. */
  get bufferedBytes(): number {
    return this.bytesFrom(this.startSample);
  }

  /** Returns the number of bytes as received from a position to the end, including discarded ones. */
  bytesFrom(sample: number): number {
    const { sample: origin, received: receivedOrigin } = this.#origin;
    const received = receivedOrigin + Math.round(((sample - origin) * this.format.rateHz) / LISTEN_RATE_HZ);
    return this.#received.queue.bytesFrom(Math.min(received, this.receivedSamples));
  }

  /** Appends bytes. The caller must not modify the array afterwards. */
  push(bytes: Uint8Array): void {
    this.#received.queue.push(bytes);
  }

  /** Converts audio up to a position. @returns the position up to which audio is converted, at most `toSample`. */
  convert(toSample: number): number {
    while (this.#converted.endSample < toSample && this.#received.queue.bufferedSamples > 0) {
      this.#converted.push(bytesOf(this.#received.read()));
    }
    return Math.min(toSample, this.#converted.endSample);
  }

  /**
   * Removes all audio except a partial sample.
   * @returns the readers of the audio from a retained position on, in order.
   */
  takeFrom(sample: number): readonly SampleReader[] {
    const converted = new AudioQueue(LISTEN_FORMAT, sample);
    this.#converted.copyTo(converted, sample, this.#converted.endSample);
    const rest = this.#received.takeAudio();
    this.#origin = { sample: this.endSample, received: this.receivedSamples };
    this.#converted = new AudioQueue(LISTEN_FORMAT, this.#origin.sample);
    return [new SampleReader(converted), rest];
  }

  /** Frees the resampler. The buffer must not be used afterwards. */
  close(): void {
    this.#received.close();
  }
}
