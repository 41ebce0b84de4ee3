/** Models of other servers, one family per task. They need no files. */

import { defineFamily } from '../family.ts';
import {
  parseChat,
  parseEmbeddings,
  parseServer,
  parseSpeech,
  parseVideo,
  UpstreamChatTable,
  UpstreamEmbeddingsTable,
  UpstreamSpeechTable,
  UpstreamTranscriptionTable,
  UpstreamVideoTable,
} from './settings.ts';

const kind = 'upstream';
const files = () => ({ catalog: [] });

const transcription = defineFamily({
  kind,
  files,
  task: 'transcription',
  schema: UpstreamTranscriptionTable,
  parse: parseServer,
  open: async (models, host) => (await import('./open.ts')).openTranscription(models, host),
  // It has no rules of its own.
  follow: async (followed) => followed,
});

const speech = defineFamily({
  kind,
  files,
  task: 'speech',
  schema: UpstreamSpeechTable,
  parse: parseSpeech,
  // `voices` is about stored voices, and not about the names of OpenAI's voices.
  ownKeys: ['compatibility'],
  open: async (models, host) => (await import('./open.ts')).openSpeech(models, host),
  async follow(followed, { compatibility }) {
    const { followingTtsEngine } = await import('./speech/following-engine.ts');
    return followingTtsEngine(followed, compatibility);
  },
});

const chat = defineFamily({
  kind,
  files,
  task: 'chat',
  schema: UpstreamChatTable,
  parse: parseChat,
  open: async (models, host) => (await import('./open.ts')).openChat(models, host),
});

const embeddings = defineFamily({
  kind,
  files,
  task: 'embeddings',
  schema: UpstreamEmbeddingsTable,
  parse: parseEmbeddings,
  open: async (models, host) => (await import('./open.ts')).openEmbeddings(models, host),
});

const video = defineFamily({
  kind,
  files,
  task: 'video',
  schema: UpstreamVideoTable,
  parse: parseVideo,
  open: async (models, host) => (await import('./open.ts')).openVideo(models, host),
});

/** The first one has the keys that all have. */
export const upstream = [transcription, speech, chat, embeddings, video] as const;
