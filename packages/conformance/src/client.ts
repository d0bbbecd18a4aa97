import type { Animal } from '@petstore/core';
import {
  connect as connectHttp,
  type Answer as HttpAnswer,
  type Client as HttpClient,
  type Sending,
} from '@petstore/gateway-test';
import { expect } from 'vitest';
import type { Served } from './serve.ts';

export type { Sending };

export interface Answer extends HttpAnswer {
  /** The body of a response with one animal, or a list: its shape was checked when it was received. */
  animal(): Animal;
  animals(): Animal[];
}

/** A client of the pet store. */
export interface Client extends HttpClient {
  send(method: string, target: string, sending?: Sending): Promise<Answer>;
  get(target: string, sending?: Sending): Promise<Answer>;
  /** `POST /v1/pets` */
  post(body: unknown, sending?: Sending): Promise<Answer>;
  /** `POST /v1/pets`, which must succeed. */
  create(pet: {
    readonly name?: string;
    readonly categoryId?: number;
    readonly status?: string;
  }): Promise<Animal>;
  /** The animals of `GET /v1/pets` with this query, which must succeed. */
  list(query?: string): Promise<Animal[]>;
}

export async function connect(served: Pick<Served, 'origin' | 'apiKey'>): Promise<Client> {
  const http = await connectHttp(served);
  const send: Client['send'] = async (method, target, sending) => {
    const answer = await http.send(method, target, sending);
    return {
      ...answer,
      animal: () => answer.json() as Animal,
      animals: () => answer.json() as Animal[],
    };
  };
  const client: Client = {
    ...http,
    send,
    get: (target, sending) => send('GET', target, sending),
    post: (body, sending) => send('POST', '/v1/pets', { ...sending, body }),
    async create(pet) {
      const answer = await client.post({ name: 'Rex', categoryId: 1, ...pet });
      expect(answer).toHaveStatus(201);
      return answer.animal();
    },
    async list(query = '') {
      const answer = await client.get(`/v1/pets${query}`);
      expect(answer).toHaveStatus(200);
      return answer.animals();
    },
  };
  return client;
}
