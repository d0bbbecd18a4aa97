import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { apiKey } from './newFolder.ts';

export interface PetCallOptions extends Pick<RequestInit, 'signal'> {
  /** The API key. Default: `apiKey`. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const rex = { name: 'Rex', categoryId: 1 };

/** Lists a page of animals over REST. @param query default: the first page */
export const listPets = (
  origin: string,
  { key = apiKey, headers, query = '', ...init }: PetCallOptions & { readonly query?: string } = {},
) => fetch(`${origin}/v1/pets${query}`, { ...init, headers: { authorization: `Bearer ${key}`, ...headers } });

export const createPet = (
  origin: string,
  animal: object = rex,
  { key = apiKey, headers, ...init }: PetCallOptions = {},
) =>
  fetch(`${origin}/v1/pets`, {
    ...init,
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(animal),
  });

/** Opens a WebSocket that authenticates with its first message. It closes when the test ends. */
export async function openSocket(origin: string, key = apiKey): Promise<WebSocket> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/trpc?connectionParams=1`);
  onTestFinished(() => socket.close());
  await once(socket, 'open');
  socket.send(JSON.stringify({ method: 'connectionParams', data: { authorization: `Bearer ${key}` } }));
  return socket;
}
