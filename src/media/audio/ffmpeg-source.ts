/**
 * Audio tracks of the containers that FFmpeg parses. FFmpeg reads bytes through a callback, parses the given format
 * only, and may open nothing else.
 */

import {
  AV_CODEC_ID_NONE,
  AVDISCARD_ALL,
  AVERROR_EOF,
  AVMEDIA_TYPE_AUDIO,
  type AVSampleFormat,
  AVSEEK_CUR,
  AVSEEK_END,
  AVSEEK_SIZE,
  avGetCodecName,
  avGetSampleFmtName,
  Codec,
  CodecContext,
  type CodecParameters,
  Dictionary,
  FormatContext,
  Frame,
  InputFormat,
  IOContext,
  Packet,
  type Stream,
} from 'node-av';
import type { ByteSource } from '../process/byte-source.ts';
import { UnusableMediaError } from '../process/protocol.ts';
import { type AudioRun, type AudioSource, checkShape } from './audio-source.ts';
import { samplePlanes } from './sample-planes.ts';

const READ_BLOCK_BYTES = 1 << 16;
const READ_MODE = 0;
/** "No value" of durations in FFmpeg (AV_NOPTS_VALUE). */
const NO_TIME = -(2n ** 63n);

export interface FfmpegFormat {
  /** Name for messages and {@link AudioSource.info}. */
  readonly container: string;
  /** FFmpeg's name of the demuxer. */
  readonly demuxer: string;
}

/**
 * Opens the main audio track of a file.
 * @param nameOfUnknown name of a codec that FFmpeg does not know.
 * @throws UnusableMediaError `bad-container`, `no-audio`, `unknown-codec`, `rate`, `too-many-channels`.
 */
