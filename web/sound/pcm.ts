/** Sound as 16-bit mono samples: out of the bytes of a stream, into the text of an event, into what a browser plays. */

export type Samples = Int16Array<ArrayBuffer>;

/** Reads little-endian samples from pieces that may end in the middle of one. */
export class PcmReader {
  /** The first byte of a sample whose second one is still to come. */
  #half: Uint8Array = new Uint8Array(0);

  /** The samples that are whole now; their bytes are a copy. */
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

/** Bytes that one call of `fromCharCode` takes as arguments in every browser. */
const MAX_ARGUMENTS = 8192;

/** Samples as the text that an append carries: base64 of their little-endian bytes. */
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

/** The bytes of a base64 text. @throws DOMException when it is none. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Samples as the browser plays them, from -1 to 1. */
export function floatsOf(samples: Samples): Float32Array<ArrayBuffer> {
  return Float32Array.from(samples, (sample) => sample / 0x8000);
}
