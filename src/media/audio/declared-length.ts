/** Declared duration of a file, if its headers have one that can be read without scanning the file. */

import type { InputAudioTrack } from 'mediabunny';
import type { ByteSource } from '../process/byte-source.ts';

/** All bits set: "cannot be determined" in an MP4 header (ISO/IEC 14496-12, 8.4.2.3). */
const UNKNOWN_TICKS = 0xffff_ffff;
const ID3_HEADER_BYTES = 10;
/** Search range in bytes for the first frame of an MP3 file, after its ID3 tag. */
const FIRST_FRAME_BYTES = 4096;

/**
 * Duration in seconds according to the headers, from the first audible sample. Raw streams (ADTS), live
 * recordings and MP3 files without a frame count declare none.
 * @param endS end of the track in seconds according to the last page of an Ogg file.
 */
export async function declaredLengthS(
  track: InputAudioTrack,
  container: string,
  bytes: ByteSource,
  endS: number,
): Promise<number | undefined> {
  try {
    const declaredEndS = container === 'ogg' ? endS : await headersEnd(track, container, bytes);
    if (declaredEndS === null || !Number.isFinite(declaredEndS)) return undefined;
    const firstS = await track.getFirstTimestamp();
    const ticks = Math.round((declaredEndS - firstS) * (await track.getTimeResolution()));
    if (ticks === UNKNOWN_TICKS || !Number.isSafeInteger(ticks)) return undefined;
    return declaredEndS - Math.max(0, firstS);
  } catch {
    // A damaged file is reported when it is decoded.
    return undefined;
  }
}

async function headersEnd(
  track: InputAudioTrack,
  container: string,
  bytes: ByteSource,
): Promise<number | null> {
  // Without a frame count, the library assumes that the bit rate of the first frame is that of the file.
  if (container === 'mp3' && !(await hasFrameCount(bytes))) return null;
  return await track.getDurationFromMetadata();
}

/** Whether an MP3 file starts with a `Xing` or `Info` frame, which has the number of frames. */
async function hasFrameCount(bytes: ByteSource): Promise<boolean> {
  const head = Buffer.from(await bytes.read(0, ID3_HEADER_BYTES));
  // The size of an ID3v2 tag has seven bits per byte (ID3v2.4, 3.1).
  const tagBytes = head.subarray(6, 10).reduce((length, byte) => length * 128 + (byte & 127), 0);
  const firstFrame = head.toString('latin1', 0, 3) === 'ID3' ? ID3_HEADER_BYTES + tagBytes : 0;
  const start = Buffer.from(await bytes.read(firstFrame, FIRST_FRAME_BYTES));
  return start.includes('Xing') || start.includes('Info');
}