export async function openFfmpegSource(
  bytes: ByteSource,
  { container, demuxer }: FfmpegFormat,
  nameOfUnknown?: string,
): Promise<AudioSource> {
  const reader = new CallbackReader(bytes);
  const input = new FormatContext();
  const close = async () => {
    await input.closeInput();
    reader.close();
  };
  input.allocContext();
  input.pb = reader.context;
  try {
    const bad = (cause?: unknown) => new UnusableMediaError({ kind: 'bad-container', container }, cause);
    const format = InputFormat.findInputFormat(demuxer);
    const options = Dictionary.fromObject({
      // Neither protocols nor other formats, to which playlists and references would lead.
      protocol_whitelist: 'none',
      format_whitelist: demuxer,
      // Bytes per packet of WAV: the default of 4 KB takes twice the time. Other formats ignore it.
      max_size: '65536',
    });
    if ((await input.openInput('', format, options)) < 0) throw bad();
    // Pictures and videos reach no decoder.
    for (const each of input.streams) {
      if (each.codecpar.codecType !== AVMEDIA_TYPE_AUDIO) each.discard = AVDISCARD_ALL;
    }
    // Later, FFmpeg replaces missing durations with estimates from the bit rate.
    const declared = input.streams.map(durationS);
    if ((await input.findStreamInfo()) < 0) throw bad();
    const index = input.findBestStream(AVMEDIA_TYPE_AUDIO);
    const stream = input.streams[index];
    if (stream === undefined) throw new UnusableMediaError({ kind: 'no-audio', container });
    const { codecpar } = stream;
    const codec = codecName(codecpar, nameOfUnknown);
    const decoder = Codec.findDecoder(codecpar.codecId);
    if (decoder === null) throw new UnusableMediaError({ kind: 'unknown-codec', container, codec });
    const info = { container, codec, rateHz: codecpar.sampleRate, channels: codecpar.channels };
    checkShape(info);
    if (info.channels < 1) throw bad();
    return {
      info,
      declaredS: declared[index],
      estimatedS: durationS(stream),
      runs: () => decodedRuns({ input, reader, stream, decoder, container, codec }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function durationS({ duration, timeBase }: Stream): number | undefined {
  if (duration === NO_TIME || duration <= 0n || timeBase.den === 0) return undefined;
  return (Number(duration) * timeBase.num) / timeBase.den;
}

/** FFmpeg's name of a codec, otherwise the code of the container if it is printable. */
function codecName({ codecId, codecTagString }: CodecParameters, nameOfUnknown: string | undefined): string {
  const name = codecId === AV_CODEC_ID_NONE ? null : avGetCodecName(codecId);
  if (name !== null) return name;
  if (nameOfUnknown !== undefined) return nameOfUnknown;
  return codecTagString !== null && /^[\w.-]{2,8}$/.test(codecTagString) ? codecTagString : 'unknown';
}

interface Decoding {
  readonly input: FormatContext;
  readonly reader: CallbackReader;
  readonly stream: Stream;
  readonly decoder: Codec;
  readonly container: string;
  readonly codec: string;
}

/**
 * Decodes all packets of a stream. A packet that cannot be decoded is an error unless it is the last one, which is
 * incomplete in truncated files.
 */
async function* decodedRuns(decoding: Decoding): AsyncGenerator<AudioRun, void, undefined> {
  const { input, reader, stream, decoder, container, codec } = decoding;
  const broken = () => new UnusableMediaError({ kind: 'broken', container, codec });
  const resources = new DisposableStack();
  try {
    const context = resources.use(new CodecContext());
    const packet = resources.use(new Packet());
    const frame = resources.use(new Frame());
    context.allocContext3(decoder);
    context.parametersToContext(stream.codecpar);
    context.pktTimebase = stream.timeBase;
    context.threadCount = 1;
    if (context.open2Sync(decoder) < 0) throw broken();
    packet.alloc();
    frame.alloc();
    let failed = false;
    for (;;) {
      const result = await input.readFrame(packet);
      if (result < 0 && result !== AVERROR_EOF && !reader.isAtEnd) throw broken();
      if (result < 0) break;
      if (packet.streamIndex === stream.index) {
        if (failed) throw broken();
        failed = context.sendPacketSync(packet) < 0;
        yield* framesOf(context, frame);
      }
      packet.unref();
    }
    context.sendPacketSync(null);
    yield* framesOf(context, frame);
  } finally {
    resources.dispose();
  }
}

/** The frames that the decoder has completed. */
function* framesOf(context: CodecContext, frame: Frame): Generator<AudioRun> {
  while (context.receiveFrameSync(frame) >= 0) {
    const { sampleRate, channels, nbSamples } = frame;
    checkShape({ rateHz: sampleRate, channels });
    const format = avGetSampleFmtName(frame.format as AVSampleFormat) ?? 'unknown';
    const run = {
      rateHz: sampleRate,
      channels: samplePlanes(frame.extendedData ?? frame.data ?? [], format, channels, nbSamples),
    };
    frame.unref();
    if (nbSamples > 0) yield run;
  }
}

/** Gives FFmpeg the bytes of a file. */
class CallbackReader {
  readonly context = new IOContext();
  readonly #bytes: ByteSource;
  #position = 0;

  constructor(bytes: ByteSource) {
    this.#bytes = bytes;
    this.context.allocContextWithCallbacks(
      READ_BLOCK_BYTES,
      READ_MODE,
      (length) => this.#read(length),
      null,
      (offset, whence) => this.#seek(Number(offset), whence),
    );
  }

  /** Whether the last bytes have been read. */
  get isAtEnd(): boolean {
    return this.#position >= this.#bytes.size;
  }

  close(): void {
    this.context.freeContext();
  }

  async #read(length: number): Promise<Buffer | number> {
    const read = await this.#bytes.read(this.#position, length);
    this.#position += read.length;
    return read.length === 0 ? AVERROR_EOF : Buffer.from(read.buffer, read.byteOffset, read.byteLength);
  }

  #seek(offset: number, whence: number): bigint {
    if (whence === AVSEEK_SIZE) return BigInt(this.#bytes.size);
    const base = whence === AVSEEK_CUR ? this.#position : whence === AVSEEK_END ? this.#bytes.size : 0;
    this.#position = Math.max(0, base + offset);
    return BigInt(this.#position);
  }
}
