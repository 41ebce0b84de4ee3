import { usePlugin } from './plugin-states.tsx';
import { useSession } from './session.tsx';
import { type Loaded, useLoad } from './use-load.ts';

/** Maximum number of listed voices, the default limit per organization. */
const MAX_OFFERED = 100;

/** A voice of `GET /v1/audio/voices`. */
export interface ListedVoice {
  readonly id: string;
  /** Of a stored voice. Voices of a model are known by their ids: several have the same name. */
  readonly name: string;
  /** BCP 47. Only of voices of a model. */
  readonly language?: string;
  readonly gender?: string;
  /** The voice that is heard, of a name of OpenAI. */
  readonly preset?: string;
}

export interface Voices {
  /** Voices of the model. */
  readonly named: readonly ListedVoice[];
  /** Voices of the organization. */
  readonly stored: readonly ListedVoice[];
}

/** The voices of a model and the stored voices. `isOff`: the plugin of voices is off, and there are none. */
export function useVoices(model: string | undefined): Loaded<Voices> & { readonly isOff: boolean } {
  const { client } = useSession();
  const plugin = usePlugin('voices');
  const isOff = plugin !== undefined && plugin.state !== 'on';
  const loaded = useLoad<Voices>(
    async (signal) => {
      if (isOff) return { named: [], stored: [] };
      const voicesOf = async (query: Readonly<Record<string, string | number>>) =>
        (await client.list<ListedVoice>('v1/audio/voices', { signal, query })).data;
      const [stored, named] = await Promise.all([
        voicesOf({ limit: MAX_OFFERED }),
        model === undefined ? [] : voicesOf({ model }),
      ]);
      return { named, stored };
    },
    [client, isOff, model],
  );
  return { ...loaded, isOff };
}
