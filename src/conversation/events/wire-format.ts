import type { AudioFormat } from '../../listen/audio-format.ts';
import type { WireFormat } from './server-events.ts';

const TYPES = { pcm16: 'audio/pcm', mulaw: 'audio/pcmu', alaw: 'audio/pcma' } as const;

/** The wire form of an audio format. */
export function toWireFormat({ encoding, rateHz }: AudioFormat): WireFormat {
  return { type: TYPES[encoding], rate: rateHz };
}
