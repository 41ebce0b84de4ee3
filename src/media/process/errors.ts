import { invalidRequest, ServiceError, shuttingDown } from '../../contract/core/error.ts';
import type { AllowedFormats } from '../../contract/engines/audio-file.ts';
import type { LossReason } from './media-process.ts';
import type { MediaFault } from './protocol.ts';

/** What is read, as messages name it. */
const READABLE_FORMATS = 'WAV, MP3, M4A or MP4, MOV, FLAC, OGG (Opus or Vorbis), WebM, MKV and AAC (ADTS)';
const PROCESS_RETRY_AFTER_S = 1;

/**
 * The 400 for a file that cannot be used.
 * @param field the request's field that held it.
 * @param formats those that are allowed there.
 */
export function faultError(fault: MediaFault, field: string, formats = READABLE_FORMATS): ServiceError {
  return invalidRequest(faultMessage(fault, field, formats), field, 'invalid_value');
}

/** The 400 for a file that could be read, where others are asked for. */
export function wrongFormat(container: string, { label: words }: AllowedFormats, field: string): ServiceError {
  return invalidRequest(
    `The audio in '${field}' is a ${container} file. Allowed are ${words}.`,
    field,
    'unsupported_value',
  );
}

function faultMessage(fault: MediaFault, field: string, formats: string): string {
  switch (fault.kind) {
    case 'unknown-format':
      return `The content of '${field}' is in no audio format that can be read. Allowed are ${formats}.`;
    case 'bad-container': {
      const detail = fault.detail === undefined ? '' : ` (${fault.detail})`;
      return `The ${fault.container} file in '${field}' is damaged or of a kind that cannot be read${detail}. Allowed are ${formats}.`;
    }
    case 'no-audio':
      return `The ${fault.container} file in '${field}' has no audio track, or breaks off before it tells of one.`;
    case 'unknown-codec':
      return `The ${fault.container} file in '${field}' holds audio of a codec that cannot be decoded (${fault.codec}). Allowed are ${formats}.`;
    case 'too-many-channels':
      return `The audio in '${field}' has ${fault.channels} channels; at most ${fault.most} are allowed.`;
    case 'rate':
      return `The audio in '${field}' has a sample rate of ${fault.rateHz} Hz; allowed are ${fault.allowed}.`;
    case 'too-long':
      return `The audio in '${field}' is ${Math.round(fault.declaredS)} s long by its header, which is longer than the allowed ${fault.maxS} s.`;
    case 'no-samples':
      return `The ${fault.container} file in '${field}' holds no sound: not one sample.`;
    case 'broken':
      return `The ${fault.codec} audio of the ${fault.container} file in '${field}' is damaged and could not be decoded.`;
  }
}

/**
 * What a caller reads when the process is gone. Whatever a file made the process do is the file's fault.
 * @param limits how long it was waited for, and how much memory it could have.
 */
export function lossError(
  reason: LossReason,
  field: string,
  limits: { readonly stallLimitMs: number; readonly memoryLimitBytes: number },
  thing: 'audio' | 'clip' = 'audio',
): ServiceError {
  switch (reason) {
    case 'not-started':
      return new ServiceError(
        'overloaded',
        `The process that decodes ${thing === 'audio' ? 'audio' : 'clips'} could not be started. Try again shortly.`,
        {
          code: 'server_overloaded',
          retryAfterS: PROCESS_RETRY_AFTER_S,
        },
      );
    case 'killed':
      return shuttingDown();
    case 'stalled':
      return invalidRequest(
        `The ${thing} in '${field}' takes the decoder too long: nothing came for ${limits.stallLimitMs / 1000} s.`,
        field,
        'invalid_value',
      );
    case 'memory':
      return invalidRequest(
        `The ${thing} in '${field}' takes the decoder more than the allowed ${Math.round(limits.memoryLimitBytes / 2 ** 20)} MiB of memory.`,
        field,
        'invalid_value',
      );
    case 'processor':
      return invalidRequest(
        `The ${thing} in '${field}' takes the decoder too much work.`,
        field,
        'invalid_value',
      );
    case 'unruly':
      return invalidRequest(
        `The ${thing} in '${field}' could not be decoded: it led the decoder astray.`,
        field,
        'invalid_value',
      );
    case 'died':
      return invalidRequest(
        `The ${thing} in '${field}' could not be decoded: it ended the decoder.`,
        field,
        'invalid_value',
      );
  }
}
