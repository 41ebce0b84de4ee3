/** Conversion of 16-bit mono samples from stream bytes, to and from base64, and to Web Audio floats. */

export type Samples = Int16Array<ArrayBuffer>;

/** Reads little-endian samples from chunks that may split a sample. */
export class PcmReader {
  /** First byte of a sample whose second byte has not arrived. */
  #half: Uint8Array = new Uint8Array(0);

  /** Returns the complete samples as a copy. */
  read(bytes: Uint8Array): Samples {
    const all = new Uint8Array(this.#half.length + bytes.length);
    all.set(this.#half);
    all.set(bytes, this.#half.length);
    const whole = all.length - (all.length % 2);
    this.#half = all.slice(whole);
    const view = new DataView(all.buffer);
    return Int16Array.from({ length: whole / 2 }, (_, at) => view.getInt16(at * 2, true));
  }
}

/** Maximum number of arguments of one `fromCharCode` call that all browsers support. */
const MAX_ARGUMENTS = 8192;

/** Encodes samples as base64 of their little-endian bytes, as `input_audio_buffer.append` requires. */
export function base64Of(samples: Samples): string {
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  samples.forEach((sample, at) => {
    view.setInt16(at * 2, sample, true);
  });
  let text = '';
  for (let at = 0; at < bytes.length; at += MAX_ARGUMENTS) {
    text += String.fromCharCode(...bytes.subarray(at, at + MAX_ARGUMENTS));
  }
  return btoa(text);
}

/** Decodes base64. @throws DOMException for invalid input. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Number of bytes that base64 text encodes. */
export function base64Bytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

/** Converts samples to floats from -1 to 1. */
export function floatsOf(samples: Samples): Float32Array<ArrayBuffer> {
  return Float32Array.from(samples, (sample) => sample / 0x8000);
}
