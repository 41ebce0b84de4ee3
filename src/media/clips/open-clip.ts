/** Opens clips: validates the headers of their tracks and reads the times of their packets. */

import {
  type EncodedPacket,
  EncodedPacketSink,
  type Input,
  type InputAudioTrack,
  type InputTrack,
  type InputVideoTrack,
} from 'mediabunny';
import { UnusableClipError } from '../process/clip-protocol.ts';
import { containerOf, openMediaFile } from '../process/media-file.ts';

const CLIP_CONTAINERS = ['mp4', 'mov'];
const VIDEO_CODECS = ['avc', 'hevc'] as const;
const AUDIO_CODECS = ['aac', 'mp3'];
/**
 * QuickTime names of MP3 (QuickTime File Format, sound sample descriptions), which the library does not
 * support.
 */
const QUICKTIME_MP3: ReadonlySet<unknown> = new Set(['.mp3', 'ms\0U']);
/** A square picture with sides of 6,000 pixels; a decoder holds about a dozen pictures. */
export const MAX_PIXELS = 36_000_000;
/** Ten minutes at 30 fps. Longer clips exceed the duration limit anyway. */
const MAX_PACKETS = 20_000;
/** Cameras write about six. */
const MAX_TRACKS = 64;

export type VideoCodecName = (typeof VIDEO_CODECS)[number];

export interface OpenClip {
  /** `mp4` or `mov`. */
  readonly container: string;
  readonly video: VideoTrack;
  /** Undefined if the clip has no audio. */
  readonly audio: AudioTrack | undefined;
  close(): Promise<void>;
}

export interface VideoTrack {
  readonly track: InputVideoTrack;
  readonly codec: VideoCodecName;
  readonly packets: TrackPackets;
}

export interface AudioTrack {
  readonly track: InputAudioTrack;
  readonly codec: string;
  readonly rateHz: number;
  readonly channels: number;
  readonly packets: TrackPackets;
}

/** Presentation times of the packets of a track according to the index, in seconds. */
export interface TrackPackets {
  /** Start times of packets that do not end before the start of the clip, ascending. */
  readonly startsS: readonly number[];
  /** End time of the last packet. */
  readonly endS: number;
  /** Number of all packets, including those before the start that others depend on. */
  readonly count: number;
}

/**
 * Opens a clip and reads its index without decoding.
 * @throws UnusableClipError; the system's error if the path cannot be opened.
 */
export async function openClip(path: string): Promise<OpenClip> {
  const { input, close } = await openMediaFile(path);
  try {
    const container = await clipContainerOf(input);
    try {
      await checkTracks(input);
      return { container, video: await videoOf(input, container), audio: await audioOf(input), close };
    } catch (error) {
      if (error instanceof UnusableClipError) throw error;
      throw new UnusableClipError({ kind: 'bad-container', container }, error);
    }
  } catch (error) {
    await close();
    throw error;
  }
}

async function clipContainerOf(input: Input): Promise<string> {
  const container = await containerOf(input);
  if (container === undefined) throw new UnusableClipError({ kind: 'unknown-format' });
  if (!CLIP_CONTAINERS.includes(container))
    throw new UnusableClipError({ kind: 'other-container', container });
  return container;
}

async function checkTracks(input: Input): Promise<void> {
  const tracks = (await input.getTracks()).length;
  if (tracks > MAX_TRACKS) throw new UnusableClipError({ kind: 'too-many-tracks', tracks, max: MAX_TRACKS });
}

async function videoOf(input: Input, container: string): Promise<VideoTrack> {
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new UnusableClipError({ kind: 'no-video', container });
  const codec = await codecName(track);
  if (!isVideoCodec(codec)) throw new UnusableClipError({ kind: 'video-codec', codec });
  const [width, height] = [await track.getCodedWidth(), await track.getCodedHeight()];
  checkPixels(width, height);
  return { track, codec, packets: await packetsOf(track, 'video') };
}

async function audioOf(input: Input): Promise<AudioTrack | undefined> {
  const found = await input.getPrimaryAudioTrack();
  if (found === null) return undefined;
  const track = await withKnownCodec(found);
  const codec = await codecName(track);
  if (!AUDIO_CODECS.includes(codec)) throw new UnusableClipError({ kind: 'audio-codec', codec });
  const channels = await track.getNumberOfChannels();
  const packets = await packetsOf(track, 'audio');
  if (packets.startsS.length === 0) return undefined;
  return { track, codec, rateHz: await track.getSampleRate(), channels, packets };
}

/** Identifies MP3 tracks. MP3 frames are self-contained, so the decoder needs no further configuration. */
async function withKnownCodec(track: InputAudioTrack): Promise<InputAudioTrack> {
  if ((await track.getCodec()) !== null) return track;
  if (!QUICKTIME_MP3.has(await track.getInternalCodecId())) return track;
  const [sampleRate, numberOfChannels] = [await track.getSampleRate(), await track.getNumberOfChannels()];
  const asMp3: Partial<InputAudioTrack> = {
    getCodec: async () => 'mp3',
    getDecoderConfig: async () => ({ codec: 'mp3', sampleRate, numberOfChannels }),
    canDecode: async () => true,
  };
  return Object.assign(Object.create(track) as InputAudioTrack, asMp3);
}

/** Limits the memory that a decoder allocates. @throws UnusableClipError `too-many-pixels`. */
export function checkPixels(width: number, height: number): void {
  if (width * height > MAX_PIXELS) {
    throw new UnusableClipError({ kind: 'too-many-pixels', width, height, max: MAX_PIXELS });
  }
}

function isVideoCodec(codec: string): codec is VideoCodecName {
  return (VIDEO_CODECS as readonly string[]).includes(codec);
}

/** The library's name, otherwise the four-character code of the container if it is printable. */
async function codecName(track: InputTrack): Promise<string> {
  const codec = await track.getCodec();
  if (codec !== null) return codec;
  const id = await track.getInternalCodecId();
  return typeof id === 'string' && /^[\w.]{1,8}$/.test(id) ? id : 'unknown';
}

/** @throws UnusableClipError `too-many-packets`, `no-frames`. */
async function packetsOf(track: InputTrack, kind: 'video' | 'audio'): Promise<TrackPackets> {
  const sink = new EncodedPacketSink(track);
  const startsS: number[] = [];
  let endS = 0;
  let count = 0;
  let packet: EncodedPacket | null = await sink.getFirstPacket({ metadataOnly: true });
  while (packet !== null) {
    count += 1;
    if (count > MAX_PACKETS)
      throw new UnusableClipError({ kind: 'too-many-packets', track: kind, max: MAX_PACKETS });
    const packetEndS = packet.timestamp + packet.duration;
    if (packet.timestamp >= 0 || packetEndS > 0) startsS.push(packet.timestamp);
    endS = Math.max(endS, packetEndS);
    packet = await sink.getNextPacket(packet, { metadataOnly: true });
  }
  if (kind === 'video' && !(startsS.length > 0 && endS > 0))
    throw new UnusableClipError({ kind: 'no-frames' });
  return { startsS: startsS.sort((a, b) => a - b), endS, count };
}
