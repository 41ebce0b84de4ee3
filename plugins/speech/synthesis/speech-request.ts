import type { Caller } from '../../../src/contract/accounts/caller.ts';
import { joinedErrors, type ServiceError } from '../../../src/contract/core/error.ts';
import type { TtsEngine } from '../../../src/contract/engines/engine.ts';
import type { ModelTable } from '../../../src/contract/model-table.ts';
import type { SpeechRequests } from '../../../src/speak/speech-requests.ts';
import { formatNamed, formatRulesOf, type SpeechFormat, unsupportedFormat } from './formats.ts';
import { inFieldOrder, readSpeechBody, type SpeechFields } from './schema.ts';

export interface SpeechRequest extends Omit<SpeechFields, 'responseFormat'> {
  readonly format: SpeechFormat;
  /** Whether the audio is sent during the synthesis. */
  readonly isStreamed: boolean;
  /** Whether the model has OpenAI compatibility. */
  readonly isCompatible: boolean;
}

export interface RequestRules {
  readonly tts: ModelTable<TtsEngine>;
  readonly requests: Pick<SpeechRequests, 'errorsOf'>;
  /** Maximum length of `input` in Unicode code points. */
  readonly maxCharacters: number;
}

/**
 * Validates a request by the rules of its model.
 * @param body a JSON object, or the fields of a form.
 * @param isForm whether scalars are strings.
 * @throws ServiceError `invalid_request` with all errors of the request, in the order of the fields. An unknown voice alone is not
 *   one of them: the synthesis reports it, when a slot of the organization is free.
 */
export async function validRequest(
  body: object | null,
  isForm: boolean,
  { tts, requests, maxCharacters }: RequestRules,
  caller: Caller,
): Promise<SpeechRequest> {
  const read = readSpeechBody(body, isForm, maxCharacters);
  const { model, voice, language, responseFormat } = read.choices;
  const engine = model === undefined ? undefined : tts.get(model);
  const rules = formatRulesOf(engine ?? { compatibility: 'openai' });
  const format = responseFormat === undefined ? rules.byDefault : formatNamed(responseFormat, rules);
  if (read.fields !== undefined && engine !== undefined && format !== undefined) {
    const { responseFormat: _, ...fields } = read.fields;
    const isCompatible = engine.compatibility === 'openai';
    return { ...fields, format, isStreamed: format !== 'wav' || rules.streamsWav, isCompatible };
  }
  const errors: ServiceError[] = [
    ...read.errors,
    ...(await requests.errorsOf({ model, voiceId: voice, voiceParam: 'voice', language }, caller)),
  ];
  if (format === undefined) errors.push(unsupportedFormat(engine, tts));
  const [first, ...others] = inFieldOrder(errors);
  if (first === undefined) throw new Error('an invalid request has no error');
  throw joinedErrors([first, ...others]);
}
