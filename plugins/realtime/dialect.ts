/** Whose event names a connection speaks (openai-wire 8.2). */

/** `spec`: the specification's names, which are OpenAI's beta names. `ga`: the names of its later protocol. */
export type Dialect = 'spec' | 'ga';
