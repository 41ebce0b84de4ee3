import { Type } from '@sinclair/typebox';
import { t } from 'elysia';

/** Schemas that several routes share, in wire names; they are what Swagger shows. */

export const ErrorSchema = t.Object(
  {
    error: t.Object({
      message: t.String({
        description: 'What was wrong, where, and what is allowed.',
        examples: ["'model' is required and must be a string."],
      }),
      type: t.String({ examples: ['invalid_request_error'] }),
      param: t.Union([t.String(), t.Null()], { description: 'The field at fault.', examples: ['model'] }),
      code: t.Union([t.String(), t.Null()], { examples: ['missing_required_parameter'] }),
    }),
  },
  { title: 'Error', description: 'The body of every failed request.' },
);

/** Unix time in seconds, as OpenAI's objects have it. */
export const UnixSeconds = Type.Integer({ description: 'Unix time in seconds.', examples: [1_765_000_000] });
