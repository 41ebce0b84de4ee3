/** Fields that guide the transcription of a session or of a conversation. */

import { languageRule, reducedLanguage } from '../../../src/kit/validation/languages.ts';
import { cleanKeywords, KEYWORDS_RULE } from '../../../src/listen/keywords.ts';
import { MAX_LANGUAGES } from '../limits.ts';
import type { FieldErrors, SentField } from './fields.ts';

/** Value of `include` that adds log probabilities to the events of transcripts. */
export const LOGPROBS = 'item.input_audio_transcription.logprobs';

/** Reads the languages that may be detected, as codes; null and an empty list mean all. @param known codes of the model. */
export function languagesOf(
  sent: SentField | undefined,
  prior: readonly string[] | undefined,
  known: readonly string[] | undefined,
  errors: FieldErrors,
): readonly string[] | undefined {
  const written = textsOf(sent, errors);
  if (sent === undefined || written === undefined) return prior;
  const languages = written.map((each) => reducedLanguage(each, known));
  if (written.length > MAX_LANGUAGES || languages.includes(undefined)) {
    errors.invalid(
      sent.path,
      `must be a list of at most ${MAX_LANGUAGES} languages, each ${languageRule(known)}, or null for all`,
    );
    return prior;
  }
  const codes = new Set(languages.filter((code) => code !== undefined));
  return codes.size === 0 ? undefined : [...codes];
}

/** Reads keywords; null and an empty list mean none. */
export function keywordsOf(
  sent: SentField | undefined,
  prior: readonly string[] | undefined,
  errors: FieldErrors,
): readonly string[] | undefined {
  const written = textsOf(sent, errors);
  if (sent === undefined || written === undefined) return prior;
  const keywords = cleanKeywords(written);
  if (keywords === undefined) {
    errors.invalid(sent.path, `must ${KEYWORDS_RULE}, or null`);
    return prior;
  }
  return keywords.length === 0 ? undefined : keywords;
}

/** Reads a list of texts; null is an empty one. */
function textsOf(sent: SentField | undefined, errors: FieldErrors): readonly string[] | undefined {
  if (sent === undefined) return undefined;
  const value: unknown = sent.value ?? [];
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  errors.invalid(sent.path, 'must be a list of strings, or null');
  return undefined;
}
