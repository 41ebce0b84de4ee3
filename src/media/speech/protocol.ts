/** Messages between the server and the encoder process. A process serves many encodings concurrently. */

import type { EncodedFormat } from '../../contract/engines/audio-encoder.ts';

/** `encoding` identifies the encoding within its process. */
export type ToEncoderProcess =
  | { readonly kind: 'open'; readonly encoding: number; readonly format: EncodedFormat }
  /** The next samples. The process answers with `encoded`. */
  | { readonly kind: 'encode'; readonly encoding: number; readonly pcm: Uint8Array }
  /** The samples are complete. The process answers with the last `encoded`. */
  | { readonly kind: 'finish'; readonly encoding: number }
  | { readonly kind: 'drop'; readonly encoding: number };

export interface FromEncoderProcess {
  readonly kind: 'encoded';
  readonly encoding: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}
