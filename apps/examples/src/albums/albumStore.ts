import { EventEmitter, on } from 'node:events';

export interface Album {
  readonly id: number;
  readonly title: string;
  readonly year: number;
  readonly tags: string[];
  readonly createdAt: Date;
}

export interface Photo {
  readonly id: number;
  readonly name: string;
  readonly bytes: number;
}

/** A change of an album. */
export interface Change {
  readonly what: 'changed' | 'photo';
  readonly photo?: Photo;
}

/** Keeps albums in memory, because the example is about the router. */
export class AlbumStore {
  readonly #albums = new Map<number, Album>();
  readonly #photos = new Map<number, { readonly photo: Photo; readonly file: Blob }[]>();
  readonly #changes = new EventEmitter().setMaxListeners(0);
  #lastId = 0;

  list(): Album[] {
    return [...this.#albums.values()];
  }

  get(id: number): Album | undefined {
    return this.#albums.get(id);
  }

  add(fields: Omit<Album, 'id' | 'createdAt'>): Album {
    const album = { ...fields, id: (this.#lastId += 1), createdAt: new Date() };
    this.#albums.set(album.id, album);
    this.#photos.set(album.id, []);
    return album;
  }

  change(album: Album, fields: Partial<Omit<Album, 'id' | 'createdAt'>>): Album {
    const changed = { ...album, ...fields };
    this.#albums.set(album.id, changed);
    this.#emit(album, { what: 'changed' });
    return changed;
  }

  remove(album: Album): void {
    this.#albums.delete(album.id);
    this.#photos.delete(album.id);
  }

  photos(album: Album): Photo[] {
    return (this.#photos.get(album.id) ?? []).map(({ photo }) => photo);
  }

  file(album: Album, photoId: number): Blob | undefined {
    return this.#photos.get(album.id)?.[photoId - 1]?.file;
  }

  addPhoto(album: Album, name: string, file: Blob): Photo {
    const photos = this.#photos.get(album.id) ?? [];
    const photo = { id: photos.length + 1, name, bytes: file.size };
    photos.push({ photo, file });
    this.#emit(album, { what: 'photo', photo });
    return photo;
  }

  /** Yields the changes of an album from now on, until `signal` aborts. */
  async *changes(album: Album, signal: AbortSignal): AsyncGenerator<Change, void> {
    // `on` yields the arguments of each `emit`, and throws when the signal aborts.
    const changes = on(this.#changes, String(album.id), { signal }) as AsyncIterable<[Change]>;
    try {
      for await (const [change] of changes) yield change;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #emit(album: Album, change: Change): void {
    this.#changes.emit(String(album.id), change);
  }
}
