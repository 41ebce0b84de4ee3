/**
 * Frames of a clip, decoded: packets by mediabunny, which is TypeScript, pictures by FFmpeg, which gets nothing but
 * packets.
 */

import { type EncodedPacket, EncodedPacketSink } from 'mediabunny';
import {
  AV_CODEC_ID_H264,
  AV_CODEC_ID_HEVC,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  AVMEDIA_TYPE_VIDEO,
  Codec,
  CodecContext,
  Dictionary,
  FF_COMPLIANCE_STRICT,
  FFmpegError,
  Frame,
  Packet,
} from 'node-av';
import { ClipFaultError } from '../process/clip-protocol.ts';
import { checkPixels, MAX_PIXELS, type VideoTrack } from './open-clip.ts';

const CODEC_IDS = { avc: AV_CODEC_ID_H264, hevc: AV_CODEC_ID_HEVC };
/** Two pictures at a time; each thread holds pictures of its own. */
const THREADS = 2;

/** One decoded picture as the file has it, neither turned nor scaled. */
export interface ClipFrame {
  /** To be freed by who takes it. */
  readonly frame: Frame;
  /** From the clip's start, in seconds. */
  readonly timeS: number;
  /** Whether the decoder found nothing wrong with it. */
  readonly sound: boolean;
}

/**
 * Decodes to the end, in the order in which frames are shown.
 * @param fromS where the first frame that is wanted is shown: the key packet at or before it comes first.
 * @throws ClipFaultError `broken` for what cannot be decoded, `cut-off` when a packet lies beyond the end of the file,
 *   `too-many-pixels`.
 */
export async function* clipFrames(
  video: VideoTrack,
  fromS: number,
): AsyncGenerator<ClipFrame, void, undefined> {
  let decoder: FrameDecoder | undefined;
  try {
    decoder = await FrameDecoder.open(video);
    for await (const packet of packetsFrom(video, fromS)) yield* decoder.decode(packet);
    yield* decoder.decode(null);
  } catch (error) {
    if (error instanceof ClipFaultError) throw error;
    throw new ClipFaultError({ kind: 'broken', track: 'video', codec: video.codec }, error);
  } finally {
    decoder?.close();
  }
}

async function* packetsFrom(
  video: VideoTrack,
  fromS: number,
): AsyncGenerator<EncodedPacket, void, undefined> {
  const sink = new EncodedPacketSink(video.track);
  const found = await sink.getKeyPacket(fromS, { verifyKeyPackets: true });
  let packet = found ?? (await sink.getFirstPacket());
  while (packet !== null) {
    if (packet.data.length < packet.byteLength) throw new ClipFaultError({ kind: 'cut-off' });
    yield packet;
    packet = await sink.getNextPacket(packet);
  }
}

class FrameDecoder {
  readonly #context: CodecContext;
  readonly #packet = new Packet();
  readonly #frame = new Frame();
  /** Times of the packets that were given, by their number, which FFmpeg hands on as the time of their frame. */
  readonly #timesS: number[] = [];

  private constructor(context: CodecContext) {
    this.#context = context;
    this.#packet.alloc();
    this.#frame.alloc();
  }

  static async open({ track, codec: name }: VideoTrack): Promise<FrameDecoder> {
    const codec = Codec.findDecoder(CODEC_IDS[name]);
    if (codec === null) throw new Error(`this build of FFmpeg has no decoder for '${name}'`);
    const config = await track.getDecoderConfig();
    const context = new CodecContext();
    context.allocContext3(codec);
    context.codecType = AVMEDIA_TYPE_VIDEO;
    context.codecId = CODEC_IDS[name];
    context.threadCount = THREADS;
    context.extraData = extraDataOf(config?.description);
    // As strict as to keep the order of frames that the stream implies but does not tell.
    const options = Dictionary.fromObject({ strict: FF_COMPLIANCE_STRICT, max_pixels: MAX_PIXELS });
    FFmpegError.throwIfError(await context.open2(codec, options), 'open2');
    return new FrameDecoder(context);
  }

  /** Gives it a packet, or null after the last, and yields the frames that are done. */
  async *decode(packet: EncodedPacket | null): AsyncGenerator<ClipFrame, void, undefined> {
    if (packet !== null) {
      this.#packet.data = Buffer.from(packet.data);
      this.#packet.isKeyframe = packet.type === 'key';
      this.#packet.pts = BigInt(this.#timesS.length);
      this.#timesS.push(packet.timestamp);
    }
    FFmpegError.throwIfError(await this.#context.sendPacket(packet && this.#packet), 'sendPacket');
    this.#packet.unref();
    for (;;) {
      const result = await this.#context.receiveFrame(this.#frame);
      if (result === AVERROR_EAGAIN || result === AVERROR_EOF) return;
      FFmpegError.throwIfError(result, 'receiveFrame');
      yield this.#taken();
    }
  }

  #taken(): ClipFrame {
    checkPixels(this.#frame.width, this.#frame.height);
    const frame = this.#frame.clone();
    if (frame === null) throw new Error('no memory for a frame');
    return {
      frame,
      timeS: this.#timesS[Number(frame.pts)] ?? Number.NaN,
      sound: frame.decodeErrorFlags === 0,
    };
  }

  close(): void {
    this.#context.freeContext();
    this.#packet.free();
    this.#frame.free();
  }
}

function extraDataOf(description: VideoDecoderConfig['description']): Buffer | null {
  if (description === undefined) return null;
  return ArrayBuffer.isView(description)
    ? Buffer.from(description.buffer, description.byteOffset, description.byteLength)
    : Buffer.from(description);
}
