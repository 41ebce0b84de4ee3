/** Encodes mono samples with an encoder of FFmpeg, in the thread of the caller. */

import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_S16,
  AV_SAMPLE_FMT_S16P,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  type CodecContext,
  Dictionary,
  type FFAudioEncoder,
  FFmpegError,
  Frame,
  Packet,
  Rational,
} from 'node-av';
import { int16ToFloat32 } from '../../audio/codec.ts';
import type { Int16Samples } from '../../contract/engines/audio.ts';
import { encoderNamed } from '../encode/track-encoder.ts';

/** Formats of the samples, by the name of the encoder that requires them. A mono plane equals interleaved samples. */
const SAMPLE_FORMATS = { int16: AV_SAMPLE_FMT_S16, int16p: AV_SAMPLE_FMT_S16P, float: AV_SAMPLE_FMT_FLTP };

export interface PacketEncoderOptions {
  readonly encoder: FFAudioEncoder;
  readonly rateHz: number;
  readonly samples: keyof typeof SAMPLE_FORMATS;
  /** Bits per second; absent for a lossless encoder. */
  readonly bitRate?: number;
  readonly options: Readonly<Record<string, string>>;
}

/** An encoded packet. */
export interface EncodedPacket {
  readonly data: Uint8Array<ArrayBuffer>;
  /** Position of its first sample. The delay of the encoder is before 0. */
  readonly startSample: number;
  /** Number of its samples; in the last packet, those of the input. */
  readonly samples: number;
}

export class PacketEncoder {
  readonly #context: CodecContext;
  readonly #packet = new Packet();
  readonly #rateHz: number;
  readonly #format: PacketEncoderOptions['samples'];
  /** One incomplete frame. */
  readonly #frame: Int16Samples;
  #filled = 0;
  #encoded = 0;

  private constructor(context: CodecContext, { rateHz, samples }: PacketEncoderOptions) {
    this.#context = context;
    this.#packet.alloc();
    this.#rateHz = rateHz;
    this.#format = samples;
    this.#frame = new Int16Array(context.frameSize);
  }

  static async open(settings: PacketEncoderOptions): Promise<PacketEncoder> {
    const context = encoderNamed(settings.encoder);
    context.sampleRate = settings.rateHz;
    context.channelLayout = AV_CHANNEL_LAYOUT_MONO;
    context.sampleFormat = SAMPLE_FORMATS[settings.samples];
    context.timeBase = new Rational(1, settings.rateHz);
    // More threads would only make the start of the file later.
    context.threadCount = 1;
    if (settings.bitRate !== undefined) context.bitRate = BigInt(settings.bitRate);
    // Not `open2Sync`, which frees the dictionary that the garbage collector frees again.
    FFmpegError.throwIfError(await context.open2(null, Dictionary.fromObject(settings.options)), 'open2');
    return new PacketEncoder(context, settings);
  }

  /** The header of the codec: STREAMINFO of FLAC, the identification header of Opus. */
  get header(): Uint8Array<ArrayBuffer> {
    const { extraData } = this.#context;
    if (extraData === null) throw new Error('this encoder has no header');
    return Uint8Array.from(extraData);
  }

  /** Adds samples of any number; yields the packets that they complete. */
  *encode(samples: Int16Samples): Generator<EncodedPacket> {
    for (let from = 0; from < samples.length; ) {
      const taken = Math.min(samples.length - from, this.#frame.length - this.#filled);
      this.#frame.set(samples.subarray(from, from + taken), this.#filled);
      this.#filled += taken;
      from += taken;
      if (this.#filled === this.#frame.length) yield* this.#encodeFrame();
    }
  }

  /** Ends the samples; yields the remaining packets. */
  *finish(): Generator<EncodedPacket> {
    if (this.#filled > 0) yield* this.#encodeFrame();
    FFmpegError.throwIfError(this.#context.sendFrameSync(null), 'sendFrame');
    yield* this.#packets();
  }

  close(): void {
    this.#packet.free();
    this.#context.freeContext();
  }

  *#encodeFrame(): Generator<EncodedPacket> {
    const samples = this.#frame.subarray(0, this.#filled);
    const values = this.#format === 'float' ? int16ToFloat32(samples) : samples;
    const frame = Frame.fromAudioBuffer(Buffer.from(values.buffer, values.byteOffset, values.byteLength), {
      nbSamples: this.#filled,
      format: SAMPLE_FORMATS[this.#format],
      sampleRate: this.#rateHz,
      channelLayout: AV_CHANNEL_LAYOUT_MONO,
    });
    frame.pts = BigInt(this.#encoded);
    this.#encoded += this.#filled;
    this.#filled = 0;
    try {
      FFmpegError.throwIfError(this.#context.sendFrameSync(frame), 'sendFrame');
    } finally {
      frame.free();
    }
    yield* this.#packets();
  }

  *#packets(): Generator<EncodedPacket> {
    for (;;) {
      const result = this.#context.receivePacketSync(this.#packet);
      if (result === AVERROR_EAGAIN || result === AVERROR_EOF) return;
      FFmpegError.throwIfError(result, 'receivePacket');
      const { data, pts, duration } = this.#packet;
      // The last packet of FLAC is empty: it only has a new header.
      if (data !== null && data.length > 0) {
        yield { data: Uint8Array.from(data), startSample: Number(pts), samples: Number(duration) };
      }
      this.#packet.unref();
    }
  }
}
