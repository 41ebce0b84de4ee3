import { invalidRequest, type ServiceError } from '../../contract/core/error.ts';
import type { ClipFault } from './clip-protocol.ts';

const ALLOWED =
  'Allowed are MP4 and QuickTime files with H.264 or H.265 video, and with AAC, MP3 or no audio.';

/**
 * The 400 for a clip that cannot be used.
 * @param field the request's field that held it.
 */
export function clipFaultError(fault: ClipFault, field: string): ServiceError {
  return invalidRequest(faultMessage(fault, field), field, 'invalid_value');
}

function faultMessage(fault: ClipFault, field: string): string {
  switch (fault.kind) {
    case 'unknown-format':
      return `The content of '${field}' is in no format that can be read. ${ALLOWED}`;
    case 'other-container':
      return `The content of '${field}' is a file of the format ${fault.container}, which is no clip. ${ALLOWED}`;
    case 'bad-container':
      return `The ${fault.container} file in '${field}' is damaged or of a kind that cannot be read. ${ALLOWED}`;
    case 'too-many-tracks':
      return `The clip in '${field}' has ${fault.tracks} tracks; at most ${fault.most} are allowed.`;
    case 'no-video':
      return `The ${fault.container} file in '${field}' has no video track, or breaks off before it tells of one.`;
    case 'video-codec':
      return `The clip in '${field}' has video of a codec that cannot be used (${fault.codec}). ${ALLOWED}`;
    case 'audio-codec':
      return `The clip in '${field}' has audio of a codec that cannot be used (${fault.codec}). ${ALLOWED}`;
    case 'too-many-pixels':
      return `The clip in '${field}' has frames of ${fault.width}x${fault.height} pixels; at most ${fault.most} pixels a frame are allowed.`;
    case 'too-many-packets':
      return `The ${fault.track} of the clip in '${field}' has more than the allowed ${fault.most} packets.`;
    case 'no-frames':
      return `The clip in '${field}' has no frames that are shown.`;
    case 'cut-off':
      return `The clip in '${field}' breaks off before its end.`;
    case 'broken':
      return `The ${fault.track} of the clip in '${field}' is damaged or breaks off: it could not be decoded (${fault.codec}).`;
  }
}
