import type { Animal, NewPet } from '@petstore/core';
import {
  connect as connectHttp,
  type TestResponse,
  type Client as HttpClient,
  type SendOptions,
} from 'trpc-gateway-test';
import { expect } from 'vitest';

export type { SendOptions };

/** A running pet store and a valid API key for it. */
export interface Served {
  /** Scheme, host and port, without a trailing slash. */
  readonly origin: string;
  /** An API key that is valid until `close`. */
  readonly apiKey: string;
  /** Stops the server; requests afterwards fail to connect. */
  close(): Promise<void>;
}

/** Starts an empty pet store on a free port. `close` removes its data. */
export type Serve = () => Promise<Served>;

/** A response of the pet store. */
export interface ReceivedResponse extends TestResponse {
  /** The body as one animal; the client has checked its shape against the document. */
  animal(): Animal;
  /** The body as a list of animals; the client has checked its shape against the document. */
  animals(): Animal[];
}

/** A client of the pet store, with a valid key by default. */
export interface Client extends HttpClient {
  send(method: string, target: string, sending?: SendOptions): Promise<ReceivedResponse>;
  get(target: string, sending?: SendOptions): Promise<ReceivedResponse>;
  /** Sends `POST /v1/pets`. */
  post(body: unknown, sending?: SendOptions): Promise<ReceivedResponse>;
  /** Creates an animal by `POST /v1/pets` and asserts 201; the default is the name Rex and the category 1. */
  create(pet: { readonly [Field in keyof NewPet]?: unknown }): Promise<Animal>;
  /** Returns the animals of `GET /v1/pets` with this query, such as `?limit=1`, and asserts 200. */
  list(query?: string): Promise<Animal[]>;
}

/** Connects to a running pet store and reads its OpenAPI document. */
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
