import { type TSchema, Type } from '@sinclair/typebox';
import { t } from 'elysia';

/** Schemas that several routes share. */

export const ErrorSchema = t.Object(
  {
    error: t.Object({
      message: t.String({
        description: 'The problem, its location, and what is allowed.',
        examples: ["'model' is required and must be a string."],
      }),
      type: t.String({ examples: ['invalid_request_error'] }),
      param: t.Union([t.String(), t.Null()], { description: 'The invalid field.', examples: ['model'] }),
      code: t.Union([t.String(), t.Null()], { examples: ['missing_required_parameter'] }),
    }),
  },
  { title: 'Error', description: 'The body of every error response.' },
);

/** Unix time in seconds, as in OpenAI's objects. */
export const UnixSeconds = Type.Integer({ description: 'Unix time in seconds.', examples: [1_765_000_000] });

/** A field that can be null. */
export const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);
