import { invalidRequest, type ServiceError } from '../../contract/core/error.ts';
import type { ClipIssue } from './clip-protocol.ts';

const ALLOWED = 'Supported are MP4 and QuickTime files with H.264 or H.265 video and AAC, MP3 or no audio.';

/**
 * The 400 error for a clip that cannot be used.
 * @param field the request field with the clip.
 */
export function unusableClipError(issue: ClipIssue, field: string): ServiceError {
  return invalidRequest(issueMessage(issue, field), field, 'invalid_value');
}

function issueMessage(issue: ClipIssue, field: string): string {
  switch (issue.kind) {
    case 'unknown-format':
      return `The content of '${field}' has an unknown format. ${ALLOWED}`;
    case 'other-container':
      return `The content of '${field}' is a ${issue.container} file, not a video clip. ${ALLOWED}`;
    case 'bad-container':
      return `The ${issue.container} file in '${field}' is damaged or not supported. ${ALLOWED}`;
    case 'too-many-tracks':
      return `The clip in '${field}' has ${issue.tracks} tracks; the maximum is ${issue.max}.`;
    case 'no-video':
      return `The ${issue.container} file in '${field}' has no video track or is truncated.`;
    case 'video-codec':
      return `The clip in '${field}' has an unsupported video codec (${issue.codec}). ${ALLOWED}`;
    case 'audio-codec':
      return `The clip in '${field}' has an unsupported audio codec (${issue.codec}). ${ALLOWED}`;
    case 'too-many-pixels':
      return `The clip in '${field}' has frames of ${issue.width}x${issue.height} pixels; the maximum is ${issue.max} pixels per frame.`;
    case 'too-many-packets':
      return `The ${issue.track} of the clip in '${field}' has too many packets; the maximum is ${issue.max}.`;
    case 'no-frames':
      return `The clip in '${field}' has no visible frames.`;
    case 'cut-off':
      return `The clip in '${field}' is truncated.`;
    case 'broken':
      return `The ${issue.track} of the clip in '${field}' is damaged or truncated: it could not be decoded (${issue.codec}).`;
  }
}
