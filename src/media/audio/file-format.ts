/** Identifies the formats that FFmpeg parses by the first bytes of a file. */

import type { ByteSource } from '../process/byte-source.ts';
import type { FfmpegFormat } from './ffmpeg-source.ts';

/** A format that cannot be decoded, because there is no decoder for its only codec. */
export interface UndecodableFormat {
  readonly container: string;
  readonly codec: string;
}

type Format = FfmpegFormat | UndecodableFormat;

/** First bytes of a format as latin1 text. */
interface Signature {
  readonly start: string;
  /** The form type at byte 8 of RIFF and IFF files. */
  readonly form?: string;
  readonly format: Format;
}

const FORM_AT = 8;
/** Raw GSM 6.10 of exchanges: frames of 20 ms whose first half byte is 0xD (RFC 3551, 4.5.8.1). */
const GSM_FRAME_BYTES = 33;
/** Frames that identify raw GSM; other data have such bytes by chance in one of 16^10 files. */
const GSM_FRAMES = 10;
const HEAD_BYTES = GSM_FRAME_BYTES * GSM_FRAMES;

const demuxed = (name: string): Format => ({ container: name, demuxer: name });

/** Formats without a signature, such as raw samples, cannot be identified. */
const SIGNATURES: readonly Signature[] = [
  ...['RIFF', 'RIFX', 'RF64', 'BW64'].map((start) => ({ start, form: 'WAVE', format: demuxed('wav') })),
  // The GUID of Sony's 64-bit WAV.
  { start: 'riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb', format: demuxed('w64') },
  { start: 'FORM', form: 'AIFF', format: demuxed('aiff') },
  { start: 'FORM', form: 'AIFC', format: demuxed('aiff') },
  { start: 'caff', format: demuxed('caf') },
  // RFC 4867, 5.1.
  { start: '#!AMR\n', format: demuxed('amr') },
  { start: '#!AMR-WB\n', format: demuxed('amr') },
  // The GUID of the ASF header object: WMA and WMV.
  { start: '\x30\x26\xb2\x75\x8e\x66\xcf\x11', format: demuxed('asf') },
  { start: '.snd', format: demuxed('au') },
  { start: 'Creative Voice ', format: demuxed('voc') },
  { start: 'RIFF', form: 'QLCM', format: demuxed('qcp') },
  { start: 'RIFF', form: 'AVI ', format: demuxed('avi') },
  { start: 'FLV\x01', format: demuxed('flv') },
  { start: '#!iLBC', format: demuxed('ilbc') },
  // Dictation machines; the first byte is the size of the header in blocks.
  { start: '\x02dss', format: demuxed('dss') },
  { start: '\x03dss', format: demuxed('dss') },
  { start: '\x03ds2', format: { container: 'dss', codec: 'DSS Pro (DS2)' } },
  { start: '\x07ds2', format: { container: 'dss', codec: 'DSS Pro (DS2)' } },
  { start: '#!SILK_V3', format: { container: 'silk', codec: 'SILK' } },
  { start: '\x02#!SILK_V3', format: { container: 'silk', codec: 'SILK' } },
  { start: '#!EVS_MC1.0\n', format: { container: 'evs', codec: 'EVS' } },
  { start: '#!AMR_MC1.0\n', format: { container: 'amr', codec: 'AMR with several channels' } },
  { start: '#!AMR-WB_MC1.0\n', format: { container: 'amr', codec: 'AMR-WB with several channels' } },
];

/** The format of a file that FFmpeg parses, or that is known and cannot be decoded; undefined for all others. */
export async function identifyFormat(bytes: ByteSource): Promise<Format | undefined> {
  const head = Buffer.from(await bytes.read(0, HEAD_BYTES)).toString('latin1');
  const found = SIGNATURES.find(
    ({ start, form = '' }) => head.startsWith(start) && head.startsWith(form, form === '' ? 0 : FORM_AT),
  );
  return found?.format ?? (isRawGsm(head) ? demuxed('gsm') : undefined);
}

function isRawGsm(head: string): boolean {
  return (
    head.length === HEAD_BYTES &&
    Array.from({ length: GSM_FRAMES }, (_, frame) => head.charCodeAt(frame * GSM_FRAME_BYTES)).every(
      (byte) => byte >> 4 === 0xd,
    )
  );
}
