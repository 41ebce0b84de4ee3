import { invalidRequest, ServiceError, shuttingDown } from '../../contract/core/error.ts';
import type { AllowedFormats } from '../../contract/engines/audio-file.ts';
import type { LossReason } from './media-process.ts';
import type { MediaIssue } from './protocol.ts';

/** Supported formats, for messages. */
const READABLE_FORMATS =
  'WAV, MP3, M4A or MP4, 3GP, MOV, FLAC, OGG, WebM, MKV, AAC (ADTS), AIFF, CAF, AMR, WMA and AU';
const CONVERSION =
  'Convert the recording, for example with: ffmpeg -i RECORDING -ar 16000 -ac 1 converted.wav.';
const PROCESS_RETRY_AFTER_S = 1;

/**
 * The 400 error for a file that cannot be used.
 * @param field the request field with the file.
 * @param formats formats that the field allows.
 */
export function unusableFileError(
  issue: MediaIssue,
  field: string,
  formats = READABLE_FORMATS,
): ServiceError {
  return invalidRequest(issueMessage(issue, field, formats), field, 'invalid_value');
}

/** The 400 error for a readable file of a format that the field does not allow. */
export function wrongFormat(
  container: string,
  { label: words }: AllowedFormats,
  field: string,
): ServiceError {
  return invalidRequest(
    `The audio in '${field}' is a ${container} file. Supported: ${words}.`,
    field,
    'unsupported_value',
  );
}

function issueMessage(issue: MediaIssue, field: string, formats: string): string {
  switch (issue.kind) {
    case 'unknown-format':
      return `The content of '${field}' has an unknown audio format. ${CONVERSION} Supported: ${formats}.`;
    case 'bad-container': {
      const detail = issue.detail === undefined ? '' : ` (${issue.detail})`;
      return `The ${issue.container} file in '${field}' is damaged or not supported${detail}. Supported: ${formats}.`;
    }
    case 'no-audio':
      return `The ${issue.container} file in '${field}' has no audio track or is truncated.`;
    case 'unknown-codec':
      return `The ${issue.container} file in '${field}' has an unsupported audio codec (${issue.codec}). ${CONVERSION}`;
    case 'too-many-channels':
      return `The audio in '${field}' has ${issue.channels} channels; the maximum is ${issue.max}.`;
    case 'rate':
      return `The audio in '${field}' has a sample rate of ${issue.rateHz} Hz; supported: ${issue.allowed}.`;
    case 'too-long':
      return `The audio in '${field}' is ${Math.round(issue.declaredS)} s long according to its header; the maximum is ${issue.maxS} s.`;
    case 'no-samples':
      return `The ${issue.container} file in '${field}' has no audio samples.`;
    case 'broken':
      return `The ${issue.codec} audio of the ${issue.container} file in '${field}' is damaged and could not be decoded.`;
  }
}

/**
 * The error for a lost process. If the process failed while it handled the file, the file is the cause.
 * @param limits the timeout and memory limit of the process.
 */
export function lossError(
  reason: LossReason,
  field: string,
  limits: { readonly stallTimeoutMs: number; readonly memoryLimitBytes: number },
  thing: 'audio' | 'clip' = 'audio',
): ServiceError {
  switch (reason) {
    case 'not-started':
      return new ServiceError(
        'overloaded',
        `The process that decodes ${thing === 'audio' ? 'audio' : 'clips'} could not be started. Retry later.`,
        {
          code: 'server_overloaded',
          retryAfterS: PROCESS_RETRY_AFTER_S,
        },
      );
    case 'killed':
      return shuttingDown();
    case 'stalled':
      return invalidRequest(
        `The ${thing} in '${field}' could not be decoded: no output for ${limits.stallTimeoutMs / 1000} s.`,
        field,
        'invalid_value',
      );
    case 'memory':
      return invalidRequest(
        `The ${thing} in '${field}' could not be decoded: the decoder exceeded ${Math.round(limits.memoryLimitBytes / 2 ** 20)} MiB of memory.`,
        field,
        'invalid_value',
      );
    case 'cpu-limit':
      return invalidRequest(
        `The ${thing} in '${field}' could not be decoded: the decoder exceeded its CPU time limit.`,
        field,
        'invalid_value',
      );
    case 'credit-exceeded':
      return invalidRequest(
        `The ${thing} in '${field}' could not be decoded: the decoder sent invalid data.`,
        field,
        'invalid_value',
      );
    case 'crashed':
      return invalidRequest(
        `The ${thing} in '${field}' could not be decoded: the decoder crashed.`,
        field,
        'invalid_value',
      );
  }
}
