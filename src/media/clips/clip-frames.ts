/**
 * Decodes the frames of a clip: packets are parsed by mediabunny (TypeScript), and pictures are decoded by
 * FFmpeg, which gets only packets.
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
import { UnusableClipError } from '../process/clip-protocol.ts';
import { checkPixels, MAX_PIXELS, type VideoTrack } from './open-clip.ts';

const CODEC_IDS = { avc: AV_CODEC_ID_H264, hevc: AV_CODEC_ID_HEVC };
/** Frame threads; each one holds its own pictures. */
const THREADS = 2;

/** A decoded picture as stored in the file, neither rotated nor scaled. */
export interface ClipFrame {
  /** The receiver must free it. */
  readonly frame: Frame;
  /** Presentation time in seconds from the start of the clip. */
  readonly timeS: number;
  /** False if the decoder reported damage. */
  readonly sound: boolean;
}

/**
 * Decodes up to the end, in presentation order.
 * @param fromS presentation time of the first requested frame; decoding starts at the key packet at or before
 * it.
 * @throws UnusableClipError `broken` for undecodable content, `cut-off` if a packet is beyond the end of the
 * file, `too-many-pixels`.
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
    if (error instanceof UnusableClipError) throw error;
    throw new UnusableClipError({ kind: 'broken', track: 'video', codec: video.codec }, error);
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
    if (packet.data.length < packet.byteLength) throw new UnusableClipError({ kind: 'cut-off' });
    yield packet;
    packet = await sink.getNextPacket(packet);
  }
}

class FrameDecoder {
  readonly #context: CodecContext;
  readonly #packet = new Packet();
  readonly #frame = new Frame();
  /** Times of the sent packets by index. FFmpeg passes the index on as the timestamp of the frame. */
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
    // Strict mode keeps the implicit frame order of streams that do not signal their reordering depth.
    const options = Dictionary.fromObject({ strict: FF_COMPLIANCE_STRICT, max_pixels: MAX_PIXELS });
    FFmpegError.throwIfError(await context.open2(codec, options), 'open2');
    return new FrameDecoder(context);
  }

  /** Sends a packet, or null at the end, and yields the completed frames. */
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
