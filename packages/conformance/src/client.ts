import type { Animal } from '@petstore/core';
import {
  connect as connectHttp,
  type TestResponse,
  type Client as HttpClient,
  type SendOptions,
} from '@petstore/gateway-test';
import { expect } from 'vitest';
import type { Served } from './serve.ts';

export type { SendOptions };

export interface ReceivedResponse extends TestResponse {
  /** The body of a response with one animal, or a list: its shape was checked when it was received. */
  animal(): Animal;
  animals(): Animal[];
}

/** A client of the pet store. */
export interface Client extends HttpClient {
  send(method: string, target: string, sending?: SendOptions): Promise<ReceivedResponse>;
  get(target: string, sending?: SendOptions): Promise<ReceivedResponse>;
  /** `POST /v1/pets` */
  post(body: unknown, sending?: SendOptions): Promise<ReceivedResponse>;
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
    const response = await http.send(method, target, sending);
    return {
      ...response,
      animal: () => response.json() as Animal,
      animals: () => response.json() as Animal[],
    };
  };
  const client: Client = {
    ...http,
    send,
    get: (target, sending) => send('GET', target, sending),
    post: (body, sending) => send('POST', '/v1/pets', { ...sending, body }),
    async create(pet) {
      const received = await client.post({ name: 'Rex', categoryId: 1, ...pet });
      expect(received).toHaveStatus(201);
      return received.animal();
    },
    async list(query = '') {
      const response = await client.get(`/v1/pets${query}`);
      expect(response).toHaveStatus(200);
      return response.animals();
    },
  };
  return client;
}
