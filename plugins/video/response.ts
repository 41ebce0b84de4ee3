/** The wire object of a video (spec 2.4): every key is present, null without a value. */

import { type Static, Type } from '@sinclair/typebox';
import { VIDEO_STATUSES, type VideoRecord } from '../../src/contract/stores/video-store.ts';
import { UnixSeconds } from '../../src/http/openapi/schemas.ts';
import { oneOf } from '../../src/kit/validation/type-errors.ts';

const orNull = Type.Null();

export const VideoObject = Type.Object(
  {
    id: Type.String({ examples: ['video_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'] }),
    object: Type.Literal('video'),
    model: Type.String({ examples: ['vid-2.0'] }),
    status: oneOf(VIDEO_STATUSES),
    progress: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'Percent. An estimate from the elapsed time, at most 95 until completion.',
    }),
    created_at: UnixSeconds,
    completed_at: Type.Union([Type.Integer(), orNull], { description: 'Time of completion or failure.' }),
    expires_at: Type.Null({ description: 'Always null: videos are stored until they are deleted.' }),
    prompt: Type.String(),
    size: Type.String({ description: 'WIDTHxHEIGHT of the segment.', examples: ['1280x720'] }),
    seconds: Type.String({
      description: 'Length of the new segment: as requested, and the actual length once completed.',
      examples: ['8'],
    }),
    audio: Type.Boolean({ description: 'Whether the segment has audio.' }),
    error: Type.Union([
      Type.Object({
        code: oneOf(['generation_failed', 'content_policy_violation', 'upstream_error', 'timeout']),
        message: Type.String(),
      }),
      orNull,
    ]),
    remixed_from_video_id: orNull,
    metadata: Type.Union(
      [
        Type.Object({
          note: Type.String({
            description: 'How the model generates segments, if it does not follow the prompt.',
          }),
        }),
        orNull,
      ],
      { description: 'Extension of this service.' },
    ),
  },
  { title: 'Video' },
);

/** @param progress in percent. */
export function videoObject(video: VideoRecord, progress: number): Static<typeof VideoObject> {
  const { width, height, seconds, audio } = video.result?.segment ?? video;
  return {
    id: video.id,
    object: 'video',
    model: video.model,
    status: video.status,
    progress,
    created_at: video.createdAt,
    completed_at: video.completedAt ?? null,
    expires_at: null,
    prompt: video.prompt,
    size: `${width}x${height}`,
    seconds: String(Math.round(seconds * 1000) / 1000),
    audio,
    error: video.error ?? null,
    remixed_from_video_id: null,
    metadata: video.note === undefined ? null : { note: video.note },
  };
}
