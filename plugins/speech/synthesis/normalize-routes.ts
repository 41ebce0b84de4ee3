import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { splitSentences } from '../../../src/audio/sentences.ts';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { Route } from '../../../src/contract/route.ts';
import { jsonBody, jsonResponse, WORK_FAILURES } from '../../../src/http/openapi/route-docs.ts';
import { presentFields, validFields } from '../../../src/http/request/fields.ts';
import { route } from '../../../src/http/route.ts';
import type { EventLoopYielder } from '../../../src/kit/async/event-loop-yielder.ts';
import { codePoints } from '../../../src/kit/validation/code-points.ts';
import { SentenceLanguages } from '../../../src/speak/sentence-languages.ts';
import {
  DEFAULT_LANGUAGE,
  FRONT_ENDS,
  frontEndOf,
  languageOfScript,
  requireFrontEnd,
  spokenForm,
  type TextFrontEnd,
} from '../../../src/text/front-end.ts';
import { inputError } from './schema.ts';

const FIELDS = {
  input: Type.String({
    description: 'The text. Characters are Unicode code points.',
    examples: ['It costs $12.50 at 7:45.'],
  }),
  language: Type.Optional(
    Type.String({
      description:
        'Language of the text as a BCP 47 tag, such as `es` or `pt-BR`, in any case. Default: each paragraph is in the language that is detected, or in American English.',
      examples: ['en-US'],
    }),
  ),
};
const NormalizeBody = Type.Object(FIELDS);
const checker = TypeCompiler.Compile(NormalizeBody);

const SpokenText = Type.Object(
  {
    language: Type.String({
      description:
        'BCP 47 tag of the language whose rules were applied; of several, that of most of the text.',
    }),
    spoken: Type.String({
      description: 'The text as one line, with its punctuation. Empty if it contains nothing to speak.',
    }),
  },
  {
    title: 'SpokenText',
    examples: [{ language: 'en-US', spoken: 'It costs twelve dollars and fifty cents at seven forty-five.' }],
  },
);

/** The languages of a request without one, as of speech with one of OpenAI's voices. */
const POSSIBLE = { languages: FRONT_ENDS.map(({ language }) => language), usual: DEFAULT_LANGUAGE };

/** The language of a request. @throws ServiceError `invalid_request` for a language without rules. */
function requestedFrontEnd(tag: string | undefined): TextFrontEnd | undefined {
  if (tag === undefined) return undefined;
  const found = frontEndOf(tag);
  if (found !== undefined) return found;
  const known = FRONT_ENDS.map(({ language }) => language).join(', ');
  const message = `'language' is not supported. Supported languages: ${known}.`;
  throw invalidRequest(message, 'language', 'unsupported_value');
}

export interface NormalizeServices {
  readonly yielder: EventLoopYielder;
}

/**
 * POST /v1/audio/normalize, an extension: how a text is spoken, for previews. Needs no model and is free. The text is
 * processed in the sentences of the synthesis (at most 600 characters: below 10 ms); between them, other requests are served.
 * @param maxCharacters of `input`, in Unicode code points.
 */
export function normalizeRoutes(maxCharacters: number): readonly Route<NormalizeServices>[] {
  const documented = { ...FIELDS.input, minLength: 1, maxLength: maxCharacters };
  return [
    route({
      method: 'POST',
      path: '/v1/audio/normalize',
      tag: 'audio',
      summary: 'Spoken form of a text',
      description:
        'Returns the text as the embedded speech models read it: numbers, dates, amounts, units, abbreviations and addresses in words. Free. Extension.',
      body: {
        json: { schema: jsonBody({ ...NormalizeBody, properties: { ...FIELDS, input: documented } }) },
        read(body) {
          const fields = validFields<Static<typeof NormalizeBody>>(
            presentFields(body, NormalizeBody),
            checker,
          );
          const error = inputError(fields.input, codePoints(fields.input), maxCharacters);
          if (error !== undefined) throw error;
          return { input: fields.input.toWellFormed(), frontEnd: requestedFrontEnd(fields.language?.trim()) };
        },
      },
      responses: {
        200: jsonResponse('The spoken form', SpokenText),
        400: WORK_FAILURES[400],
        415: 'The body is neither JSON nor a form',
      },
      async handle({ body: { input: text, frontEnd: requested } }, { yielder }: NormalizeServices) {
        const sentences = splitSentences(text);
        const detected = requested === undefined ? new SentenceLanguages().all(sentences, POSSIBLE) : [];
        const spoken: string[] = [];
        const characters = new Map<string, number>();
        for (const [index, sentence] of sentences.entries()) {
          const usual = detected[index] ?? DEFAULT_LANGUAGE;
          const frontEnd = requested ?? requireFrontEnd(languageOfScript(sentence, usual));
          spoken.push(spokenForm(frontEnd, sentence));
          const { language } = frontEnd;
          characters.set(language, (characters.get(language) ?? 0) + sentence.length);
          await yielder.yieldNow();
        }
        const [[language] = [DEFAULT_LANGUAGE]] = [...characters].toSorted(([, a], [, b]) => b - a);
        return { language, spoken: spoken.filter((sentence) => sentence !== '').join(' ') };
      },
    }),
  ];
}
