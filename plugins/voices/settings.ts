import { Type } from '@sinclair/typebox';
import { ignored, integer, section } from '../../src/config/section.ts';

export const voicesSettings = [
  section('voices', {
    fitSeconds: ignored('fit_seconds', Type.Integer({ minimum: 0, maximum: 3600 }), {
      default: undefined,
      example: 20,
      doc: 'without effect since version 0.2; accepted until 0.3',
    }),
  }),
  section('limits', {
    /** Size of an uploaded clip. */
    voiceClipBytes: integer('voice_clip_max_bytes', {
      min: 1024,
      max: 1_073_741_824,
      default: 20 * 1024 * 1024,
      doc: 'per uploaded clip of a stored voice',
    }),
    /** Stored voices. */
    voicesPerOrganization: integer('voices_per_organization', {
      min: 1,
      max: 100_000,
      default: 100,
      doc: 'further voices get 400',
    }),
  }),
] as const;
