import { Type } from '@sinclair/typebox';

/** Fields of a request that select how tokens are chosen. */
export const SAMPLING = {
  temperature: Type.Optional(
    Type.Number({ minimum: 0, maximum: 2, default: 1, description: '0: always the most likely token.' }),
  ),
  top_p: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'Nucleus sampling: cumulative probability of the tokens considered.',
    }),
  ),
};
