import { existsSync, openAsBlob } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryPath } from 'trpc-gateway/node';

/** The photos of animals: one JPEG file for each. */
export class PhotoFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Moves an uploaded file here, in the place of an earlier photo. */
  async put(animalId: number, file: File): Promise<void> {
    const uploaded = temporaryPath(file);
    if (uploaded === undefined) throw new TypeError('The gateway needs spool: temporaryFiles(…).');
    await rename(uploaded, this.#pathOf(animalId));
  }

  /** @returns a photo, or `undefined` if the animal has none. Reading it fails if it is replaced meanwhile. */
  async get(animalId: number): Promise<{ readonly photo: Blob; readonly changedAt: Date } | undefined> {
    const path = this.#pathOf(animalId);
    if (!existsSync(path)) return undefined;
    const { mtime: changedAt } = await stat(path);
    return { photo: await openAsBlob(path, { type: 'image/jpeg' }), changedAt };
  }

  remove(animalId: number): Promise<void> {
    return rm(this.#pathOf(animalId), { force: true });
  }

  #pathOf(animalId: number): string {
    return join(this.#folder, `${animalId}.jpg`);
  }
}
