/**
 * Frames and samples to an MP4 file that players take without a question: H.264 in 4:2:0 with its frames in order,
 * AAC, the index before the content. FFmpeg does all of it, since what goes in is ours.
 */

import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_PIX_FMT_YUV420P,
  AV_SAMPLE_FMT_FLTP,
  AVCOL_RANGE_MPEG,
  Dictionary,
  FF_ENCODER_AAC,
  FF_ENCODER_LIBX264,
  FFmpegError,
  FormatContext,
  Frame,
  Rational,
} from 'node-av';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import { frameRateOf } from './frame-rate.ts';
import { type ClipColour, frameOf, type I420, i420Bytes } from './picture.ts';
import { encoderNamed, TrackEncoder } from './track-encoder.ts';

/** `docs/decisions/video-clips.md` says what others cost. */
const PRESET = 'veryfast';
/** Constant quality; 23 is x264's own choice, at 18 a copy is hardly told from its source. */
const CRF = '20';
/** What noise may cost at most: 11 Mbit/s at 720p and 24 frames a second, in the mean of two seconds. */
const MAX_BITS_PER_PIXEL = 0.5;
const RATE_WINDOW_S = 2;
/** Players can seek to every key frame. */
const KEY_FRAMES_EVERY_S = 2;
const AUDIO_BITS_PER_CHANNEL = 96_000;

export interface SegmentAudio {
  /** A rate that AAC has: 8,000 to 96,000 Hz. */
  readonly rateHz: number;
  readonly channels: 1 | 2;
}

export interface SegmentShape {
  /** In pixels, even. */
  readonly width: number;
  readonly height: number;
  /** Frames a second; what is nearly a multiple of 1000/1001 becomes just that. */
  readonly fps: number;
  readonly colour: ClipColour;
  readonly audio: SegmentAudio | undefined;
  /** Threads of the encoder; 1 when left out. */
  readonly threads?: number;
}

/** What was written. */
export interface WrittenSegment {
  readonly frames: number;
  readonly seconds: number;
}

/**
 * A file that is being written. Calls are made one after the other; {@link finish} or {@link abandon} ends it. What
 * fails on the way leaves it to be abandoned.
 */
export class SegmentWriter {
  readonly #shape: SegmentShape;
  readonly #frameRate: Rational;
  readonly #file: FormatContext;
  readonly #video: TrackEncoder;
  readonly #audio: AudioTrack | undefined;
  /** What is encoded while the caller makes the next frame. */
  #encoding: Promise<void> = Promise.resolve();
  #frames = 0;
  #ended = false;

  private constructor(parts: {
    readonly shape: SegmentShape;
    readonly frameRate: Rational;
    readonly file: FormatContext;
    readonly video: TrackEncoder;
    readonly audio: AudioTrack | undefined;
  }) {
    this.#shape = parts.shape;
    this.#frameRate = parts.frameRate;
    this.#file = parts.file;
    this.#video = parts.video;
    this.#audio = parts.audio;
  }

  /** Begins a file, in the place of one that may be there. */
  static async open(path: string, shape: SegmentShape): Promise<SegmentWriter> {
    const { width, height } = shape;
    if (width % 2 !== 0 || height % 2 !== 0) throw new RangeError(`sides must be even: ${width}x${height}`);
    const file = new FormatContext();
    FFmpegError.throwIfError(file.allocOutputContext2(null, 'mp4', path), 'allocOutputContext2');
    const { num, den } = frameRateOf(shape.fps);
    const frameRate = new Rational(num, den);
    const video = await openVideo(file, shape, frameRate);
    const audio = shape.audio === undefined ? undefined : await AudioTrack.open(file, shape.audio);
    FFmpegError.throwIfError(await file.openOutput(), 'openOutput');
    // The index goes before the content when all is written.
    const options = Dictionary.fromObject({ movflags: '+faststart' });
    FFmpegError.throwIfError(await file.writeHeader(options), 'writeHeader');
    return new SegmentWriter({ shape, frameRate, file, video, audio });
  }

