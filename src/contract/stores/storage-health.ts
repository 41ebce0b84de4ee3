/** Places where the service stores data; `data_dir` is the folder DATA_DIR, which has the files of running requests. */
export const STORAGE_PLACES = ['database', 'blobs', 'data_dir'] as const;
export type StoragePlace = (typeof STORAGE_PLACES)[number];

/** Tells which stores have no space left. */
export interface StorageHealth {
  /** Whether the store is full, as far as this process knows. Cheap. */
  isFull(place: StoragePlace): boolean;
}
