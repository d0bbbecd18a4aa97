import { appendFileSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCollection, type Store } from '@petstore/core/store';
import { openMongodbStore } from '@petstore/core/store/mongodb';
import { openEmbeddedStore, verifiedTables, verifyFolder } from '@petstore/embedded-store';
import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import type { Effect, Outside } from '../service/service.ts';
import type { ProcessOptions } from './storage.ts';

const schema = z.object({ id: z.int(), text: z.string() });
const effects = defineCollection({ name: 'effects', schema, id: 'sequence', indexes: ['text'] });
const collections = [effects];

/** A folder that survives the processes of a service: a line for each effect, and for each token that is revoked. */
export class FolderOutside implements Outside {
  readonly #effects: string;
  readonly #revoked: string;

  constructor(folder: string) {
    this.#effects = join(folder, 'effects');
    this.#revoked = join(folder, 'revoked');
  }

  /** One `write(2)`: a process that is killed has written the line, or nothing. */
  async add(effect: Effect, _isOnce: boolean): Promise<string> {
    appendFileSync(this.#effects, `${JSON.stringify(effect)}\n`);
    return effect.run;
  }

  async all(): Promise<readonly Effect[]> {
    const lines = await readFile(this.#effects, 'utf8').catch(() => '');
    return lines
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Effect);
  }

  async find(text: string): Promise<readonly Effect[]> {
    return (await this.all()).filter((effect) => effect.text === text);
  }

  isRevoked(token: string): boolean {
    try {
      return readFileSync(this.#revoked, 'utf8').split('\n').includes(token);
    } catch {
      return false;
    }
  }

  revoke(token: string): void {
    appendFileSync(this.#revoked, `${token}\n`);
  }
}

/** Effects that are the records of a store. */
class StoreOutside extends FolderOutside {
  readonly #store: Store;

  constructor(folder: string, store: Store) {
    super(folder);
    this.#store = store;
  }

  override async add({ text }: Effect, isOnce: boolean): Promise<string> {
    const records = this.#store.collection(effects);
    try {
      if (!isOnce) return String((await records.create({ text })).id);
      // As by a client that repeats its create before it has the response.
      const repeats = [1, 2].map(() => records.createOnce({ text }, { caller: 'orders', key: text }));
      const ids = new Set((await Promise.all(repeats)).map(({ record }) => String(record.id)));
      return Array.from(ids).join(' and ');
    } catch (cause) {
      throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', cause });
    }
  }

  override async all(text?: string): Promise<readonly Effect[]> {
    const all: Effect[] = [];
    for (let cursor = 0, hasNext = true; hasNext;) {
      const page = await this.#store.collection(effects).list({ limit: 100, cursor, where: { text } });
      all.push(...page.records.map((record) => ({ text: record.text, run: String(record.id) })));
      hasNext = page.hasNext;
      cursor = page.records.at(-1)?.id ?? 0;
    }
    return all;
  }

  override async find(text: string): Promise<readonly Effect[]> {
    try {
      return await this.all(text);
    } catch (cause) {
      throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', cause });
    }
  }
}

type Place = Pick<ProcessOptions, 'folder' | 'location' | 'outside'>;

const storeFolder = (folder: string): string => join(folder, 'store');

/** Opens what survives the processes: with a store, its records. @param onFatal called if the store can no longer be used */
export async function openOutside({ folder, location, outside }: Place, onFatal?: (error: Error) => void) {
  let store: Store | undefined;
  if (location.kind === 'embedded')
    store = await openEmbeddedStore({ dataDir: storeFolder(folder), collections, onFatal });
  if (location.kind === 'database') store = await openMongodbStore({ ...location, collections });
  return {
    outside: store === undefined ? new FolderOutside(outside) : new StoreOutside(outside, store),
    close: async (timeoutMs?: number) => store?.close(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/** Returns a sentence for each damage of the embedded store, whose processes have ended. */
export async function damageOf({ folder, location }: Place): Promise<readonly string[]> {
  const damage: string[] = [];
  if (location.kind === 'embedded')
    await verifyFolder({
      dataDir: storeFolder(folder),
      tables: verifiedTables(collections),
      collections,
      onTable: ({ errors, table }) => damage.push(...errors.map((error) => `The table ${table}: ${error}.`)),
    });
  return damage;
}
