/** Applies actions to a response (openai-wire 6.10). Pure. */

import type { Id } from '../../../../src/contract/core/id.ts';
import type { TextEvent } from '../../../../src/contract/engines/text.ts';
import type { BuiltInResult } from '../items/built-in-tools.ts';
import {
  type CallItem,
  type CodeItem,
  type ForModel,
  type OutputItem,
  type OutputMessage,
  type OutputPart,
  type ReasoningItem,
  type SearchItem,
  shownItem,
} from '../items/output-items.ts';
import { partId } from '../items/part-id.ts';
import { type ResponseProgress, responseObject, shownResponse } from '../items/response-object.ts';
import { findCitations } from './citations.ts';
import type { OpenItem, ResponseAction, ResponseEvent, ResponseState, Step, TextPart } from './state.ts';

type ItemAction = Exclude<TextEvent, { kind: 'end' }> | Extract<ResponseAction, { kind: 'tool_named' }>;
type FinalAction = Extract<ResponseAction, { kind: 'finished' | 'failed' | 'disconnected' }>;
type Finish = 'completed' | 'incomplete';

/** A transition: accumulates the events and the next state. */
export class ResponseReducer implements Step {
  readonly events: ResponseEvent[] = [];
  #state: ResponseState;

  constructor(state: ResponseState) {
    this.#state = state;
  }

  get state(): ResponseState {
    return this.#state;
  }

  send(type: string, payload: object): void {
    this.events.push({ type, sequence_number: this.#state.sequence, ...payload });
    this.#set({ sequence: this.#state.sequence + 1 });
  }

  apply(action: ItemAction): void {
    if ('text' in action && action.text === '' && action.kind !== 'tool_arguments') return;
    switch (action.kind) {
      case 'text':
        this.#addText('output_text', action.text);
        break;
      case 'refusal':
        this.#addText('refusal', action.text);
        break;
      case 'reasoning':
        this.#addReasoning(action.text);
        break;
      case 'tool_call':
        this.#startCall(action.index, action.name);
        break;
      case 'tool_arguments':
        this.#addArguments(action);
        break;
      case 'tool_named':
        this.#startTool(action);
        break;
    }
  }

  runTool(input: string): void {
    const { open } = this.#state;
    if (open.kind !== 'tool') return;
    const location = this.#location(open.item.id);
    if (open.item.type === 'web_search_call') {
      const action = { type: 'search', query: input, queries: [input] } as const;
      this.#open({ kind: 'running', item: { ...open.item, status: 'searching', action } });
      this.send('response.web_search_call.searching', location);
      return;
    }
    this.#open({ kind: 'running', item: { ...open.item, status: 'interpreting', code: input } });
    this.send('response.code_interpreter_call_code.delta', { ...location, delta: input });
    this.send('response.code_interpreter_call_code.done', { ...location, code: input });
    this.send('response.code_interpreter_call.interpreting', location);
  }

  endTool({ status, sources = [], outputs = [] }: BuiltInResult, forModel: ForModel): void {
    const { open } = this.#state;
    if (open.kind !== 'tool' && open.kind !== 'running') return;
    const { item } = open;
    if (status === 'completed') this.send(`response.${item.type}.completed`, this.#location(item.id));
    if (item.type === 'code_interpreter_call') {
      this.#finish({ ...item, status, outputs, for_model: forModel });
      return;
    }
    const found = sources.map(({ url }) => ({ type: 'url' as const, url }));
    this.#set({ sources: [...this.#state.sources, ...sources] });
    this.#finish({
      ...item,
      status: status === 'completed' ? 'completed' : 'failed',
      action: { ...item.action, sources: found },
      for_model: forModel,
    });
  }

  end(finalAction: FinalAction): void {
    const hasOutput = this.#state.output.length > 0 || this.#state.open.kind !== 'none';
    // Clients read the text of the first item unconditionally.
    if (finalAction.kind === 'finished' && !hasOutput) this.#addText('output_text', '');
    this.#close(
      finalAction.kind === 'finished' && finalAction.reason === 'stop' ? 'completed' : 'incomplete',
    );
    const { head, output, include } = this.#state;
    const response = responseObject(head, output, progressFor(finalAction));
    this.#set({ response });
    this.send(`response.${response.status}`, { response: shownResponse(response, include) });
  }

