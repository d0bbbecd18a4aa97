import { appendFileSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Effect, Outside } from '../service/service.ts';

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
