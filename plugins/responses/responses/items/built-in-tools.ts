/**
 * Built-in tools: the model calls one, the service runs it, and the model continues with the result within
 * the same response (openai-wire 6.5, 6.8).
 */

import type { FunctionTool } from '../../../../src/contract/engines/text.ts';

export type BuiltInType = 'web_search' | 'code_interpreter';

/** A page in the result of a search. */
export interface SearchSource {
  readonly url: string;
  readonly title: string;
}

/** Output of a program in wire form. An image is a `data:` URL. */
export type CodeOutput =
  | { readonly type: 'logs'; readonly logs: string }
  | { readonly type: 'image'; readonly url: string };

export interface BuiltInResult {
  /**
   * `incomplete`: stopped by a limit; `failed`: not executed. In both cases `text` describes the reason and
   * the model continues. A program that raises an exception is `completed`: its traceback is the result.
   */
  readonly status: 'completed' | 'incomplete' | 'failed';
  /** The result for the model. */
  readonly text: string;
  /** Result of a search. */
  readonly sources?: readonly SearchSource[];
  /** Result of a program. */
  readonly outputs?: readonly CodeOutput[];
}

/** A tool instance for one response. */
export interface BuiltInTool {
  readonly type: BuiltInType;
  /**
   * The function offered to the model. Its argument is an object with one required string: `query` for
   * `web_search`, `code` for `code_interpreter`.
   */
  readonly tool: FunctionTool;
  /**
   * Runs one call. The calls of a response are sequential.
   * @param input the `query` or the `code`.
   * @throws the reason of the signal after an abort. Any other error is logged and counts as `failed`.
   */
  run(input: string, signal: AbortSignal): Promise<BuiltInResult>;
  /** Releases the tool at the end of the response. Idempotent. */
  close(): Promise<void>;
}

/** Search settings of a request. A `code_interpreter` has no settings. */
export interface SearchSettings {
  readonly contextSize?: 'low' | 'medium' | 'high' | undefined;
  /** Host names; absent: no restriction. */
  readonly allowedDomains?: readonly string[] | undefined;
  /** ISO 3166-1 code of the user's country. */
  readonly country?: string | undefined;
}

export interface BuiltInTools {
  /**
   * Creates a tool for one response. It uses no resources before its first run.
   * @param owner API key of the caller.
   * @throws ServiceError `invalid_request`, code `unsupported_value`, if the tool is not configured. The
   *   message explains how to configure it.
   */
  open(type: BuiltInType, settings: SearchSettings, owner: string): BuiltInTool;
}
