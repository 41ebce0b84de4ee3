/** Files of synthesized speech that can be read while they grow: MP3, Ogg Opus, AAC in ADTS, FLAC. */

import { FF_ENCODER_AAC, FF_ENCODER_FLAC, FF_ENCODER_LIBMP3LAME, FF_ENCODER_LIBOPUS } from 'node-av';
import { decodeToInt16 } from '../../audio/codec.ts';
import { Resampler } from '../../audio/resampler.ts';
import { type Int16Samples, SPEECH_RATE_HZ } from '../../contract/engines/audio.ts';
import type { EncodedFormat } from '../../contract/engines/audio-encoder.ts';
import { type AdtsOptions, adtsFrame } from './adts.ts';
import { OggOpusWriter } from './ogg-opus.ts';
import { type EncodedPacket, PacketEncoder, type PacketEncoderOptions } from './packet-encoder.ts';

/**
 * AAC cannot state its delay of one frame, and the last frame is padded. Frames of 21 ms at 48 kHz keep both below 43 ms; at
 * 24 kHz they would be up to 85 ms.
 */
const AAC_RATE_HZ = 48_000;
/** The longest frame of 64 kbit/s, with its header. */
const AAC_FRAMES: AdtsOptions = { rateHz: AAC_RATE_HZ, frameBytes: 178 };

/** Settings for speech (docs/decisions/speech-formats.md). */
const ENCODERS: Readonly<Record<EncodedFormat, PacketEncoderOptions>> = {
  mp3: {
    encoder: FF_ENCODER_LIBMP3LAME,
    rateHz: SPEECH_RATE_HZ,
    samples: 'int16p',
    bitRate: 96_000,
    // Each frame can be decoded without earlier ones, so the frame of the encoder's delay can be omitted.
    options: { reservoir: '0', compression_level: '5' },
  },
  opus: {
    encoder: FF_ENCODER_LIBOPUS,
    rateHz: SPEECH_RATE_HZ,
    samples: 'int16',
    bitRate: 40_000,
    // From level 7 on, libopus classifies the signal as speech or music, which takes twice the time of the encoding.
    options: { application: 'audio', frame_duration: '20', compression_level: '6' },
  },
  aac: {
    encoder: FF_ENCODER_AAC,
    rateHz: AAC_RATE_HZ,
    samples: 'float',
    bitRate: 64_000,
    // With `bt` no frame exceeds the bit rate, so all can be filled to the same length. With the coder `fast` and without noise
    // substitution and temporal noise shaping the encoder has the highest signal-to-noise ratio of speech, and takes a tenth of the time.
    options: { bt: '0', aac_coder: 'fast', aac_pns: '0', aac_tns: '0' },
  },
  flac: { encoder: FF_ENCODER_FLAC, rateHz: SPEECH_RATE_HZ, samples: 'int16', options: {} },
};

/** Converts the packets of one encoder to the bytes of a file. */
interface Container {
  start(): Uint8Array<ArrayBuffer>;
  add(packets: Iterable<EncodedPacket>): Uint8Array<ArrayBuffer>;
  finish(): Uint8Array<ArrayBuffer>;
}

/** A file that is being encoded. */
export class SpeechFile {
  readonly #encoder: PacketEncoder;
  readonly #container: Container;
  readonly #resampler: Resampler<'int16'> | undefined;
  #started = false;

  private constructor(encoder: PacketEncoder, format: EncodedFormat) {
    const { rateHz } = ENCODERS[format];
    this.#encoder = encoder;
    this.#container = containerOf(format, encoder);
    if (rateHz !== SPEECH_RATE_HZ) {
      this.#resampler = new Resampler({ fromHz: SPEECH_RATE_HZ, toHz: rateHz, format: 'int16' });
    }
  }

  static async open(format: EncodedFormat): Promise<SpeechFile> {
    return new SpeechFile(await PacketEncoder.open(ENCODERS[format]), format);
  }

  /** Adds signed 16-bit little-endian mono samples at 24 kHz. Returns the bytes that are complete. */
  encode(pcm: Uint8Array): Uint8Array<ArrayBuffer> {
    const samples = decodeToInt16(pcm, 'pcm16');
    return this.#write(this.#encoder.encode(this.#resampler?.push(samples) ?? samples));
  }

  /** Ends the file. Returns its last bytes. */
  finish(): Uint8Array<ArrayBuffer> {
    const rest: Int16Samples = this.#resampler?.flush() ?? new Int16Array();
    const bytes = [this.#write(this.#encoder.encode(rest)), this.#write(this.#encoder.finish())];
    return Uint8Array.from(Buffer.concat([...bytes, this.#container.finish()]));
  }

  close(): void {
    this.#encoder.close();
    this.#resampler?.close();
  }

  #write(packets: Iterable<EncodedPacket>): Uint8Array<ArrayBuffer> {
    const bytes = this.#container.add(packets);
    if (this.#started) return bytes;
    this.#started = true;
    return Uint8Array.from(Buffer.concat([this.#container.start(), bytes]));
  }
}

function containerOf(format: EncodedFormat, encoder: PacketEncoder): Container {
  switch (format) {
    case 'mp3':
      // A frame that ends before the speech only has the delay of the encoder. 22 ms of it remain.
      return frames(({ data, startSample, samples }) => (startSample + samples <= 0 ? [] : [data]));
    case 'aac':
      return frames(({ data }) => [adtsFrame(data, AAC_FRAMES)]);
    case 'flac':
      return frames(
        ({ data }) => [data],
        [Buffer.from('fLaC'), metadataHeader(encoder.header), encoder.header],
      );
    case 'opus':
      return new OggOpusWriter(
        encoder.header,
        SPEECH_RATE_HZ,
        crypto.getRandomValues(new Uint32Array(1))[0] ?? 0,
      );
  }
}

/** A format whose packets follow each other. */
function frames(
  write: (packet: EncodedPacket) => readonly Uint8Array[],
  header: readonly Uint8Array[] = [],
): Container {
  return {
    start: () => Uint8Array.from(Buffer.concat(header)),
    add: (packets) => Uint8Array.from(Buffer.concat([...packets].flatMap(write))),
    finish: () => new Uint8Array(),
  };
}

/** The header of STREAMINFO, the only metadata block (RFC 9639, 8.1). It does not state the length, which is unknown. */
function metadataHeader({ length }: Uint8Array): Uint8Array {
  return Uint8Array.of(0x80, 0, 0, length);
}
