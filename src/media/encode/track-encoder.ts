import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  Codec,
  CodecContext,
  Dictionary,
  type FFAudioEncoder,
  FFmpegError,
  type FFVideoEncoder,
  type FormatContext,
  type Frame,
  Packet,
  type Stream,
} from 'node-av';

/** Creates an FFmpeg encoder without settings. */
export function encoderNamed(name: FFVideoEncoder | FFAudioEncoder): CodecContext {
  const codec = Codec.findEncoderByName(name);
  if (codec === null) throw new Error(`this build of FFmpeg has no encoder '${name}'`);
  const context = new CodecContext();
  context.allocContext3(codec);
  return context;
}

/** One track of an output file: an encoder and the stream of its packets. */
export class TrackEncoder {
  readonly #file: FormatContext;
  readonly #context: CodecContext;
  readonly #stream: Stream;
  readonly #packet: Packet;

  private constructor(file: FormatContext, context: CodecContext, stream: Stream) {
    this.#file = file;
    this.#context = context;
    this.#stream = stream;
    this.#packet = new Packet();
    this.#packet.alloc();
  }

  /** Opens a configured encoder and adds its track to a file whose header is not yet written. */
  static async open(
    file: FormatContext,
    context: CodecContext,
    options: Readonly<Record<string, string>>,
  ): Promise<TrackEncoder> {
    context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
    FFmpegError.throwIfError(await context.open2(null, Dictionary.fromObject(options)), 'open2');
    const stream = file.newStream();
    FFmpegError.throwIfError(stream.codecpar.fromContext(context), 'fromContext');
    stream.timeBase = context.timeBase;
    stream.avgFrameRate = context.framerate;
    return new TrackEncoder(file, context, stream);
  }

  /** Samples per audio frame. */
  get frameSamples(): number {
    return this.#context.frameSize;
  }

  /** Encodes one frame, or flushes the encoder with null, and writes the output. */
  async encode(frame: Frame | null): Promise<void> {
    FFmpegError.throwIfError(await this.#context.sendFrame(frame), 'sendFrame');
    for (;;) {
      const result = await this.#context.receivePacket(this.#packet);
      if (result === AVERROR_EAGAIN || result === AVERROR_EOF) return;
      FFmpegError.throwIfError(result, 'receivePacket');
      this.#packet.rescaleTs(this.#context.timeBase, this.#stream.timeBase);
      this.#packet.streamIndex = this.#stream.index;
      FFmpegError.throwIfError(await this.#file.interleavedWriteFrame(this.#packet), 'interleavedWriteFrame');
    }
  }

  close(): void {
    this.#packet.free();
    this.#context.freeContext();
  }
}
