/** How long a file says that its audio is, as far as it says so and the saying costs no look at all of it. */

import type { FileHandle } from 'node:fs/promises';
import type { InputAudioTrack } from 'mediabunny';

/** All ones in 32 bits: "cannot be determined" in an MP4 header (ISO/IEC 14496-12, 8.4.2.3). */
const UNKNOWN_TICKS = 0xffff_ffff;
const ID3_HEADER_BYTES = 10;
/** Where the first frame of an MP3 file is looked for, after its ID3 tag. */
const FIRST_FRAME_BYTES = 4096;

/**
 * Seconds of audio by the headers, from the first that can be heard. Raw streams (ADTS), live recordings and MP3
 * files without a count of frames declare nothing.
 * @param endS where the last page of an Ogg file says that the track ends, from the start of its time.
 */
export async function declaredLengthS(
  track: InputAudioTrack,
  container: string,
  file: FileHandle,
  endS: number,
): Promise<number | undefined> {
  try {
    const declaredEndS = container === 'ogg' ? endS : await headersEnd(track, container, file);
    if (declaredEndS === null || !Number.isFinite(declaredEndS)) return undefined;
    const firstS = await track.getFirstTimestamp();
    const ticks = Math.round((declaredEndS - firstS) * (await track.getTimeResolution()));
    if (ticks === UNKNOWN_TICKS || !Number.isSafeInteger(ticks)) return undefined;
    return declaredEndS - Math.max(0, firstS);
  } catch {
    // What is wrong with the file shows when it is decoded.
    return undefined;
  }
}

async function headersEnd(
  track: InputAudioTrack,
  container: string,
  file: FileHandle,
): Promise<number | null> {
  // Without a count the library takes the bit rate of the first frame for that of all.
  if (container === 'mp3' && !(await hasFrameCount(file))) return null;
  return await track.getDurationFromMetadata();
}

/** Whether an MP3 file begins with the frame that tells about the others, called `Xing` or `Info`. */
async function hasFrameCount(file: FileHandle): Promise<boolean> {
  const head = await bytesAt(file, 0, ID3_HEADER_BYTES);
  // The length of an ID3v2 tag has seven bits in each byte (ID3v2.4, 3.1).
  const tagBytes = head.subarray(6, 10).reduce((length, byte) => length * 128 + (byte & 127), 0);
  const firstFrame = head.toString('latin1', 0, 3) === 'ID3' ? ID3_HEADER_BYTES + tagBytes : 0;
  const begin = await bytesAt(file, firstFrame, FIRST_FRAME_BYTES);
  return begin.includes('Xing') || begin.includes('Info');
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
