/** Chat template of a model: a Jinja template that renders a conversation as the text that the model was trained on. */

import { escapeControlTokens, findControlTokens } from '../shared/control-tokens.ts';
import type { ChatTemplateMessage, Conversation } from '../shared/conversation.ts';
import { learnToolCallSyntax, type ToolCallSyntax } from '../shared/tool-call-syntax.ts';
import type { NativeTemplate } from './native.ts';

/** The example of a call in the templates of Qwen2.5 Coder, in a string of Jinja. */
const DOUBLED_BRACES = '{{\\"name\\": <function-name>, \\"arguments\\": <args-json-object>}}';

/**
 * Corrects a published template. Those of Qwen2.5 Coder show the model a call in doubled braces, which it then writes, although it was
 * trained on calls in single ones, as in the templates of Qwen2.5.
 */
export function correctedTemplate(template: string): string {
  return template.replaceAll(DOUBLED_BRACES, DOUBLED_BRACES.slice(1, -1));
}

export interface ChatTemplateOptions {
  readonly template: NativeTemplate;
  readonly beginToken: string;
  readonly endToken: string;
  /** Number of tokens of a text, in which the text of a control token is one token. */
  readonly countTokens: (text: string) => number;
}

export class ChatTemplate {
  /** Undefined if the template does not support tools. */
  readonly toolCallSyntax: ToolCallSyntax | undefined;
  readonly #options: ChatTemplateOptions;
  readonly #controlWords: readonly string[];
  /** Most templates expect the arguments of a call as an object, some as JSON text. */
  readonly #argumentsAsText: boolean;

  constructor(options: ChatTemplateOptions) {
    this.#options = options;
    const syntaxWith = (argumentsAsText: boolean) =>
      learnToolCallSyntax((messages, tools) =>
        this.#renderPlain({ messages, tools }, false, argumentsAsText),
      );
    const syntax = syntaxWith(false);
    this.toolCallSyntax = syntax ?? syntaxWith(true);
    this.#argumentsAsText = syntax === undefined && this.toolCallSyntax !== undefined;
    this.#controlWords = findControlTokens(this.#example(), options.countTokens);
  }

  /**
   * Renders a conversation up to the start of the response. Control tokens in its text are escaped.
   * @returns undefined if the template does not support the conversation.
   */
  render(conversation: Conversation): string | undefined {
    const text = JSON.stringify(conversation);
    const escaped = escapeControlTokens(text, this.#controlWords);
    // Usually there are none.
    const plain: Conversation = escaped === text ? conversation : JSON.parse(escaped);
    try {
      return this.#renderPlain(plain, true, this.#argumentsAsText);
    } catch {
      return undefined;
    }
  }

  /** @throws Error if the template does not support the conversation. */
  #renderPlain({ messages, tools }: Conversation, opensResponse: boolean, argumentsAsText: boolean): string {
    const { template, beginToken, endToken } = this.#options;
    return template.render({
      messages: argumentsAsText ? messages : messages.map(withObjectArguments),
      // Templates test whether there are tools in different ways, so an empty list is omitted.
      ...(tools.length > 0 && { tools }),
      add_generation_prompt: opensResponse,
      enable_thinking: false,
      bos_token: beginToken,
      eos_token: endToken,
    });
  }

  #example(): string {
    try {
      return this.#renderPlain({ messages: [{ role: 'user', content: 'probe' }], tools: [] }, true, false);
    } catch {
      return '';
    }
  }
}

function withObjectArguments(message: ChatTemplateMessage): object {
  if (message.tool_calls === undefined) return message;
  return {
    ...message,
    tool_calls: message.tool_calls.map((call) => ({
      ...call,
      function: { ...call.function, arguments: JSON.parse(call.function.arguments) },
    })),
  };
}
