/**
 * The models of the shared inference processes: those that plugins need, without those whose files are not on disk yet, and those
 * that are loaded on demand. One change follows the other.
 */

import type { HubFiles, HubSettings } from '../../models/hub-reference.ts';
import type { InferencePool, StartablePool } from '../pool/inference-pool.ts';
import type { PoolSpec } from '../pool/model-loader.ts';
import type { SharedDownload, Weights } from './shared-download.ts';
import { hubWeights } from './weights.ts';

/** A model of the pool. */
export interface PooledModel {
  readonly name: string;
  /** Its files in the model hub. Undefined: it has none. */
  readonly hub: HubFiles | undefined;
  /** @throws Error for an unknown voice, unknown weights or a missing file. */
  spec(): PoolSpec;
}

export interface PooledModelsOptions {
  readonly pool: StartablePool<PoolSpec>;
  readonly modelsDir: string;
  readonly hub: HubSettings;
  readonly download: (weights: Weights) => SharedDownload;
}

export class PooledModels {
  readonly #options: PooledModelsOptions;
  #needed: readonly PooledModel[] = [];
  /** Models whose files are not on disk yet, by name. */
  readonly #absent = new Map<string, SharedDownload>();
  /** Models that no plugin needs by name. */
  readonly #onDemand = new Map<string, () => PoolSpec>();
  #changed: Promise<void> = Promise.resolve();

  constructor(options: PooledModelsOptions) {
    this.#options = options;
  }

  /** Does not close the pool. */
  get pool(): InferencePool {
    return this.#options.pool;
  }

  /** Fails early for an unknown voice or a missing file, and finds the models whose files are not on disk. */
  check(models: readonly PooledModel[]): void {
    const { modelsDir, hub, download } = this.#options;
    for (const { name, hub: files } of models) {
      if (files === undefined || this.#absent.has(name)) continue;
      const weights = hubWeights(files, modelsDir, hub);
      if (!weights.isOnDisk()) this.#absent.set(name, download(weights));
    }
    this.#specs(models);
  }

  /** Loads the models that are needed now, and unloads the others. */
  load(models: readonly PooledModel[]): Promise<void> {
    return this.#change(() => {
      this.#needed = models;
    });
  }

  /** The download of a model that is not on disk yet; undefined for a loaded one. */
  absent(name: string): SharedDownload | undefined {
    return this.#absent.get(name);
  }

  /** Loads a needed model whose files have been downloaded. */
  async loadAbsent(name: string): Promise<void> {
    const download = this.#absent.get(name);
    try {
      await this.#change(() => this.#absent.delete(name));
    } catch (error) {
      // The other models of the pool must not depend on it.
      if (download !== undefined) this.#absent.set(name, download);
      throw error;
    }
  }

  /** Loads a model that no plugin needs by name, until {@link forget}. */
  loadOnDemand(name: string, spec: () => PoolSpec): Promise<void> {
    return this.#change(() => this.#onDemand.set(name, spec));
  }

  /** The next change unloads a model that was loaded on demand. */
  forget(name: string): void {
    this.#changed = this.#changed.catch(() => undefined).then(() => void this.#onDemand.delete(name));
  }

  #change(change: () => void): Promise<void> {
    this.#changed = this.#changed
      .catch(() => undefined)
      .then(() => {
        change();
        return this.#options.pool.setModels(this.#specs(this.#needed));
      });
    return this.#changed;
  }

  #specs(models: readonly PooledModel[]): Readonly<Record<string, PoolSpec>> {
    const present = models.filter(({ name }) => !this.#absent.has(name));
    return Object.fromEntries([
      ...[...this.#onDemand].map(([name, spec]) => [name, spec()] as const),
      ...present.map(({ name, spec }) => [name, spec()] as const),
    ]);
  }
}
