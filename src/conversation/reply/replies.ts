/** The replies of a conversation: at most one prepared reply, and those of the responses in progress. */

import type { Id } from '../../contract/core/id.ts';
import { TaskGroup } from '../../kit/async/task-group.ts';
import type { ReplyRequest } from '../state/reply-request.ts';
import { Reply, type ReplyDeps } from './reply.ts';

/** A reply that is prepared before the turn of the user has ended. */
interface PreparedReply {
  readonly id: symbol;
  /** The request as JSON. */
  readonly key: string;
  readonly reply: Reply;
}

export class Replies {
  readonly #deps: ReplyDeps;
  readonly #tasks = new TaskGroup<symbol>();
  /** Tasks of the running replies, by response. */
  readonly #byResponse = new Map<Id<'resp_'>, symbol>();
  #prepared: PreparedReply | undefined;

  constructor(deps: ReplyDeps) {
    this.#deps = deps;
  }

  /** Starts a reply that is probably needed soon. It replaces another prepared reply, unless the request is the same. */
  prepare(request: ReplyRequest): void {
    const key = JSON.stringify(request);
    if (this.#prepared?.key === key) return;
    this.discardPrepared();
    const id = Symbol('prepared reply');
    this.#prepared = { id, key, reply: this.#run(id, request) };
  }

  /** Stops the prepared reply. It is neither billed nor visible. */
  discardPrepared(): void {
    if (this.#prepared !== undefined) this.#tasks.stop(this.#prepared.id);
    this.#prepared = undefined;
  }

  /** Starts the reply of a response, or adopts the prepared one if its request is the same. */
  start(responseId: Id<'resp_'>, request: ReplyRequest): void {
    const prepared = this.#prepared;
    const isPrepared = prepared !== undefined && prepared.key === JSON.stringify(request);
    const id = isPrepared ? prepared.id : Symbol('reply');
    const reply = isPrepared ? prepared.reply : this.#run(id, request);
    if (isPrepared) this.#prepared = undefined;
    this.#byResponse.set(responseId, id);
    this.#tasks.start(Symbol('adoption'), () => reply.adopt(responseId));
  }

  /** Stops the reply of a response, which then reports nothing more. */
  stop(responseId: Id<'resp_'>): void {
    const id = this.#byResponse.get(responseId);
    this.#byResponse.delete(responseId);
    if (id !== undefined) this.#tasks.stop(id);
  }

  /** Stops all replies. Resolves when their engines are released and their usage rows are stored. */
  async close(): Promise<void> {
    this.discardPrepared();
    await this.#tasks.close();
  }

  #run(id: symbol, request: ReplyRequest): Reply {
    const started: Reply[] = [];
    this.#tasks.start(id, (signal) => {
      const reply = new Reply(request, this.#deps, signal);
      started.push(reply);
      return reply.run();
    });
    const [reply] = started;
    if (reply === undefined) throw new Error('The reply did not start.');
    return reply;
  }
}
