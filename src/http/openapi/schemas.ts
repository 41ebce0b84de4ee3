import { type TSchema, Type } from '@sinclair/typebox';

/** Schemas that several routes share. */

export const ErrorSchema = Type.Object(
  {
    error: Type.Object({
      message: Type.String({
        description: 'The problem, its location, and what is allowed.',
        examples: ["'model' is required and must be a string."],
      }),
      type: Type.String({ examples: ['invalid_request_error'] }),
      param: Type.Union([Type.String(), Type.Null()], {
        description: 'The invalid field.',
        examples: ['model'],
      }),
      code: Type.Union([Type.String(), Type.Null()], { examples: ['missing_required_parameter'] }),
    }),
  },
  { title: 'Error', description: 'The body of every error response.' },
);

/** Unix time in seconds, as in OpenAI's objects. */
export const UnixSeconds = Type.Integer({ description: 'Unix time in seconds.', examples: [1_765_000_000] });

/** A field that can be null. */
export const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);