  /**
   * Adds the next frame. It is encoded while the caller goes on; when the promise resolves, the frame before it is done
   * and `pixels` may be used again.
   */
  async addFrame(pixels: I420): Promise<void> {
    const { width, height, colour } = this.#shape;
    if (pixels.length !== i420Bytes(width, height)) {
      throw new RangeError(
        `a frame of ${width}x${height} has ${i420Bytes(width, height)} bytes, not ${pixels.length}`,
      );
    }
    await this.#encoding;
    const frame = frameOf(pixels, width, height, colour);
    frame.pts = BigInt(this.#frames++);
    frame.duration = 1n;
    this.#encodeNext(() => this.#video.encode(frame).finally(() => frame.free()));
  }

  /**
   * Adds samples, one plane for each channel, of any length but all of the same. They are encoded while the caller goes
   * on, and must stay as they are until the next call's promise resolves. A file is read best whose sound is added along
   * with its frames.
   */
  async addAudio(channels: readonly Float32Samples[]): Promise<void> {
    const audio = this.#audio;
    if (audio === undefined) throw new Error('this segment has no sound');
    audio.check(channels);
    this.#encodeNext(() => audio.add(channels));
  }

  /** Ends the file: it is whole when the promise resolves. */
  async finish(): Promise<WrittenSegment> {
    await this.#encoding;
    await this.#video.encode(null);
    await this.#audio?.finish();
    FFmpegError.throwIfError(await this.#file.writeTrailer(), 'writeTrailer');
    await this.#end();
    return { frames: this.#frames, seconds: (this.#frames * this.#frameRate.den) / this.#frameRate.num };
  }

  /** Leaves what was written as it is: no whole file. Idempotent, also after {@link finish}. */
  async abandon(): Promise<void> {
    await this.#encoding.catch(() => undefined);
    await this.#end();
  }

  #encodeNext(encode: () => Promise<void>): void {
    this.#encoding = this.#encoding.then(encode);
    // Whoever comes next is told.
    this.#encoding.catch(() => undefined);
  }

  async #end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#video.close();
    this.#audio?.close();
    await this.#file.closeOutput();
    this.#file.freeContext();
  }
}

async function openVideo(
  file: FormatContext,
  shape: SegmentShape,
  frameRate: Rational,
): Promise<TrackEncoder> {
  const context = encoderNamed(FF_ENCODER_LIBX264);
  context.width = shape.width;
  context.height = shape.height;
  context.pixelFormat = AV_PIX_FMT_YUV420P;
  context.sampleAspectRatio = new Rational(1, 1);
  context.timeBase = new Rational(frameRate.den, frameRate.num);
  context.framerate = frameRate;
  context.gopSize = Math.round((KEY_FRAMES_EVERY_S * frameRate.num) / frameRate.den);
  context.maxBFrames = 0;
  const maxRate = Math.round(
    (MAX_BITS_PER_PIXEL * shape.width * shape.height * frameRate.num) / frameRate.den,
  );
  context.rcMaxRate = BigInt(maxRate);
  context.rcBufferSize = maxRate * RATE_WINDOW_S;
  context.threadCount = shape.threads ?? 1;
  context.colorRange = AVCOL_RANGE_MPEG;
  context.colorPrimaries = shape.colour.primaries;
  context.colorTrc = shape.colour.transfer;
  context.colorSpace = shape.colour.matrix;
  return await TrackEncoder.open(file, context, { preset: PRESET, crf: CRF });
}

/** Samples of any length to frames of the length that AAC has. */
class AudioTrack {
  readonly #encoder: TrackEncoder;
  readonly #shape: SegmentAudio;
  /** One frame, plane after plane, as far as it is filled. */
  readonly #frame: Float32Samples;
  readonly #frameSamples: number;
  #filled = 0;
  #written = 0;

  private constructor(encoder: TrackEncoder, shape: SegmentAudio) {
    this.#encoder = encoder;
    this.#shape = shape;
    this.#frameSamples = encoder.frameSamples;
    this.#frame = new Float32Array(this.#frameSamples * shape.channels);
  }

  static async open(file: FormatContext, shape: SegmentAudio): Promise<AudioTrack> {
    const context = encoderNamed(FF_ENCODER_AAC);
    context.sampleRate = shape.rateHz;
    context.channelLayout = layoutOf(shape.channels);
    context.sampleFormat = AV_SAMPLE_FMT_FLTP;
    context.bitRate = BigInt(AUDIO_BITS_PER_CHANNEL * shape.channels);
    context.timeBase = new Rational(1, shape.rateHz);
    return new AudioTrack(await TrackEncoder.open(file, context, {}), shape);
  }

  check(channels: readonly Float32Samples[]): void {
    const samples = channels[0]?.length ?? 0;
    if (channels.length === this.#shape.channels && channels.every((plane) => plane.length === samples))
      return;
    throw new RangeError(`sound must come in ${this.#shape.channels} planes of one length`);
  }

  async add(channels: readonly Float32Samples[]): Promise<void> {
    const samples = channels[0]?.length ?? 0;
    for (let from = 0; from < samples; ) {
      const taken = Math.min(samples - from, this.#frameSamples - this.#filled);
      channels.forEach((plane, index) => {
        this.#frame.set(plane.subarray(from, from + taken), index * this.#frameSamples + this.#filled);
      });
      this.#filled += taken;
      from += taken;
      if (this.#filled === this.#frameSamples) await this.#encode();
    }
  }

  async finish(): Promise<void> {
    if (this.#filled > 0) await this.#encode();
    await this.#encoder.encode(null);
  }

  close(): void {
    this.#encoder.close();
  }

  async #encode(): Promise<void> {
    const { rateHz, channels } = this.#shape;
    const planes = Array.from({ length: channels }, (_, index) => {
      const from = index * this.#frameSamples;
      return this.#frame.subarray(from, from + this.#filled);
    });
    const bytes = Buffer.concat(
      planes.map((plane) => Buffer.from(plane.buffer, plane.byteOffset, plane.byteLength)),
    );
    const frame = Frame.fromAudioBuffer(bytes, {
      nbSamples: this.#filled,
      format: AV_SAMPLE_FMT_FLTP,
      sampleRate: rateHz,
      channelLayout: layoutOf(channels),
    });
    frame.pts = BigInt(this.#written);
    frame.duration = BigInt(this.#filled);
    this.#written += this.#filled;
    this.#filled = 0;
    await this.#encoder.encode(frame).finally(() => frame.free());
  }
}

function layoutOf(channels: 1 | 2) {
  return channels === 1 ? AV_CHANNEL_LAYOUT_MONO : AV_CHANNEL_LAYOUT_STEREO;
}
