import type { ConversationModelSettings, ModelSettings } from '../core/settings.ts';
import type { ReadyReport } from './engine.ts';

/** A conversation model of CONFIG. Its parts are models of other tasks. */
export interface ConversationModel extends Omit<ConversationModelSettings, keyof ModelSettings> {
  readonly id: string;
  ready(): ReadyReport;
}
