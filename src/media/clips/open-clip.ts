/** Clips as they lie in their file: their tracks, checked by their headers, and the times of their packets. */

import {
  type EncodedPacket,
  EncodedPacketSink,
  type Input,
  type InputAudioTrack,
  type InputTrack,
  type InputVideoTrack,
} from 'mediabunny';
import { ClipFaultError } from '../process/clip-protocol.ts';
import { containerOf, openMediaFile } from '../process/media-file.ts';

const CLIP_CONTAINERS = ['mp4', 'mov'];
const VIDEO_CODECS = ['avc', 'hevc'] as const;
const AUDIO_CODECS = ['aac', 'mp3'];
/** How QuickTime names MP3 (QuickTime File Format, sound sample descriptions), which the library does not know. */
const QUICKTIME_MP3: ReadonlySet<unknown> = new Set(['.mp3', 'ms\0U']);
/** A square picture of 6,000 pixels a side; a decoder holds a dozen of them. */
export const MAX_PIXELS = 36_000_000;
/** Ten minutes at 30 frames a second: whatever is longer is too long for everybody, and its packets need not be known. */
const MAX_PACKETS = 20_000;
/** Cameras write half a dozen. */
const MAX_TRACKS = 64;

export type VideoCodecName = (typeof VIDEO_CODECS)[number];

export interface OpenClip {
  /** `mp4` or `mov`. */
  readonly container: string;
  readonly video: VideoTrack;
  /** Undefined when the clip is silent. */
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

/** What the index of a file says about the packets of a track that are shown or heard. Times in seconds. */
export interface TrackPackets {
  /** Of the packets that are not wholly before the clip's start, ascending. */
  readonly startsS: readonly number[];
  /** Where the last of them ends. */
  readonly endS: number;
  /** Of all packets, also of those before the start, which the others may need. */
  readonly count: number;
}

/**
 * Opens a clip and reads its index; nothing is decoded yet.
 * @throws ClipFaultError; the system's error when the path cannot be opened.
 */
export async function openClip(path: string): Promise<OpenClip> {
  const { input, close } = await openMediaFile(path);
  try {
    const container = await clipContainerOf(input);
    try {
      await checkTracks(input);
      return { container, video: await videoOf(input, container), audio: await audioOf(input), close };
    } catch (error) {
      if (error instanceof ClipFaultError) throw error;
      throw new ClipFaultError({ kind: 'bad-container', container }, error);
    }
  } catch (error) {
    await close();
    throw error;
  }
}

async function clipContainerOf(input: Input): Promise<string> {
  const container = await containerOf(input);
  if (container === undefined) throw new ClipFaultError({ kind: 'unknown-format' });
  if (!CLIP_CONTAINERS.includes(container)) throw new ClipFaultError({ kind: 'other-container', container });
  return container;
}

async function checkTracks(input: Input): Promise<void> {
  const tracks = (await input.getTracks()).length;
  if (tracks > MAX_TRACKS) throw new ClipFaultError({ kind: 'too-many-tracks', tracks, most: MAX_TRACKS });
}

async function videoOf(input: Input, container: string): Promise<VideoTrack> {
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new ClipFaultError({ kind: 'no-video', container });
  const codec = await codecName(track);
  if (!isVideoCodec(codec)) throw new ClipFaultError({ kind: 'video-codec', codec });
  const [width, height] = [await track.getCodedWidth(), await track.getCodedHeight()];
  checkPixels(width, height);
  return { track, codec, packets: await packetsOf(track, 'video') };
}

async function audioOf(input: Input): Promise<AudioTrack | undefined> {
  const found = await input.getPrimaryAudioTrack();
  if (found === null) return undefined;
  const track = await withKnownCodec(found);
  const codec = await codecName(track);
  if (!AUDIO_CODECS.includes(codec)) throw new ClipFaultError({ kind: 'audio-codec', codec });
  const channels = await track.getNumberOfChannels();
  const packets = await packetsOf(track, 'audio');
  if (packets.startsS.length === 0) return undefined;
  return { track, codec, rateHz: await track.getSampleRate(), channels, packets };
}

/** The track, as one of MP3 where it is; a frame of MP3 says all of itself, so its decoder needs nothing else. */
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

/** What no decoder may be asked to make room for. @throws ClipFaultError `too-many-pixels`. */
export function checkPixels(width: number, height: number): void {
  if (width * height > MAX_PIXELS) {
    throw new ClipFaultError({ kind: 'too-many-pixels', width, height, most: MAX_PIXELS });
  }
}

function isVideoCodec(codec: string): codec is VideoCodecName {
  return (VIDEO_CODECS as readonly string[]).includes(codec);
}

/** The library's name, else the four characters of the container, of which only plain ones are told. */
async function codecName(track: InputTrack): Promise<string> {
  const codec = await track.getCodec();
  if (codec !== null) return codec;
  const id = await track.getInternalCodecId();
  return typeof id === 'string' && /^[\w.]{1,8}$/.test(id) ? id : 'unknown';
}

/** @throws ClipFaultError `too-many-packets`, `no-frames`. */
async function packetsOf(track: InputTrack, kind: 'video' | 'audio'): Promise<TrackPackets> {
  const sink = new EncodedPacketSink(track);
  const startsS: number[] = [];
  let endS = 0;
  let count = 0;
  let packet: EncodedPacket | null = await sink.getFirstPacket({ metadataOnly: true });
  while (packet !== null) {
    count += 1;
    if (count > MAX_PACKETS)
      throw new ClipFaultError({ kind: 'too-many-packets', track: kind, most: MAX_PACKETS });
    const packetEndS = packet.timestamp + packet.duration;
    if (packet.timestamp >= 0 || packetEndS > 0) startsS.push(packet.timestamp);
    endS = Math.max(endS, packetEndS);
    packet = await sink.getNextPacket(packet, { metadataOnly: true });
  }
  if (kind === 'video' && !(startsS.length > 0 && endS > 0)) throw new ClipFaultError({ kind: 'no-frames' });
  return { startsS: startsS.sort((a, b) => a - b), endS, count };
}
