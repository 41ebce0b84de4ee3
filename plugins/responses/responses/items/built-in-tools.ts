/**
 * Tools that the service runs by itself: the model calls one, it runs, the model reads what it gave and goes
 * on, all inside one response (openai-wire 6.5, 6.8).
 */

import type { FunctionTool } from '../../../../src/contract/engines/text.ts';

export type BuiltInType = 'web_search' | 'code_interpreter';

/** A page that a search found. */
export interface SearchSource {
  readonly url: string;
  readonly title: string;
}

/** What a program gave, in wire form. An image is a `data:` URL. */
export type CodeOutput =
  | { readonly type: 'logs'; readonly logs: string }
  | { readonly type: 'image'; readonly url: string };

export interface BuiltInResult {
  /**
   * `incomplete`: it was cut off by a limit; `failed`: it could not be done. The model learns of both from `text`
   * and goes on. A program that throws is `completed`: its traceback is what it gave.
   */
  readonly status: 'completed' | 'incomplete' | 'failed';
  /** What the model reads. */
  readonly text: string;
  /** Of a search. */
  readonly sources?: readonly SearchSource[];
  /** Of a program. */
  readonly outputs?: readonly CodeOutput[];
}

/** One tool for one response. */
export interface BuiltInTool {
  readonly type: BuiltInType;
  /**
   * The function that the model sees. Its arguments are one object with one required string: `query` for
   * `web_search`, `code` for `code_interpreter`.
   */
  readonly tool: FunctionTool;
  /**
   * Runs one call; calls of a response come one after the other.
   * @param input the `query` or the `code`.
   * @throws the signal's reason after an abort. Anything else that it throws is logged and counts as `failed`.
   */
  run(input: string, signal: AbortSignal): Promise<BuiltInResult>;
  /** The response has ended. Idempotent. */
  close(): Promise<void>;
}

/** What a request may set of a search; a `code_interpreter` has no settings. */
export interface SearchSettings {
  readonly contextSize?: 'low' | 'medium' | 'high' | undefined;
  /** Host names; absent: all. */
  readonly allowedDomains?: readonly string[] | undefined;
  /** ISO 3166-1 code of the country of the user. */
  readonly country?: string | undefined;
}

export interface BuiltInTools {
  /**
   * Makes a tool for one response. It holds nothing before its first run.
   * @param owner API key for which it runs.
   * @throws ServiceError `invalid_request`, code `unsupported_value`, when the service is set up without it; the
   *   message says how to set it up.
   */
  open(type: BuiltInType, settings: SearchSettings, owner: string): BuiltInTool;
}
