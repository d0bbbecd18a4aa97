import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryPath } from '@petstore/gateway/node';

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

  /** @returns the bytes of a photo, or `undefined` if the animal has none */
  async read(animalId: number) {
    try {
      const file = await open(this.#pathOf(animalId));
      return file.createReadStream();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  remove(animalId: number): Promise<void> {
    return rm(this.#pathOf(animalId), { force: true });
  }

  #pathOf(animalId: number): string {
    return join(this.#folder, `${animalId}.jpg`);
  }
}