  #addText(type: TextPart['type'], text: string): void {
    const { open } = this.#state;
    if (open.kind !== 'message' || open.part.type !== type) this.#openPart(type);
    const { open: messageItem } = this.#state;
    if (messageItem.kind !== 'message' || text === '') return;
    this.#open({ ...messageItem, part: { type, text: messageItem.part.text + text } });
    const location = this.#partLocation('msg_', messageItem.parts.length);
    if (type === 'refusal') this.send('response.refusal.delta', { ...location, delta: text });
    else this.send('response.output_text.delta', { ...location, delta: text, logprobs: [] });
  }

  #openPart(type: TextPart['type']): void {
    const { open } = this.#state;
    let parts: readonly OutputPart[] = [];
    if (open.kind === 'message') parts = this.#closePart();
    else {
      this.#close('completed');
      this.#add(this.#messageItem('in_progress', []));
    }
    this.#open({ kind: 'message', parts, part: { type, text: '' } });
    const part = partOf({ type, text: '' }, []);
    this.send('response.content_part.added', { ...this.#partLocation('msg_', parts.length), part });
  }

  /** Finishes the open part of the open message and returns all its parts. */
  #closePart(): readonly OutputPart[] {
    const { open, sources } = this.#state;
    if (open.kind !== 'message') return [];
    const location = this.#partLocation('msg_', open.parts.length);
    const { type, text } = open.part;
    const annotations = type === 'refusal' ? [] : findCitations(text, sources);
    for (const [annotation_index, annotation] of annotations.entries()) {
      this.send('response.output_text.annotation.added', { ...location, annotation_index, annotation });
    }
    if (type === 'refusal') this.send('response.refusal.done', { ...location, refusal: text });
    else this.send('response.output_text.done', { ...location, text, logprobs: [] });
    const part = partOf(open.part, annotations);
    this.send('response.content_part.done', { ...location, part });
    return [...open.parts, part];
  }

  #addReasoning(text: string): void {
    if (this.#state.open.kind !== 'reasoning') {
      this.#close('completed');
      this.#add(this.#reasoningItem('in_progress', []));
      this.#open({ kind: 'reasoning', text: '' });
      const part = { type: 'reasoning_text', text: '' };
      this.send('response.content_part.added', { ...this.#partLocation('rs_', 0), part });
    }
    const { open } = this.#state;
    if (open.kind !== 'reasoning') return;
    this.#open({ kind: 'reasoning', text: open.text + text });
    this.send('response.reasoning_text.delta', { ...this.#partLocation('rs_', 0), delta: text });
  }

  #startCall(index: number, name: string): void {
    this.#close('completed');
    const item: CallItem = {
      id: this.#id('fc_'),
      type: 'function_call',
      // Engines may reuse call ids in each generation, so a new id is assigned.
      call_id: this.#id('call_'),
      name,
      arguments: '',
      status: 'in_progress',
    };
    this.#add(item);
    this.#open({ kind: 'call', index, item });
  }

  #addArguments(action: Extract<TextEvent, { kind: 'tool_arguments' }>): void {
    const { open } = this.#state;
    if (open.kind !== 'call' || open.index !== action.index) throw invalidAction(action);
    if (action.text === '') return;
    this.#open({ ...open, item: { ...open.item, arguments: open.item.arguments + action.text } });
    this.send('response.function_call_arguments.delta', {
      ...this.#location(open.item.id),
      delta: action.text,
    });
  }

  #startTool({ type, container }: Extract<ResponseAction, { kind: 'tool_named' }>): void {
    this.#close('completed');
    const item = type === 'web_search' ? this.#searchItem() : this.#codeItem(container);
    this.#add(item);
    this.#open({ kind: 'tool', item });
    this.send(`response.${item.type}.in_progress`, this.#location(item.id));
  }

  /** Finishes the open item, if there is one. */
  #close(finish: Finish): void {
    const { open } = this.#state;
    switch (open.kind) {
      case 'none':
        break;
      case 'message':
        this.#finish(this.#messageItem(finish, this.#closePart()));
        break;
      case 'reasoning': {
        const location = this.#partLocation('rs_', 0);
        const part = { type: 'reasoning_text', text: open.text } as const;
        this.send('response.reasoning_text.done', { ...location, text: open.text });
        this.send('response.content_part.done', { ...location, part });
        this.#finish(this.#reasoningItem(finish, [part]));
        break;
      }
      case 'call': {
        const { id, name, arguments: written } = open.item;
        const done = { ...this.#location(id), name, arguments: written };
        this.send('response.function_call_arguments.done', done);
        this.#finish({ ...open.item, status: finish });
        break;
      }
      case 'tool':
      case 'running':
        // Interrupted: a tool that finished was closed by its result.
        if (open.item.type === 'web_search_call') this.#finish({ ...open.item, status: 'failed' });
        else this.#finish({ ...open.item, status: 'incomplete' });
        break;
    }
  }

  #add(item: OutputItem): void {
    const { output, include } = this.#state;
    this.send('response.output_item.added', { output_index: output.length, item: shownItem(item, include) });
  }

  #finish(item: OutputItem): void {
    const { output, include } = this.#state;
    this.send('response.output_item.done', { output_index: output.length, item: shownItem(item, include) });
    this.#set({ output: [...output, item], open: { kind: 'none' } });
  }

  #open(open: OpenItem): void {
    this.#set({ open });
  }

  #set(changes: Partial<ResponseState>): void {
    this.#state = { ...this.#state, ...changes };
  }

  /** Id of the open item, which follows the finished items. */
  #id<Prefix extends string>(prefix: Prefix): Id<Prefix> {
    return partId(prefix, this.#state.head.id, String(this.#state.output.length));
  }

  #location(item_id: string) {
    return { item_id, output_index: this.#state.output.length };
  }

  #partLocation(prefix: 'msg_' | 'rs_', content_index: number) {
    return { ...this.#location(this.#id(prefix)), content_index };
  }

  #messageItem(status: OutputMessage['status'], content: readonly OutputPart[]): OutputMessage {
    return { id: this.#id('msg_'), type: 'message', role: 'assistant', status, content };
  }

  #reasoningItem(status: ReasoningItem['status'], content: ReasoningItem['content']): ReasoningItem {
    return { id: this.#id('rs_'), type: 'reasoning', summary: [], content, status };
  }

  #searchItem(): SearchItem {
    const action = { type: 'search', query: '', queries: [] } as const;
    return { id: this.#id('ws_'), type: 'web_search_call', status: 'in_progress', action };
  }

  #codeItem(container_id: Id<'cntr_'>): CodeItem {
    return {
      id: this.#id('ci_'),
      type: 'code_interpreter_call',
      status: 'in_progress',
      code: '',
      container_id,
      outputs: null,
    };
  }
}

function partOf({ type, text }: TextPart, annotations: ReturnType<typeof findCitations>): OutputPart {
  return type === 'refusal' ? { type, refusal: text } : { type, text, annotations, logprobs: [] };
}

function progressFor(finalAction: FinalAction): ResponseProgress {
  switch (finalAction.kind) {
    case 'failed':
      return { status: 'failed', error: finalAction.error };
    case 'disconnected':
      return { status: 'incomplete', reason: undefined, tokens: undefined };
    case 'finished': {
      const { reason, tokens, at } = finalAction;
      if (reason === 'stop') return { status: 'completed', endedAt: at, tokens };
      return {
        status: 'incomplete',
        reason: reason === 'length' ? 'max_output_tokens' : 'content_filter',
        tokens,
      };
    }
  }
}

/** Creates the error for an action that is not valid in the current state. */
export function invalidAction({ kind }: ResponseAction): Error {
  return new Error(`'${kind}' is not valid in the state of the response`);
}
